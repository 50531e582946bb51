import { createServer } from "node:http";
import { type AddressInfo, isIP } from "node:net";
import { text } from "node:stream/consumers";
import * as fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { classOfAddress, makeAddressRanges, parseAddress } from "#net/addresses.ts";
import { configuredPlaces, NO_PLACES } from "#net/configured-places.ts";
import { makeGuardedFetch } from "#net/guarded-fetch.ts";
import { faultOfPrivateHosts, makeAddressGuard, resolveUrl } from "#net/address-guard.ts";
import { normalHost } from "#net/hosts.ts";
import { verifies } from "../requirements.ts";
import { EVERYWHERE } from "./everywhere.ts";

const REFUSED = expect.objectContaining({ code: "address_not_allowed" });

/** A guard whose names mean what the table says, each look-up once. */
function guardOf(names: Record<string, string[]> = {}, privateHosts: string[] = [], ownPort = 7700) {
  const asked: string[] = [];
  const guard = makeAddressGuard({
    privateHosts,
    isOwn: (address, port) => port === ownPort && address === "127.0.0.1",
    lookup: async (host) => {
      asked.push(host);
      return (names[host] ?? []).map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    },
  });
  return { guard, asked };
}

/** Nobody configured where it leads: a document names it. */
const stranger = { configured: NO_PLACES };
const connector = { configured: EVERYWHERE };

describe("the class of an address", () => {
  test.each([
    ["127.0.0.1", "private"],
    ["127.255.255.254", "private"],
    ["10.0.0.1", "private"],
    ["172.16.0.1", "private"],
    ["172.31.255.255", "private"],
    ["172.32.0.1", "public"],
    ["192.168.1.1", "private"],
    ["100.64.0.1", "private"],
    ["100.127.255.255", "private"],
    ["100.128.0.1", "public"],
    ["198.18.0.1", "private"],
    ["192.0.2.1", "private"],
    ["203.0.113.9", "private"],
    ["0.0.0.0", "never"],
    ["0.1.2.3", "never"],
    ["169.254.169.254", "never"],
    ["169.254.0.1", "never"],
    ["100.100.100.200", "never"],
    ["168.63.129.16", "never"],
    ["192.0.0.192", "never"],
    ["224.0.0.1", "never"],
    ["255.255.255.255", "never"],
    ["1.1.1.1", "public"],
    ["140.82.121.3", "public"],
    ["::", "never"],
    ["::1", "private"],
    ["::127.0.0.1", "private"],
    ["::ffff:127.0.0.1", "private"],
    ["::ffff:7f00:1", "private"],
    ["0:0:0:0:0:ffff:a00:1", "private"],
    ["::ffff:169.254.169.254", "never"],
    ["::ffff:1.1.1.1", "public"],
    ["::ffff:0:127.0.0.1", "private"],
    ["64:ff9b::7f00:1", "private"],
    ["64:ff9b::10.0.0.1", "private"],
    ["64:ff9b::169.254.169.254", "never"],
    ["64:ff9b::1.1.1.1", "public"],
    ["64:ff9b:1::1", "private"],
    ["2002:7f00:1::", "private"],
    ["2002:c0a8:101::1", "private"],
    ["2002:a9fe:a9fe::", "never"],
    ["2002:101:101::", "public"],
    ["2001:0:1:2:3:4:5:6", "private"],
    ["2001:db8::1", "private"],
    ["3fff::1", "private"],
    ["fc00::1", "private"],
    ["fd12:3456::1", "private"],
    ["fd00:ec2::254", "never"],
    ["fe80::1", "never"],
    ["fe80::1%eth0", "never"],
    ["fec0::1", "private"],
    ["ff02::1", "never"],
    ["100::1", "private"],
    ["5f00::1", "private"],
    ["2606:4700::5efe:10.0.0.1", "private"],
    ["2606:4700:4700::1111", "public"],
    ["2a00:1450:4001:82a::200e", "public"],
    ["::8.8.8.8", "private"],
    ["::808:808", "private"],
    ["::ffff:0:8.8.8.8", "private"],
    ["64:ff9b:0:0:0:0:8.8.8.8", "public"],
    ["64:FF9B::A9FE:A9FE", "never"],
    ["::FFFF:169.254.169.254", "never"],
    ["2606:4700::200:5efe:169.254.169.254", "never"],
    ["2606:4700::100:5efe:10.0.0.1", "public"],
    ["2606:4700::1%0", "never"],
    ["::ffff:1.1.1.1%lo", "never"],
    ["017.0.0.1", "never"],
    ["8.8.8.010", "never"],
    ["0x8.8.8.8", "never"],
    ["8.8.8", "never"],
    ["134744072", "never"],
    ["::ffff:0x8.8.8.8", "never"],
    ["::ffff:08.8.8.8", "never"],
    ["::ffff:8.8.8", "never"],
    ["1::2::3", "never"],
    ["[2606:4700::1]", "never"],
    [" 8.8.8.8", "never"],
    ["not an address", "never"],
    ["", "never"],
  ])("%s is %s", (address, wanted) => {
    expect(classOfAddress(address)).toBe(wanted);
  });

  verifies("ssrf:private-refused", "an IPv4 address is judged the same in every form that carries it", () => {
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        const [a = 0, b = 0, c = 0, d = 0] = address.split(".").map(Number);
        const hex = `${((a << 8) | b).toString(16)}:${((c << 8) | d).toString(16)}`;
        const wanted = classOfAddress(address);
        for (const form of [`::ffff:${address}`, `::ffff:${hex}`, `64:ff9b::${hex}`, `2002:${hex}::1`]) {
          expect([form, classOfAddress(form)]).toEqual([form, wanted]);
        }
      }),
    );
  });
});

describe("an address literal", () => {
  test("is read as Node reads it, in every spelling and in no other", () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.ipV4(), fc.ipV4Extended(), fc.ipV6(), fc.stringMatching(/^[0-9a-f:.x%]{1,20}$/)),
        (text) => {
          const isTaken = isIP(text) !== 0 && !text.includes("%");
          expect([text, parseAddress(text) !== undefined]).toEqual([text, isTaken]);
          if (!isTaken) return;
          const canonical = new URL(`http://${isIP(text) === 6 ? `[${text}]` : text}/`).hostname.replaceAll(
            /[[\]]/g,
            "",
          );
          expect([text, parseAddress(text)?.toString()]).toEqual([text, canonical]);
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("a set of addresses", () => {
  const has = (entries: string[], text: string) => {
    const address = parseAddress(text);
    return address !== undefined && makeAddressRanges(entries).has(address);
  };

  test.each([
    ["10.0.0.0/8", "10.255.0.1", true],
    ["10.0.0.0/8", "11.0.0.1", false],
    ["10.0.0.0/8", "::ffff:10.1.2.3", true],
    ["10.0.0.0/8", "a00::1", false],
    ["::ffff:10.0.0.0/104", "10.1.2.3", true],
    ["10.0.0.7", "10.0.0.7", true],
    ["10.0.0.7", "10.0.0.8", false],
    ["10.0.0.7/0", "203.0.113.1", true],
    ["0.0.0.0/0", "2001:db8::1", false],
    ["2001:db8::/32", "2001:0DB8:0:0::1", true],
    ["2001:db8::/32", "2001:db9::1", false],
    ["::1", "0:0:0:0:0:0:0:1", true],
  ])("of %s: %s is in it: %s", (entry, address, wanted) => {
    expect(has([entry], address)).toBe(wanted);
  });

  test.each([
    "10.0.0.0/33",
    "10.0.0.0/",
    "10.0.0.0/-1",
    "10.0.0.0/8/8",
    "10.0.0.0/0x8",
    "::/129",
    "10.0.0",
    "010.0.0.1",
    "proxy",
    "fe80::1%eth0",
    "",
  ])("refuses %j", (entry) => {
    expect(() => makeAddressRanges([entry])).toThrow(/neither an address nor a range/);
  });
});

describe("test 56: the guard", () => {
  test.each([
    "127.0.0.1",
    "localhost",
    "0",
    "0.0.0.0",
    "127.1",
    "0x7f.1",
    "0x7f000001",
    "2130706433",
    "017700000001",
    "0177.0.0.1",
    "127.0.0.1.",
    "[::1]",
    "[::ffff:127.0.0.1]",
    "[::ffff:7f00:1]",
    "[64:ff9b::7f00:1]",
    "[fd00::1]",
    "[fe80::1%25eth0]",
    "１２７.０.０.１",
    "169.254.169.254",
    "0xa9fea9fe",
    "10.1.2.3",
    "100.64.1.1",
    "intern.test",
    "mixed.test",
    "v6.test",
    "metadata.test",
  ])("refuses %s before anything is connected", async (host) => {
    const { guard } = guardOf({
      localhost: ["127.0.0.1", "::1"],
      "intern.test": ["10.0.0.7"],
      "mixed.test": ["93.184.216.34", "10.0.0.7"],
      "v6.test": ["2606:4700::1", "fd00::7"],
      "metadata.test": ["169.254.169.254"],
    });
    await expect(guard.resolve({ host, port: 443, ...stranger })).rejects.toThrow(REFUSED);
  });

  test.each([
    "http://127.0.0.1/",
    "http://2130706433/",
    "http://0x7f.0.0.1:80/",
    "https://[::ffff:10.0.0.1]/",
    "https://public.test:22/",
    "https://public.test:8443/",
    "file:///etc/passwd",
    "gopher://public.test/",
    "ftp://public.test/",
    "https://user:secret@public.test/",
    "https://token@public.test/",
  ])("refuses the URL %s", async (url) => {
    const { guard } = guardOf({ "public.test": ["93.184.216.34"] });
    await expect(resolveUrl(guard, new URL(url), NO_PLACES)).rejects.toThrow(REFUSED);
  });

  test("gives the judged address of a public name, asking the resolver once", async () => {
    const { guard, asked } = guardOf({ "public.test": ["2606:4700::1", "93.184.216.34"] });
    expect(await resolveUrl(guard, new URL("https://Public.test./x"), NO_PLACES)).toEqual({
      host: "public.test",
      port: 443,
      address: "93.184.216.34",
      family: 4,
      isListed: false,
    });
    expect(asked).toEqual(["public.test"]);
  });

  test("a name without an address is a failure of the source, not a refusal", async () => {
    const { guard } = guardOf();
    await expect(guard.resolve({ host: "gone.test", port: 443, ...stranger })).rejects.toThrow(
      expect.objectContaining({ code: "source_unavailable" }),
    );
  });

  verifies("ssrf:tells-nothing", "tells nothing about the address behind a refused name", async () => {
    const { guard } = guardOf({ "intern.test": ["10.9.8.7"] });
    const error: unknown = await guard
      .resolve({ host: "intern.test", port: 443, ...stranger })
      .catch((e: unknown) => e);
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toContain("10.9.8.7");
  });

  describe("test 57: with private hosts listed", () => {
    const listed = [
      "git.corp.test:8443",
      "10.0.0.9:443",
      "[fd00::9]:443",
      "127.0.0.1:7700",
      "[::ffff:127.0.0.1]:7700",
      "169.254.169.254:80",
    ];
    const names = {
      "git.corp.test": ["10.0.0.5"],
      "other.corp.test": ["10.0.0.6"],
      "nine.corp.test": ["10.0.0.9"],
      "half.corp.test": ["10.0.0.9", "10.0.0.6"],
    };
    const { guard } = guardOf(names, listed);

    test.each([
      ["git.corp.test", 8443, "10.0.0.5"],
      ["GIT.corp.test.", 8443, "10.0.0.5"],
      ["10.0.0.9", 443, "10.0.0.9"],
      ["nine.corp.test", 443, "10.0.0.9"],
      ["[fd00:0::9]", 443, "fd00::9"],
    ])("a connector reaches %s:%s", async (host, port, address) => {
      expect(await guard.resolve({ host, port, ...connector })).toMatchObject({ address, isListed: true });
      expect(await guard.resolveConfigured({ host, port })).toMatchObject({ address, isListed: true });
    });

    test.each([
      ["git.corp.test", 8443, stranger],
      ["git.corp.test", 443, connector],
      ["git.corp.test", 22, connector],
      ["other.corp.test", 8443, connector],
      ["10.0.0.5", 8443, connector],
      ["10.0.0.9", 80, connector],
      ["half.corp.test", 443, connector],
      ["169.254.169.254", 80, connector],
      ["127.0.0.1", 7700, connector],
      ["[::ffff:127.0.0.1]", 7700, connector],
      // Listed, and something else is configured: another port, another name of the same address, the address itself.
      ["git.corp.test", 8443, { configured: configuredPlaces(["https://git.corp.test", "http://10.0.0.5:8443"]) }],
      ["nine.corp.test", 443, { configured: configuredPlaces(["https://10.0.0.9"]) }],
      ["10.0.0.9", 443, { configured: configuredPlaces(["https://nine.corp.test"]) }],
    ])("and %s:%s is refused for %j", async (host, port, who) => {
      await expect(guard.resolve({ host, port, ...who })).rejects.toThrow(REFUSED);
    });
  });

  test.each([
    ["https://Git.Corp.test./mcp?x=1#y", "git.corp.test:443"],
    ["http://git.corp.test/a", "git.corp.test:80"],
    ["https://git.corp.test:8443", "git.corp.test:8443"],
    ["http://0x7f.1:81/", "127.0.0.1:81"],
    ["https://[FD00:0::9]/", "fd00::9:443"],
    ["ssh://git@git.corp.test:22", "git.corp.test:22"],
    ["imaps://mail.corp.test:993", "mail.corp.test:993"],
  ])("a configuration with %s names %s", (address, place) => {
    expect([...configuredPlaces([address, "file:", "no address", "gopher://a.test"])]).toEqual([place]);
  });

  test.each([
    ["10.0.0.0/8:443"],
    ["*.corp.test:443"],
    ["corp.test"],
    ["corp.test:0"],
    ["corp.test:99999"],
    [""],
    ["::1:443"],
  ])("%j is no entry of the list", (entry) => {
    expect(faultOfPrivateHosts(["ok.test:443", entry])).toMatch(/host:port/);
  });

  test("an entry may be a name, an IPv4 address or an IPv6 address in brackets", () => {
    expect(faultOfPrivateHosts(["git.corp.test:443", "10.0.0.1:22", "[fd00::1]:443"])).toBeUndefined();
  });

  test.each(["", "a b", "a/b", "a@b", "a:b", "-", "%31", "a\u0000b", "[::1", "\n"])("%j is no host", (host) => {
    if (host === "-") expect(normalHost(host)).toBe("-");
    else expect(() => normalHost(host)).toThrow(REFUSED);
  });
});

describe("a guarded fetch", () => {
  /** A listener that counts what reaches it. */
  async function listener(
    answer: (path: string) => { status?: number; headers?: Record<string, string>; body?: string },
  ) {
    const seen: { path: string; headers: Record<string, unknown>; body: string }[] = [];
    let connections = 0;
    const server = createServer(async (request, response) => {
      seen.push({ path: request.url ?? "", headers: request.headers, body: await text(request) });
      const { status = 200, headers = {}, body = "ok" } = answer(request.url ?? "");
      response.writeHead(status, headers).end(body);
    });
    server.on("connection", () => connections++);
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    // It listens on TCP.
    const { port } = server.address() as AddressInfo;
    return { port, seen, connections: () => connections };
  }
  const common = { ...connector, signal: new AbortController().signal, maxBytes: 1_000, timeoutMs: 5_000 };

  verifies("ssrf:judged-address", "goes to the judged address without a second look-up", async () => {
    const { port, seen } = await listener(() => ({}));
    let asked = 0;
    const guard = makeAddressGuard({
      privateHosts: [`kb.test:${port}`],
      isOwn: () => false,
      // Public the first time, somewhere else after: what a rebinding name does.
      lookup: async () => [{ address: asked++ === 0 ? "127.0.0.1" : "127.0.0.2", family: 4 }],
    });
    const answer = await makeGuardedFetch(guard)(`http://kb.test:${port}/x`, common);
    expect([answer.status, Buffer.from(answer.body).toString(), asked]).toEqual([200, "ok", 1]);
    expect(seen[0]?.headers["host"]).toBe(`kb.test:${port}`);
  });

  verifies("ssrf:private-refused", "opens no connection to a refused address, however it is written", async () => {
    const target = await listener(() => ({}));
    const { guard } = guardOf({ "rebind.test": ["127.0.0.1"], localhost: ["127.0.0.1", "::1"] });
    const fetch = makeGuardedFetch(guard);
    for (const host of ["127.0.0.1", "localhost", "0x7f000001", "2130706433", "[::ffff:127.0.0.1]", "rebind.test"]) {
      await expect(fetch(`http://${host}:${target.port}/`, common)).rejects.toThrow(REFUSED);
    }
    expect(target.connections()).toBe(0);
  });

  test.each([301, 302, 303, 307, 308])("judges where a %i leads, and opens no connection there", async (status) => {
    const target = await listener(() => ({}));
    const entry = await listener(() => ({ status, headers: { location: `http://localhost:${target.port}/secret` } }));
    const { guard } = guardOf({ localhost: ["127.0.0.1"] }, [`127.0.0.1:${entry.port}`]);
    const fetch = makeGuardedFetch(guard);
    await expect(fetch(`http://127.0.0.1:${entry.port}/`, { ...common, maxRedirects: 3 })).rejects.toThrow(REFUSED);
    expect(target.connections()).toBe(0);
  });

  test("a redirect opens no host that the operator listed for something else", async () => {
    const target = await listener(() => ({}));
    const entry = await listener((path) =>
      path === "/here"
        ? { status: 302, headers: { location: "/end" } }
        : path === "/end"
          ? {}
          : { status: 302, headers: { location: `http://127.0.0.1:${target.port}/do?it=1` } },
    );
    const { guard } = guardOf({}, [`127.0.0.1:${entry.port}`, `127.0.0.1:${target.port}`]);
    const own = `http://127.0.0.1:${entry.port}`;
    const request = { ...common, configured: configuredPlaces([own]), maxRedirects: 3 };
    const fetch = makeGuardedFetch(guard);
    expect((await fetch(`${own}/here`, request)).status).toBe(200);
    await expect(fetch(own, request)).rejects.toThrow(REFUSED);
    expect(target.connections()).toBe(0);
  });

  verifies("ssrf:redirects", "follows an allowed redirect without taking credentials to another origin", async () => {
    const target = await listener(() => ({}));
    const entry = await listener((path) =>
      path === "/a" ? { status: 302, headers: { location: "/b" } } : { status: 302, headers: { location: to() } },
    );
    const to = () => `http://127.0.0.1:${target.port}/c`;
    const { guard } = guardOf({}, [`127.0.0.1:${entry.port}`, `127.0.0.1:${target.port}`]);
    const headers = { Authorization: "Bearer secret", Accept: "text/plain" };
    const request = { ...common, headers, maxRedirects: 3 };
    const answer = await makeGuardedFetch(guard)(`http://127.0.0.1:${entry.port}/a`, request);
    expect([answer.status, answer.url]).toEqual([200, to()]);
    expect(entry.seen.map((seen) => seen.headers["authorization"])).toEqual(["Bearer secret", "Bearer secret"]);
    expect(target.seen.map((seen) => [seen.headers["authorization"], seen.headers["accept"]])).toEqual([
      [undefined, "text/plain"],
    ]);
  });

  test.each(["PRIVATE-TOKEN", "X-Api-Key", "X-Vault-Token", "api-key", "Cookie", "DD-APPLICATION-KEY", "If-Match"])(
    "a header %s reaches the first origin and no other, there and back again",
    async (name) => {
      const other = await listener(() => ({ status: 302, headers: { location: back() } }));
      const entry = await listener((path) =>
        path === "/back" ? {} : { status: 307, headers: { location: `http://127.0.0.1:${other.port}/` } },
      );
      const back = () => `http://127.0.0.1:${entry.port}/back`;
      const { guard } = guardOf({}, [`127.0.0.1:${entry.port}`, `127.0.0.1:${other.port}`]);
      const headers = { [name]: "secret", "User-Agent": "kb" };
      const answer = await makeGuardedFetch(guard)(`http://127.0.0.1:${entry.port}/`, {
        ...common,
        headers,
        maxRedirects: 3,
      });
      expect([answer.url, answer.status]).toEqual([back(), 200]);
      const shown = (seen: typeof entry.seen) =>
        seen.map((each) => [each.path, each.headers[name.toLowerCase()], each.headers["user-agent"]]);
      expect(shown(entry.seen)).toEqual([
        ["/", "secret", "kb"],
        ["/back", undefined, "kb"],
      ]);
      expect(shown(other.seen)).toEqual([["/", undefined, "kb"]]);
    },
  );

  test("a body is sent on within its origin and never to another one", async () => {
    const other = await listener(() => ({}));
    const entry = await listener((path) => {
      if (path === "/end") return {};
      const location = path === "/here" ? "/end" : `http://127.0.0.1:${other.port}/`;
      return { status: path === "/get" ? 303 : 308, headers: { location } };
    });
    const { guard } = guardOf({}, [`127.0.0.1:${entry.port}`, `127.0.0.1:${other.port}`]);
    const headers = { "content-type": "text/plain" };
    const request = { ...common, method: "POST", headers, body: Buffer.from("secret"), maxRedirects: 1 };
    const post = (path: string) => makeGuardedFetch(guard)(`http://127.0.0.1:${entry.port}${path}`, request);
    expect((await post("/here")).status).toBe(200);
    expect(entry.seen.map(({ path, body }) => [path, body])).toEqual([
      ["/here", "secret"],
      ["/end", "secret"],
    ]);
    await expect(post("/there")).rejects.toMatchObject({ code: "source_unavailable" });
    expect(other.seen).toEqual([]);
    expect((await post("/get")).status).toBe(200);
    expect(other.seen).toMatchObject([{ path: "/", body: "" }]);
    expect(other.seen[0]?.headers).not.toHaveProperty("content-type");
  });

  test("gives the redirect itself unless told to follow, and gives up on a circle", async () => {
    const entry = await listener(() => ({ status: 302, headers: { location: "/" } }));
    const { guard } = guardOf({}, [`127.0.0.1:${entry.port}`]);
    const fetch = makeGuardedFetch(guard);
    const url = `http://127.0.0.1:${entry.port}/`;
    expect((await fetch(url, common)).status).toBe(302);
    await expect(fetch(url, { ...common, maxRedirects: 2 })).rejects.toThrow(/too many times/);
  });

  test("ends an answer that is too long", async () => {
    const entry = await listener(() => ({ body: "x".repeat(5_000) }));
    const { guard } = guardOf({}, [`127.0.0.1:${entry.port}`]);
    await expect(makeGuardedFetch(guard)(`http://127.0.0.1:${entry.port}/`, common)).rejects.toThrow(
      expect.objectContaining({ code: "payload_too_large" }),
    );
  });
});
