import { expect, test } from "vitest";
import { runsOf } from "#server/sync/run/run-session.ts";
import type { SourceContext } from "#sources/context.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { makeClient, pathOf } from "#sources/webdav/client.ts";
import { WebdavConfig } from "#sources/webdav/config.ts";
import { makeWebdavSource } from "#sources/webdav/index.ts";
import { readMultistatus } from "#sources/webdav/multistatus.ts";
import { type Answer, connectTo, say } from "../http/fixture.ts";
import { runParts } from "../stored.ts";
import { answerTree, multistatus, responseOf, type Tree } from "./tree.ts";

const source = makeWebdavSource();

/** The source at a server that answers so. */
async function connect(answer: Answer) {
  const { server, http } = await connectTo(answer, {
    auth: source.spec.auth,
    credentials: {},
    originOf: (config) => new URL((config as { url: string }).url).origin,
  });
  const config = WebdavConfig.parse({ url: `${server.origin}/dav` });
  const context: SourceContext<WebdavConfig> = {
    config,
    connector: { id: "con_aaaaaaaaaaaaaaaa", name: "Files" },
    http,
    signal: new AbortController().signal,
    now: () => 1_800_000_000_000,
    log: () => undefined,
  };
  return { server, context };
}

async function eventsOf(context: SourceContext<WebdavConfig>): Promise<SyncEvent[]> {
  const events: SyncEvent[] = [];
  const run = { mode: "full", runId: "syn_1", scope: { include: [], exclude: [] }, cursor: null } as const;
  for await (const event of runsOf(source)?.({ ...context, ...runParts() }, run) ?? []) events.push(event);
  return events;
}

function idsOf(events: readonly SyncEvent[]): string[] {
  return events.flatMap((event) => (event.t === "upsert" ? [event.item.externalId] : []));
}

const TREE: Tree = new Map([
  ["a.md", { text: "a" }],
  ["b/", {}],
  ["b/1.md", { text: "1" }],
]);

test("an address counts only in the collection of the same origin, once decoded", () => {
  const base = new URL("http://h.test/dav/my%20files/");
  const at = (href: string) => pathOf(href, base, base.href);
  expect(at("/dav/my%20files/")).toBe("");
  expect(at("/dav/my files/a b.md")).toBe("a b.md");
  expect(at("/dav/my files/t #:?3.txt")).toBe("t #:?3.txt");
  expect(at("http://h.test/dav/my%20files/c/d/")).toBe("c/d");
  expect(at("e%2520.md")).toBe("e%20.md");
  expect(at("f%E4/%e4%25.md")).toBe("./f%E4/./%E4%25.md");
  for (const href of [
    "http://other.test/dav/my%20files/a",
    "https://h.test/dav/my%20files/a",
    "//other.test/dav/my%20files/a",
    "/dav/my%20files/../secret",
    "/dav/my%20files/%2e%2e/secret",
    "/dav/my%20files/..%2fsecret",
    "/dav/my%20files/a%2Fb",
    "/dav/my%20files/a//b",
    "/dav/my%20files/%00",
    "/dav/my%20files/%E4%00",
    "/dav/my%20files/%E4%2F..%2Fsecret",
    "/dav/my%20files/./%E4/../../x",
    "/dav/my%20filesystem/a",
    "/dav/",
    "/",
    "javascript:alert(1)",
    "http://[",
  ]) {
    expect([href, at(href)]).toEqual([href, undefined]);
  }
});

test("a name that is no UTF-8 is an item of its own, asked for by its bytes", async () => {
  const texts = new Map([
    ["/dav/f%E4/a%E4.md", "umlaut"],
    ["/dav/f%E4/a%25E4.md", "percent"],
  ]);
  const responses: Record<string, string> = {
    "/dav/": responseOf("", {}) + responseOf("f~/", {}),
    "/dav/f%E4/": responseOf("f~/", {}) + responseOf("f~/a~.md", { text: "umlaut" }) + responseOf("f~/a%E4.md", {}),
  };
  const { server, context } = await connect(({ method, path }, response) => {
    if (method === "GET") return void response.writeHead(200).end(texts.get(path));
    const body = responses[path];
    if (body === undefined) return void response.writeHead(404).end();
    response.writeHead(207).end(multistatus(body.replaceAll("~", "%E4")));
  });
  const events = await eventsOf(context);
  expect(idsOf(events)).toEqual(["./f%E4/./a%E4.md", "./f%E4/a%E4.md"]);
  const items = events.flatMap((event) => (event.t === "upsert" ? [event.item] : []));
  expect(items.map(({ title, path, url }) => [title, path, url])).toEqual([
    ["aä.md", ["fä"], `${server.origin}/dav/f%E4/a%E4.md`],
    ["a%E4.md", ["fä"], `${server.origin}/dav/f%E4/a%25E4.md`],
  ]);
  for (const [i, text] of [...texts.values()].entries()) {
    const content = await source.fetchContent?.(context, { externalId: items[i]?.externalId ?? "" });
    const pieces: Uint8Array[] = [];
    if (content && "stream" in content) for await (const piece of content.stream) pieces.push(piece);
    expect(Buffer.concat(pieces).toString()).toBe(text);
  }
});

test("what leads elsewhere, repeats or is deeper is no file of a folder", async () => {
  const more = (folder: string) =>
    [
      responseOf(`${folder}../../etc/passwd`, { text: "x" }),
      responseOf(`${folder}x/deeper.md`, { text: "x" }),
      responseOf(folder, {}),
      responseOf("", {}),
      folder === "" ? responseOf("a.md", { text: "a" }) : responseOf("a.md", { text: "again" }),
      "<d:response><d:href>http://other.test/dav/c.md</d:href></d:response>",
    ].join("");
  const { server, context } = await connect(answerTree(TREE, more));
  const events = await eventsOf(context);
  expect(idsOf(events)).toEqual(["a.md", "b/1.md"]);
  expect(events.at(-1)).toEqual({ t: "end", listing: "complete", permissions: "current" });
  expect(server.requests.map(({ path }) => path)).toEqual(["/dav/", "/dav/b/"]);
});

test("a folder that leads into itself ends", async () => {
  const endless: Answer = ({ path }, response) => {
    const folder = path.slice("/dav/".length);
    const body = [
      responseOf(folder, {}),
      responseOf(`${folder}again/`, {}),
      responseOf(`${folder}f.md`, { text: "f" }),
    ];
    return void response.writeHead(207).end(multistatus(body.join("")));
  };
  const { server, context } = await connect(endless);
  const events = await eventsOf(context);
  expect(server.requests.length).toBeLessThan(60);
  expect(events.filter(({ t }) => t === "skip")).toMatchObject([{ reason: "excluded_by_policy" }]);
  // A server that names its folders tells at once.
  const named: Tree = new Map([
    ["b/", { fileId: 7 }],
    ["b/c/", { fileId: 8 }],
    ["b/c/d/", { fileId: 7 }],
  ]);
  const other = await connect(answerTree(named));
  await eventsOf(other.context);
  expect(other.server.requests).toHaveLength(3);
});

test("an answer about another folder, or half of one, is a failure and no empty folder", async () => {
  const answers = [
    multistatus(""),
    multistatus(responseOf("other/", {})),
    multistatus(responseOf("", {})).replace("</d:multistatus>", ""),
    multistatus(responseOf("", {})).slice(0, -40),
    multistatus(responseOf("", {}).replace("200 OK", "507 Too much")).replace(
      /<d:propstat>.*<\/d:propstat>/s,
      "<d:status>HTTP/1.1 507 x</d:status>",
    ),
    "<html><body>Sign in</body></html>",
    "",
  ];
  for (const body of answers) {
    const { context } = await connect(say(207, body));
    await expect(eventsOf(context)).rejects.toMatchObject({ code: "source_unavailable" });
  }
});

test("a document type, and XML without an end or without measure, is refused", async () => {
  const bomb = `<?xml version="1.0"?><!DOCTYPE d [<!ENTITY a "${"x".repeat(1_000)}"><!ENTITY b "${"&a;".repeat(1_000)}">]>`;
  const outside = '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>';
  const deep = `<d:multistatus xmlns:d="DAV:">${"<x>".repeat(100_000)}`;
  for (const body of [bomb + multistatus("&b;"), outside + multistatus("&x;"), deep]) {
    await expect(readMultistatus(inPieces(body), "h.test")).rejects.toMatchObject({ code: "source_unavailable" });
  }
  // What nobody has declared stays as it is written.
  const told = multistatus(responseOf("", {}).replace("/dav/", "/dav/&x;&amp;")).replaceAll("\n", " ");
  expect((await readMultistatus(inPieces(told), "h.test"))[0]?.href).toBe("/dav/&x;&");
  const many = multistatus(responseOf("", {}).repeat(100_001));
  await expect(readMultistatus(inPieces(many), "h.test")).rejects.toThrow("more than 100000");
});

async function* inPieces(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 4_096) yield bytes.subarray(at, at + 4_096);
}

test("a path that is none is never asked for", async () => {
  const { server, context } = await connect(answerTree(TREE));
  for (const externalId of ["../secret", "b/../../x", "", "/etc/passwd", "a\0b", "b/", "\ud800"]) {
    await expect(source.fetchContent?.(context, { externalId })).rejects.toMatchObject({ code: "source_not_found" });
    if (externalId === "") continue;
    await expect(source.browse?.(context, { parent: externalId })).rejects.toMatchObject({ code: "source_not_found" });
  }
  expect(server.requests).toEqual([]);
});

test("check says what is wrong, and what to do", async () => {
  const problemOf = async (answer: Answer) => source.check((await connect(answer)).context);
  expect(await problemOf(say(401))).toMatchObject({
    problem: {
      field: "credentials",
      message: expect.stringContaining("sign-in"),
      hint: expect.stringContaining("app password"),
    },
  });
  expect(await problemOf(say(404))).toMatchObject({
    problem: {
      field: "url",
      message: expect.stringContaining("no folder"),
      hint: expect.stringContaining("remote.php/dav"),
    },
  });
  expect(await problemOf(say(403))).toMatchObject({
    problem: { field: "url", message: expect.stringContaining("403") },
  });
  for (const answer of [say(405), say(501), say(200, "<html>Hello</html>"), say(207, "<html></html>")]) {
    expect(await problemOf(answer)).toMatchObject({
      problem: { field: "url", message: expect.stringContaining("WebDAV") },
    });
  }
  expect(await problemOf(answerTree(TREE))).toEqual({ ok: true });
  expect(await problemOf(answerTree(new Map()))).toEqual({ ok: true, warnings: ["The folder is empty."] });
});

test("a file has its number as what stays, and its page as its address", async () => {
  const { context } = await connect(answerTree(new Map([["a.md", { text: "a", fileId: 42 }]])));
  const [upsert] = await eventsOf(context);
  expect(upsert).toMatchObject({ item: { identityHint: "42", url: `${new URL(context.config.url).origin}/dav/a.md` } });
  const { entries } = await makeClient(context).list("");
  expect(entries).toMatchObject([{ rel: "a.md", etag: '"61"', size: 1, fileId: "42" }]);
});

test("a tree with two folders in every folder has places to give way at, soon after the beginning, and each goes on", async () => {
  const endless: Answer = ({ path }, response) => {
    const self = path.slice("/dav/".length);
    const below = ["x", "y"].map((name) => responseOf(`${self}${name}/`, {}));
    response.writeHead(207).end(multistatus([responseOf(self, {}), ...below].join("")));
  };
  const { context } = await connect(endless);
  let at = 0;
  // Half a second for each look at the clock.
  const now = () => (at += 500);
  const asked: (string | null)[] = [];
  let cursor: unknown = null;
  for (let runs = 0; runs < 3; runs++) {
    const run = { mode: "full", runId: "syn_1", scope: { include: [], exclude: [] }, cursor } as never;
    let told = 0;
    for await (const event of runsOf(source)?.({ ...context, now, ...runParts() }, run) ?? []) {
      if (event.t !== "checkpoint") continue;
      expect(event.listings).toBeGreaterThan(0);
      if (told === 0) expect(event.listings).toBe(1);
      cursor = event.cursor;
      asked.push((cursor as { walk: { checkpoint: { after: string } } }).walk.checkpoint.after);
      if (++told === 6) break;
    }
    expect(told).toBe(6);
  }
  expect(asked).toEqual(asked.toSorted());
  expect(new Set(asked).size).toBe(18);
});

test.each([403, 500, 503])(
  "a folder at whose properties the server fails (%s) is no file, and stays as it is",
  async (status) => {
    const shared = `<d:response><d:href>/dav/b/</d:href><d:propstat><d:prop><d:resourcetype/><d:getetag/></d:prop>
    <d:status>HTTP/1.1 ${status} No</d:status></d:propstat></d:response>`;
    const answer: Answer = ({ path }, response) => {
      const others = [responseOf("", {}), responseOf("a.md", { text: "a" })].join("");
      response.writeHead(207).end(multistatus(path === "/dav/" ? others + shared : shared));
    };
    const { context } = await connect(answer);
    const events = await eventsOf(context);
    expect(idsOf(events)).toEqual(["a.md"]);
    expect(events).toContainEqual(expect.objectContaining({ t: "skip", externalId: "b", reason: "failed" }));
    expect(events.at(-1)).toMatchObject({ t: "end", notLookedAt: [{ container: { id: "b" } }] });
    await expect(makeClient(context).stat("b")).rejects.toMatchObject({ code: "source_unavailable" });
  },
);
