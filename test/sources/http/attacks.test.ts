import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, onTestFinished, test } from "vitest";
import { signedOrigins } from "#sources/http/origins.ts";
import { BEARER, connectTo, failing, inTurn, makePool, say, SECRET, serve } from "./fixture.ts";

const NOT_OURS = failing("address_not_allowed");

describe("a credential never goes to another origin", () => {
  test("by a next link: the listing ends, and nothing was sent there", async () => {
    const thief = await serve(say(200, "thanks"));
    const server = await serve(say(200, "page"));
    const { open } = makePool([server, thief]);
    const { http } = open({ servers: [server] });
    const list = async () => {
      for await (const page of http.pages({ url: `${server.origin}/1`, auth: true }, () => `${thief.origin}/2`))
        page.text();
    };
    await expect(list()).rejects.toMatchObject(NOT_OURS);
    expect(thief.requests).toEqual([]);
  });

  test("by a download URL or a ref: with auth nothing is sent, without it no credential", async () => {
    const thief = await serve(say(200, "file"));
    const server = await serve(say(200));
    const { open } = makePool([server, thief]);
    const { http } = open({ servers: [server] });
    await expect(http.request({ url: `${thief.origin}/file`, auth: true })).rejects.toMatchObject(NOT_OURS);
    await expect(http.stream({ url: `${thief.origin}/file`, auth: { as: "ada" } })).rejects.toMatchObject(NOT_OURS);
    expect(thief.requests).toEqual([]);
    expect((await http.request({ url: `${thief.origin}/file` })).text()).toBe("file");
    expect(JSON.stringify(thief.requests)).not.toContain(SECRET);
  });

  test.each([
    ["another port", (thief: string) => thief],
    ["another name of the same machine", (_thief: string, server: { otherName: string }) => server.otherName],
    [
      "a name that begins like ours",
      (_thief: string, { port }: { port: number }) => `http://127.0.0.1.evil.test:${port}`,
    ],
    ["our name as a user", (thief: string, { port }: { port: number }) => thief.replace("//", `//127.0.0.1:${port}@`)],
    ["our host with TLS", (_thief: string, { port }: { port: number }) => `https://127.0.0.1:${port}`],
  ])("%s is another origin", async (_what, toUrl) => {
    const thief = await serve(say(200));
    const server = await serve(say(200));
    const { open } = makePool([server, thief], { names: { "127.0.0.1.evil.test": ["127.0.0.1"] } });
    const { http } = open({ servers: [server] });
    await expect(http.request({ url: `${toUrl(thief.origin, server)}/x`, auth: true })).rejects.toMatchObject(NOT_OURS);
    expect([...thief.authorizations(), ...server.authorizations()]).toEqual([]);
  });

  test("by a redirect: refused unless asked, and then neither credential nor any header that could be one goes along", async () => {
    const thief = await serve(say(200, "file"));
    const server = await serve(say(302, "", { location: `${thief.origin}/file` }));
    const { open } = makePool([server, thief]);
    const { http } = open({ servers: [server] });
    const url = `${server.origin}/file`;
    await expect(http.request({ url, auth: true })).rejects.toMatchObject(failing("source_unavailable"));
    expect(thief.requests).toEqual([]);
    const names = [
      "authorization",
      "cookie",
      "x-api-key",
      "proxy-authorization",
      "private-token",
      "x-amz-security-token",
    ];
    const headers = { ...Object.fromEntries(names.map((name) => [name, SECRET])), accept: "text/html" };
    expect((await http.request({ url, auth: true, headers, redirect: "follow" })).text()).toBe("file");
    expect((await http.request({ url, headers, redirect: "follow" })).text()).toBe("file");
    expect(thief.requests.map(({ headers: got }) => got.accept)).toEqual(["text/html", "text/html"]);
    expect(JSON.stringify(thief.requests)).not.toContain(SECRET);
    await expect(
      http.request({ method: "PUT", url, body: SECRET, redirect: "follow", auth: true }),
    ).resolves.toMatchObject({ url: `${thief.origin}/file` });
    expect(JSON.stringify(thief.requests)).not.toContain(SECRET);
  });

  test("by a redirect that keeps the body, or that comes back", async () => {
    const thief = await serve((got, response) => {
      response.writeHead(307, { location: `${server.origin}${got.path}` }).end();
    });
    const server = await serve(say(307, "", { location: `${thief.origin}/x` }));
    const { open } = makePool([server, thief]);
    const { http } = open({ servers: [server] });
    const put = { method: "PUT", url: `${server.origin}/x`, body: SECRET, redirect: "follow", auth: true } as const;
    await expect(http.request(put)).rejects.toMatchObject(failing("source_unavailable"));
    expect(thief.requests).toEqual([]);
    const get = { url: `${server.origin}/x`, redirect: "follow", auth: true } as const;
    await expect(http.request(get)).rejects.toMatchObject(failing("source_unavailable"));
    expect(thief.authorizations().filter(Boolean)).toEqual([]);
    expect(server.requests.length + thief.requests.length).toBeLessThan(10);
  });

  test("what an answer names leads to no host that the operator listed for something else", async () => {
    const inner = await serve(say(200, "secret"));
    const server = await serve((got, response) => {
      const location = got.path === "/here" ? "/there" : `${inner.origin}/do?it=1`;
      if (got.path === "/there") response.writeHead(200).end("there");
      else response.writeHead(302, { location }).end();
    });
    const listed = [server, inner].map(({ port }) => `127.0.0.1:${port}`);
    const { http } = makePool([server, inner], { listed }).open({ servers: [server] });
    const get = async (url: string) => (await http.request({ url, redirect: "follow" })).text();
    expect(await get(`${server.origin}/here`)).toBe("there");
    for (const url of [`${server.origin}/away`, `${inner.origin}/do?it=1`]) {
      await expect(get(url), url).rejects.toMatchObject(failing("address_not_allowed"));
    }
    const pages = http.pages({ url: `${server.origin}/there` }, () => `${inner.origin}/next?page=2`);
    await expect(pages.next()).resolves.toMatchObject({ done: false });
    await expect(pages.next()).rejects.toMatchObject(failing("address_not_allowed"));
    expect(inner.requests).toEqual([]);
  });

  test("a redirect of one origin is followed and signed again", async () => {
    const { http, server } = await connectTo(inTurn(say(301, "", { location: "/new?a=1" }), say(200, "here")));
    const answer = await http.request({ url: `${server.origin}/old`, auth: true });
    expect([answer.text(), answer.url]).toEqual(["here", `${server.origin}/new?a=1`]);
    expect(server.authorizations()).toEqual([`Bearer ${SECRET}`, `Bearer ${SECRET}`]);
    const none = await connectTo(say(302, "", { location: "/x" }));
    const kept = await none.http.request({ url: `${none.server.origin}/old`, redirect: "none", allow: [302] });
    expect([kept.status, kept.headers.get("location")]).toEqual([302, "/x"]);
  });

  test("an origin that the source names is signed for, one that its config spells oddly is not", async () => {
    const files = await serve(say(200, "file"));
    const server = await serve(say(302, "", { location: `${files.origin}/f` }));
    const { open } = makePool([server, files]);
    const { http } = open({ servers: [server], spec: { origins: [files.origin] } });
    await http.request({ url: `${server.origin}/x`, auth: true, redirect: "follow" });
    expect(files.authorizations()).toEqual([`Bearer ${SECRET}`]);
    const origins = (template: string, config: Record<string, string>) => [
      ...signedOrigins({ spec: { auth: [BEARER], origins: [template] } }, config),
    ];
    expect(origins("https://{tenant}.corp.test", { tenant: "acme" })).toEqual(["https://acme.corp.test"]);
    for (const tenant of ["evil.test/", "evil.test#", "evil.test?", "evil.test:1@", "a@evil.test\\"]) {
      expect(origins("https://{tenant}.corp.test", { tenant }).filter((each) => !each.endsWith(".corp.test"))).toEqual(
        [],
      );
    }
    expect(origins("{+baseUrl}", { baseUrl: "https://git.corp.test/path/" })).toEqual(["https://git.corp.test"]);
    expect(origins("{+baseUrl}", {})).toEqual([]);
  });
});

describe("the addresses that a request reaches", () => {
  test("a name that leads to a private address is not connected to", async () => {
    const server = await serve(say(200));
    const names = {
      "inside.test": ["127.0.0.1"],
      "both.test": ["1.1.1.1", "127.0.0.1"],
      "meta.test": ["169.254.169.254"],
    };
    const { open } = makePool([server], { names, listed: [] });
    const { http } = open({ servers: [server], config: { url: "http://inside.test" } });
    for (const name of [...Object.keys(names), "127.0.0.1", "2130706433", "[::1]"]) {
      await expect(http.request({ url: `http://${name}/x` })).rejects.toMatchObject(NOT_OURS);
      await expect(http.request({ url: `http://${name}:${server.port}/x` })).rejects.toMatchObject(NOT_OURS);
    }
    expect(server.connections()).toBe(0);
  });

  test("a name that changes meanwhile leads nowhere else, on a kept connection or a new one", async () => {
    const inside = await serve(say(200, "secret"));
    const server = await serve(say(200, "ok", { connection: "close" }));
    const names: Record<string, string[]> = { "moving.test": ["127.0.0.1"] };
    const { open } = makePool([server], { names, listed: [`moving.test:${server.port}`] });
    const { http } = open({ servers: [server], config: { url: `http://moving.test:${server.port}` } });
    await http.request({ url: `http://moving.test:${server.port}/x`, auth: true });
    names["moving.test"] = ["127.0.0.2"];
    await http.request({ url: `http://moving.test:${server.port}/x`, auth: true });
    await expect(http.request({ url: `http://moving.test:${inside.port}/x` })).rejects.toMatchObject(NOT_OURS);
    expect([server.requests.length, inside.connections()]).toEqual([2, 0]);
  });

  test("a redirect to a private address is refused though redirects are followed", async () => {
    const inside = await serve(say(200, "secret"));
    const server = await serve(say(302, "", { location: `${inside.origin}/x` }));
    const { open } = makePool([server]);
    const { http } = open({ servers: [server] });
    await expect(http.request({ url: `${server.origin}/x`, redirect: "follow" })).rejects.toMatchObject(NOT_OURS);
    expect(inside.connections()).toBe(0);
  });

  test("no credential goes over plain http, except to this machine or a host that is listed", async () => {
    const names = { "public.test": ["1.1.1.1"] };
    const { open } = makePool([], { names });
    const { http } = open({ servers: [], config: { url: "http://public.test" } });
    const asked = http.request({ url: "http://public.test/x", auth: true });
    await expect(asked).rejects.toMatchObject({
      code: "address_not_allowed",
      message: expect.stringContaining("plain http") as string,
    });
    expect(http.sent).toBe(0);
  });

  test.each(["ftp://127.0.0.1/x", "file:///etc/passwd", "javascript:alert(1)", "no url"])("%s is none", async (url) => {
    const { http } = await connectTo(say(200));
    await expect(http.request({ url })).rejects.toMatchObject(NOT_OURS);
  });
});

describe("a connection of another protocol", () => {
  async function listen() {
    const lines: string[] = [];
    const sockets = new Set<Socket>();
    let got = () => {};
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.setEncoding("utf8").on("data", (text) => {
        lines.push(String(text));
        got();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      for (const socket of sockets) socket.destroy();
      server.close();
    });
    // A listening server over TCP has such an address.
    const { port } = server.address() as AddressInfo;
    return { port, lines, next: () => new Promise<void>((resolve) => void (got = resolve)) };
  }

  const PASSWORD = { type: "credentials", scheme: "basic", username: "user", password: "password" } as const;

  test("has the credential written for the source, for the connector's own host alone", async () => {
    const mail = await listen();
    const other = await listen();
    const { open } = makePool([mail, other]);
    const { connect } = open({
      servers: [mail],
      auth: [PASSWORD],
      spec: { ports: [993] },
      config: { url: `imap://127.0.0.1:${mail.port}` },
      credentials: { user: 'a"b', password: "p\\w" },
    });
    const socket = await connect?.("127.0.0.1", mail.port, false);
    for (const [mechanism, before, line] of [
      ["login", "a1 LOGIN ", 'a1 LOGIN "a\\"b" "p\\\\w"\r\n'],
      ["plain", "a2 AUTHENTICATE PLAIN ", `a2 AUTHENTICATE PLAIN ${Buffer.from('\0a"b\0p\\w').toString("base64")}\r\n`],
    ] as const) {
      const arrived = mail.next();
      await socket?.authenticate(mechanism, before);
      await arrived;
      expect(mail.lines.at(-1)).toBe(line);
    }
    await expect(socket?.authenticate("xoauth2")).rejects.toMatchObject(failing("source_unauthorized"));
    const stranger = await connect?.("127.0.0.1", other.port, false);
    await expect(stranger?.authenticate("login", "a1 LOGIN ")).rejects.toMatchObject(NOT_OURS);
    expect(other.lines).toEqual([]);
  });

  test("is guarded as requests are, ends with its signal, and no line end gets into a command", async () => {
    const mail = await listen();
    const abort = new AbortController();
    const { open } = makePool([mail], { names: { "inside.test": ["127.0.0.2"] } });
    const config = { url: `imap://127.0.0.1:${mail.port}` };
    const given = { servers: [mail], auth: [PASSWORD], config, signal: abort.signal };
    const credentials = { user: "a", password: "b\r\na2 DELETE INBOX" };
    const { connect } = open({ ...given, spec: { ports: [993] }, credentials });
    await expect(connect?.("inside.test", mail.port, false)).rejects.toMatchObject(NOT_OURS);
    const socket = await connect?.("127.0.0.1", mail.port, false);
    await expect(socket?.authenticate("login", "a1 LOGIN ")).rejects.toMatchObject(failing("source_unauthorized"));
    expect(mail.lines).toEqual([]);
    const closed = new Promise<void>(
      (resolve) => void socket?.on("error", () => undefined).once("close", () => resolve()),
    );
    abort.abort(new Error("enough"));
    await closed;
    expect(open({ ...given, credentials }).connect).toBeUndefined();
  });
});
