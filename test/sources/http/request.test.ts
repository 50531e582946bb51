import { gzipSync } from "node:zlib";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { connectTo, failing, makePool, say, SECRET, serve } from "./fixture.ts";

describe("a request of a source", () => {
  test("is signed, has its query and body, and gives what the server said", async () => {
    const { http, server } = await connectTo(say(201, { name: "Ada" }, { "x-page": "2" }));
    const url = `${server.origin}/items?a=1`;
    const answer = await http.request({
      method: "POST",
      url,
      query: { q: "x y", ids: ["1", "2"], no: undefined },
      json: { b: 2 },
      auth: true,
    });
    expect([answer.status, answer.headers.get("x-page"), answer.text()]).toEqual([201, "2", '{"name":"Ada"}']);
    expect(answer.json(z.object({ name: z.string() }))).toEqual({ name: "Ada" });
    expect(server.requests).toMatchObject([
      {
        method: "POST",
        path: "/items?a=1&q=x+y&ids=1&ids=2",
        body: '{"b":2}',
        headers: { authorization: `Bearer ${SECRET}`, "content-type": "application/json" },
      },
    ]);
    expect(http.sent).toBe(1);
  });

  test("fifty to one host go over one connection, one name is asked for once", async () => {
    const server = await serve(say(200, "ok"));
    const { open, lookedUp } = makePool([server]);
    const { http } = open({ servers: [server], config: { url: server.otherName } });
    for (let i = 0; i < 50; i++) await http.request({ url: `${server.otherName}/${i}`, auth: true });
    expect([server.requests.length, server.connections(), lookedUp]).toEqual([50, 1, ["other.test"]]);
  });

  test("what is packed is unpacked, and the limit counts the unpacked bytes", async () => {
    const bomb = gzipSync(Buffer.alloc(4 * 1024 * 1024));
    const { http, server } = await connectTo((got, response) => {
      response.writeHead(200, { "content-encoding": "gzip" });
      response.end(got.path === "/bomb" ? bomb : gzipSync("text"));
    });
    expect((await http.request({ url: `${server.origin}/` })).text()).toBe("text");
    await expect(http.request({ url: `${server.origin}/bomb`, maxBytes: 1024 * 1024 })).rejects.toMatchObject(
      failing("payload_too_large"),
    );
    await expect(http.request({ url: `${server.origin}/`, maxBytes: 3 })).rejects.toMatchObject(
      failing("payload_too_large"),
    );
    // Nothing hangs where a header promises a body that does not come.
    expect((await http.request({ method: "HEAD", url: `${server.origin}/` })).text()).toBe("");
  });

  test("a stream is given piece by piece, and ended early without harm", async () => {
    const { http, server } = await connectTo((_got, response) => {
      response.writeHead(200);
      for (let i = 0; i < 64; i++) response.write(Buffer.alloc(64 * 1024, i));
      response.end();
    });
    const { body } = await http.stream({ url: `${server.origin}/big`, auth: true });
    let length = 0;
    for await (const piece of body) length += piece.length;
    expect(length).toBe(4 * 1024 * 1024);
    const early = await http.stream({ url: `${server.origin}/big`, auth: true });
    for await (const piece of early.body) if (piece.length > 0) break;
    const bounded = await http.stream({ url: `${server.origin}/big`, auth: true, maxBytes: 100_000 });
    await expect(async () => {
      for await (const _ of bounded.body);
    }).rejects.toMatchObject(failing("payload_too_large"));
    expect((await http.request({ url: `${server.origin}/big`, maxBytes: 5e6 })).bytes().length).toBe(4 * 1024 * 1024);
  });

  test.each([
    [400, "source_unavailable"],
    [401, "source_unauthorized"],
    [403, "source_forbidden"],
    [404, "source_not_found"],
    [410, "source_gone"],
    [418, "source_unavailable"],
    [500, "source_unavailable"],
  ])("a %d is %s, and the message says host and status, nothing of query, header or body", async (status, code) => {
    const { http, server } = await connectTo(say(status, `body-${SECRET}`, { "x-note": SECRET }));
    const url = `${server.origin}/a?token=${SECRET}`;
    const error = await http.request({ url, auth: true }).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code, message: expect.stringContaining(`(HTTP ${status})`) as string });
    expect(JSON.stringify([error, String(error)])).not.toContain(SECRET);
    expect(String(error)).toContain(`127.0.0.1:${server.port}`);
    expect((await http.request({ url, auth: true, allow: [status] })).status).toBe(status);
    if (status !== 401) {
      await expect(http.request({ url, auth: true, expired: [status] })).rejects.toMatchObject(
        failing("cursor_expired"),
      );
    }
  });

  test("a 401 where no one signed in is a refusal of that page, not of the connector", async () => {
    const { http, server } = await connectTo(say(401, "", { "www-authenticate": "Basic" }));
    await expect(http.request({ url: `${server.origin}/x` })).rejects.toMatchObject(failing("source_forbidden"));
  });

  test("an answer that is no JSON, or not what the source reads, is told without its text", async () => {
    const { http, server } = await connectTo(
      (got, response) => void response.end(got.path === "/no" ? `<${SECRET}>` : `{"a":"${SECRET}"}`),
    );
    const no = await http.request({ url: `${server.origin}/no` });
    const other = await http.request({ url: `${server.origin}/other` });
    for (const read of [() => no.json(), () => other.json(z.object({ a: z.number() }))]) {
      expect(read).toThrow(expect.objectContaining({ code: "source_unavailable" }));
      expect(read).not.toThrow(SECRET);
    }
  });

  test("without credentials it goes as no one where the source allows that, and nowhere otherwise", async () => {
    const free = await connectTo(say(200, "ok"), { auth: [{ type: "none" }], credentials: {} });
    await free.http.request({ url: `${free.server.origin}/x`, auth: true });
    expect(free.server.authorizations()).toEqual([undefined]);
    const closed = await connectTo(say(200, "ok"), { credentials: {} });
    await expect(closed.http.request({ url: `${closed.server.origin}/x`, auth: true })).rejects.toMatchObject(
      failing("source_unauthorized", { field: "credentials" }),
    );
    expect(closed.server.requests).toEqual([]);
  });
});

describe("pages", () => {
  test("are given one by one, by URL or by request, relative ones too", async () => {
    const { http, server } = await connectTo((got, response) => void response.end(got.path));
    const seen: string[] = [];
    const following = ["list?n=2", { url: `${server.origin}/list`, query: { n: 3 }, auth: true } as const, undefined];
    const pages = http.pages({ url: `${server.origin}/list`, query: { n: 1 }, auth: true }, () => following.shift());
    for await (const page of pages) seen.push(page.text());
    expect(seen).toEqual(["/list?n=1", "/list?n=2", "/list?n=3"]);
    expect(server.authorizations()).toEqual(Array(3).fill(`Bearer ${SECRET}`));
  });

  test("that lead to a page from before end with a failure", async () => {
    const { http, server } = await connectTo((got, response) => void response.end(got.path));
    const list = async () => {
      let pages = 0;
      for await (const page of http.pages({ url: `${server.origin}/1` }, () => `${server.origin}/${(++pages % 3) + 1}`))
        page.text();
    };
    await expect(list()).rejects.toMatchObject(failing("source_unavailable"));
    expect(server.requests.map(({ path }) => path)).toEqual(["/1", "/2", "/3"]);
  });
});

describe("the end of a context", () => {
  test.each(["headers", "body", "connection"])(
    "comes at once when its signal is aborted, while it waits for %s",
    async (where) => {
      const abort = new AbortController();
      let reach = () => {};
      const reached = new Promise<void>((resolve) => void (reach = resolve));
      const { http, server } = await connectTo(
        (_got, response) => {
          if (where === "body") response.writeHead(200).write("begin");
          reach();
        },
        { signal: abort.signal },
      );
      const asked = http.request({ url: `${server.origin}/hang`, auth: true });
      const ended = expect(asked).rejects.toThrow("enough");
      if (where !== "connection") await reached;
      abort.abort(new Error("enough"));
      await ended;
      await expect(http.request({ url: `${server.origin}/x` })).rejects.toThrow("enough");
    },
  );

  test("ends a stream too", async () => {
    const abort = new AbortController();
    const { http, server } = await connectTo((_got, response) => void response.writeHead(200).write("begin"), {
      signal: abort.signal,
    });
    const { body } = await http.stream({ url: `${server.origin}/hang` });
    const reading = (async () => {
      for await (const _ of body) abort.abort(new Error("enough"));
    })();
    await expect(reading).rejects.toThrow("enough");
  });

  test("of a narrower signal ends only what was asked until then", async () => {
    const abort = new AbortController();
    const { http, server } = await connectTo(say(200, "ok"));
    const narrow = http.until(abort.signal);
    await narrow.request({ url: `${server.origin}/x` });
    abort.abort(new Error("enough"));
    await expect(narrow.request({ url: `${server.origin}/x` })).rejects.toThrow("enough");
    expect([(await http.request({ url: `${server.origin}/x` })).status, http.sent]).toEqual([200, 2]);
  });

  test("a server that never answers, or falls silent, is given up", async () => {
    const { http, server } = await connectTo((got, response) => {
      if (got.path === "/body") response.writeHead(200).write("begin");
    });
    for (const path of ["/headers", "/body"]) {
      await expect(http.request({ url: `${server.origin}${path}`, timeoutMs: 40 })).rejects.toMatchObject(
        failing("source_unavailable"),
      );
    }
  });
});
