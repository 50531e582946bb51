import { describe, expect, test } from "vitest";
import { z } from "zod";
import { runsOf } from "#server/sync/run/run-session.ts";
import type { SourceContext } from "#sources/context.ts";
import type { SyncEvent, SyncRequest } from "#server/sync/sync-events.ts";
import { bucketUrl, S3Config } from "#sources/s3/config.ts";
import { makeS3Source } from "#sources/s3/index.ts";
import { type Answer, makePool, say, serve } from "../http/fixture.ts";
import { runParts } from "../stored.ts";
import { CREDENTIALS } from "./fixture.ts";
import { contents, listing, makeStore, sayError } from "./store.ts";

const source = makeS3Source({ batching: { upserts: 1, seen: 1 } });
const NOW = 1_800_000_000_000;
const OBJECT = { text: "x", modifiedAt: 1_700_000_000_000 };

/** The source at a store that answers so. */
async function connect(answer: Answer, more: Record<string, unknown> = {}) {
  const server = await serve(answer);
  const { origin } = server;
  const { open, slept } = makePool([server]);
  const { http } = open({
    servers: [server],
    auth: source.spec.auth,
    spec: { limits: source.spec.limits ?? {} },
    credentials: CREDENTIALS,
    config: { url: origin, region: "us-east-1" },
  });
  const config = S3Config.parse({ endpoint: origin, bucket: "files", ...more });
  const context: SourceContext<S3Config> = {
    config,
    connector: { id: "con_aaaaaaaaaaaaaaaa", name: "Files" },
    http,
    signal: new AbortController().signal,
    now: () => NOW,
    log: () => undefined,
  };
  return { server, context, slept };
}

type Wish = Partial<SyncRequest>;

async function eventsOf(context: SourceContext<S3Config>, wish: Wish = {}): Promise<SyncEvent[]> {
  const events: SyncEvent[] = [];
  const run = { mode: "full", runId: "syn_1", scope: { include: [], exclude: [] }, cursor: null, ...wish } as const;
  for await (const event of runsOf(source)?.({ ...context, ...runParts() }, run) ?? []) events.push(event);
  return events;
}

function idsOf(events: readonly SyncEvent[]): string[] {
  return events.flatMap((event) => (event.t === "upsert" ? [event.item.externalId] : []));
}

const Place = z.object({ walk: z.object({ checkpoint: z.object({ after: z.string().nullable() }) }) });

/** Where a run could be gone on with, before its end. */
function placesOf(events: readonly SyncEvent[]): (string | null)[] {
  const cursors = events.flatMap((event) => (event.t === "checkpoint" ? [Place.safeParse(event.cursor).data] : []));
  return cursors.flatMap((cursor) => (cursor ? [cursor.walk.checkpoint.after] : []));
}

test("a bucket has an address of its own at Amazon, and a path elsewhere", () => {
  const at = (config: Record<string, unknown>) => bucketUrl(S3Config.parse(config));
  const bucket = "team-files";
  expect(at({ bucket, region: "eu-west-1" })).toBe("https://team-files.s3.eu-west-1.amazonaws.com/");
  expect(at({ bucket, region: "cn-north-1" })).toBe("https://team-files.s3.cn-north-1.amazonaws.com.cn/");
  expect(at({ bucket: "team.files" })).toBe("https://s3.us-east-1.amazonaws.com/team.files/");
  expect(at({ bucket, pathStyle: true })).toBe("https://s3.us-east-1.amazonaws.com/team-files/");
  expect(at({ bucket, endpoint: "https://minio.test:9000" })).toBe("https://minio.test:9000/team-files/");
  expect(at({ bucket, endpoint: "https://r2.test", pathStyle: false })).toBe("https://team-files.r2.test/");
});

describe("a listing that is none", () => {
  const page = contents("a.md", OBJECT);
  const next = (token: string) => `<NextContinuationToken>${token}</NextContinuationToken>`;
  let asked = 0;

  test.each<[string, Answer]>([
    ["with the same token again and again", say(200, listing(page + next("t"), { isTruncated: "true" }))],
    [
      "with another token for the same page",
      (_got, response) => void response.end(listing(page + next(`t${++asked}`), { isTruncated: "true" })),
    ],
    [
      "with empty pages for ever",
      (_got, response) => void response.end(listing(next(`t${++asked}`), { isTruncated: "true" })),
    ],
    ["without the next page", say(200, listing(page, { isTruncated: "true" }))],
    ["without a word on its end", say(200, listing(page, { isTruncated: "" }))],
    ["cut", say(200, listing(page).slice(0, -20))],
    ["of something else", say(200, "<ListAllMyBucketsResult></ListAllMyBucketsResult>")],
    ["a page", say(200, "<html><body>Sign in</body></html>")],
    ["empty", say(200, "")],
    ["with a document type", say(200, `<!DOCTYPE d [<!ENTITY x "y">]>${listing(page)}`)],
    ["deep", say(200, "<x>".repeat(100_000))],
    ["in JSON", say(200, { Contents: [] })],
  ])("%s fails, and is no empty bucket", async (_name, answer) => {
    const { context, server } = await connect(answer);
    await expect(eventsOf(context)).rejects.toMatchObject({ code: "source_unavailable" });
    expect(server.requests.length).toBeLessThan(150);
  });

  test("of another prefix fails", async () => {
    const { context } = await connect(say(200, listing(contents("private/a.md", OBJECT))), { prefix: "docs/" });
    await expect(eventsOf(context)).rejects.toThrow("objects that kb didn't ask for");
  });
});

test("keys that no address can have are left out, and never asked for", async () => {
  const store = makeStore();
  const bad = ["../up.md", "a/../../b.md", "a/./b.md", "nul\0.md", `${"d/".repeat(120)}deep.md`];
  const odd = ["//double.md", "a//b.md", "\u202egpj.md", "control\u0001.md", "plus+ and %41.md", "x".repeat(1_020)];
  for (const key of [...bad, ...odd, "folder/"]) store.put(key, "text");
  const { server, context } = await connect(store.answer);
  const events = await eventsOf(context);
  expect(idsOf(events).sort()).toEqual([...odd].sort());
  expect(events.filter(({ t }) => t === "skip")).toMatchObject(bad.map(() => ({ reason: "excluded_by_policy" })));
  expect(events.at(-1)).toMatchObject({ t: "end", listing: "complete" });
  for (const externalId of odd) {
    const content = await source.fetchContent?.(context, { externalId });
    const pieces = [];
    for await (const piece of content?.stream ?? []) pieces.push(piece);
    expect(Buffer.concat(pieces).toString()).toBe("text");
  }
  const sent = server.requests.length;
  for (const externalId of [...bad, "", "folder/", "\ud800"]) {
    await expect(source.fetchContent?.(context, { externalId })).rejects.toMatchObject({ code: "source_not_found" });
  }
  await expect(source.browse?.(context, { parent: "../" })).rejects.toMatchObject({ code: "source_not_found" });
  expect(server.requests).toHaveLength(sent);
});

test("a key that is no UTF-8 is left out, and the others are read", async () => {
  const { context } = await connect(
    say(200, listing("<Contents><Key>a%FF</Key></Contents>" + contents("b.md", OBJECT))),
  );
  const events = await eventsOf(context);
  expect(idsOf(events)).toEqual(["b.md"]);
  expect(events[0]).toMatchObject({ t: "skip", externalId: "a%FF/..", reason: "excluded_by_policy" });
});

test("what is outside of the prefix is never read", async () => {
  const store = makeStore();
  store.put("docs/a.md");
  store.put("private/b.md");
  const { server, context } = await connect(store.answer, { prefix: "docs/" });
  expect(idsOf(await eventsOf(context))).toEqual(["docs/a.md"]);
  const sent = server.requests.length;
  expect(await eventsOf(context, { mode: "items", externalIds: ["private/b.md"] })).toMatchObject([
    { t: "delete" },
    { t: "end" },
  ]);
  const externalId = "private/b.md";
  await expect(source.fetchContent?.(context, { externalId })).rejects.toMatchObject({ code: "source_not_found" });
  await expect(source.browse?.(context, { parent: "private/" })).rejects.toMatchObject({ code: "source_not_found" });
  expect(server.requests).toHaveLength(sent);
  expect((await source.browse?.(context, { parent: null }))?.nodes).toMatchObject([{ id: "docs/a.md" }]);
});

test("a store that lists out of order is never gone on with after a key, and a run that was deletes nothing", async () => {
  const body = ["b.md", "a.md", "c.md"].map((key) => contents(key, OBJECT)).join("");
  const { context } = await connect(say(200, listing(body)));
  const events = await eventsOf(context);
  expect(placesOf(events)).toEqual([null, null, null]);
  expect(events.at(-1)).toMatchObject({ listing: "complete" });
  const former = { walk: { runId: "syn_1", checkpoint: { after: "a.md" }, done: 1, failed: [] } };
  const resumed = await eventsOf(context, { cursor: former });
  expect(resumed.at(-1)).toMatchObject({ listing: "partial" });
  // The keys of a store in order: that of bytes, where JavaScript has another one.
  const ordered = ["a", "\uff5e.md", "😀.md"].map((key) => contents(key, OBJECT)).join("");
  const good = await eventsOf((await connect(say(200, listing(ordered)))).context);
  expect(placesOf(good)).toEqual(["a", "\uff5e.md", "😀.md"]);
});

test("an archived object is found by name, and read once it is restored", async () => {
  const store = makeStore();
  store.put("a.md", "text", { storageClass: "GLACIER" });
  const until = (time: number) =>
    `<RestoreStatus><IsRestoreInProgress>false</IsRestoreInProgress>
     <RestoreExpiryDate>${new Date(time).toISOString()}</RestoreExpiryDate></RestoreStatus>`;
  store.put("b.md", "text", { storageClass: "GLACIER", restore: until(NOW + 1) });
  store.put("c.md", "text", { storageClass: "DEEP_ARCHIVE", restore: until(NOW - 1) });
  store.put("d.md", "text", { storageClass: "GLACIER_IR" });
  const { context } = await connect(store.answer);
  const items = (await eventsOf(context)).flatMap((event) => (event.t === "upsert" ? [event.item] : []));
  const why = (archive: string) => ({
    type: "none",
    reason: "unsupported_type",
    message: expect.stringContaining(`archived (${archive})`),
  });
  const read = { type: "fetch" };
  expect(items.map(({ content }) => content)).toEqual([why("GLACIER"), read, why("DEEP_ARCHIVE"), read]);
  expect(items[0]?.version).toContain(":archived:");
  expect(items[1]?.version).not.toContain(":archived:");
});

describe("an object that can't be read", () => {
  const refuse =
    (status: number, code: string, message = ""): Answer =>
    (_got, response) => {
      const body = `<Error><Code>${code}</Code><Message>${message}</Message></Error>`;
      response.writeHead(status).end(body);
    };

  test.each<[string, Answer, Record<string, unknown>]>([
    [
      "archived",
      refuse(403, "InvalidObjectState"),
      { code: "source_forbidden", message: expect.stringContaining("archived") },
    ],
    [
      "encrypted with a customer's key",
      refuse(400, "InvalidRequest", "The object was stored using a form of Server Side Encryption."),
      { code: "source_forbidden", message: expect.stringContaining("SSE-C") },
    ],
    [
      "closed",
      refuse(403, "AccessDenied"),
      { code: "source_forbidden", hint: expect.stringContaining("s3:GetObject") },
    ],
    ["gone", refuse(404, "NoSuchKey"), { code: "source_not_found" }],
    // That is about more than this object: nothing is gone.
    ["in a bucket that is gone", refuse(404, "NoSuchBucket"), { code: "source_unavailable", field: "bucket" }],
    ["somewhere else", say(404, "<html>"), { code: "source_unavailable" }],
    ["signed for too early or too late", refuse(403, "RequestTimeTooSkewed"), { code: "source_unavailable" }],
    ["signed with keys that ended", refuse(400, "ExpiredToken"), { code: "source_unauthorized" }],
  ])("because it is %s", async (_name, answer, failure) => {
    const { context } = await connect(answer);
    await expect(source.fetchContent?.(context, { externalId: "a.md" })).rejects.toMatchObject(failure);
  });
});

test("check says what is wrong, and what to do", async () => {
  const problemOf = async (answer: Answer) => {
    const outcome = await source.check((await connect(answer)).context);
    expect(JSON.stringify(outcome)).not.toContain("secret words");
    return outcome;
  };
  const error =
    (status: number, code: string, more = ""): Answer =>
    (_got, response) =>
      sayError(response, status, code, more);
  const says = (field: string, message: string, hint: string) => ({
    ok: false,
    problem: { field, message: expect.stringContaining(message), hint: expect.stringContaining(hint) },
  });
  const region = "<Region>eu-west-1</Region>";
  expect(await problemOf(error(403, "AccessDenied"))).toMatchObject(says("bucket", "list", "s3:ListBucket"));
  expect(await problemOf(error(404, "NoSuchBucket"))).toMatchObject(says("bucket", "no bucket files", "name"));
  expect(await problemOf(error(400, "AuthorizationHeaderMalformed", region))).toMatchObject(
    says("region", "eu-west-1, not in us-east-1", "Set region to eu-west-1"),
  );
  expect(await problemOf(error(403, "RequestTimeTooSkewed"))).toMatchObject({
    problem: { message: expect.stringContaining("clock"), hint: expect.stringContaining("NTP") },
  });
  expect(await problemOf(error(403, "InvalidAccessKeyId"))).toMatchObject(
    says("credentials", "credentials", "access key"),
  );
  expect(await problemOf(error(400, "ExpiredToken"))).toMatchObject(
    says("credentials", "credentials", "session token"),
  );
  expect(await problemOf(say(200, "<html></html>"))).toMatchObject(says("endpoint", "S3", "address"));
  expect(await problemOf(say(200, listing("")))).toEqual({ ok: true, warnings: ["The bucket files is empty."] });
  const mayOnlyList: Answer = ({ path }, response) =>
    path.includes("list-type")
      ? void response.end(listing(contents("a.md", OBJECT)))
      : sayError(response, 403, "AccessDenied");
  expect(await problemOf(mayOnlyList)).toMatchObject({ ok: true, warnings: [expect.stringContaining("s3:GetObject")] });
});

test("a redirect is not followed, and nothing is said in its words", async () => {
  const { server, context } = await connect(
    (_got, response) =>
      void response
        .writeHead(301, { location: "http://169.254.169.254/latest", "x-amz-bucket-region": "evil.test/<b>" })
        .end("<Error><Code>PermanentRedirect</Code><Endpoint>http://10.0.0.1</Endpoint></Error>"),
  );
  const outcome = await source.check(context);
  expect(outcome).toMatchObject({ ok: false, problem: { field: "endpoint" } });
  expect(JSON.stringify(outcome)).not.toMatch(/evil|169\.254|10\.0/);
  expect(server.requests).toHaveLength(1);
});

test("a store that is asked too often is a limit, and no failure", async () => {
  let left = 2;
  const store = makeStore();
  store.put("a.md");
  store.instead = (_got, response) => left-- > 0 && (sayError(response, 503, "SlowDown"), true);
  const { context, slept } = await connect(store.answer);
  expect(idsOf(await eventsOf(context))).toEqual(["a.md"]);
  expect(slept.length).toBeGreaterThan(0);
  left = 100;
  await expect(eventsOf(context)).rejects.toMatchObject({ code: "source_rate_limited" });
});

test("what is read says its version by the ETag, though its time is told less exactly", async () => {
  const store = makeStore();
  store.put("a.md", "text", { modifiedAt: 1_700_000_000_123 });
  const { context } = await connect(store.answer);
  const [upsert] = await eventsOf(context);
  const version = upsert?.t === "upsert" ? (upsert.item.version ?? "") : "";
  const read = async () => (await source.fetchContent?.(context, { externalId: "a.md", version }))?.version;
  expect(await read()).toBe(version);
  store.put("a.md", "txet");
  expect(await read()).not.toBe(version);
});

test("folders are searched page by page", async () => {
  const store = makeStore();
  for (const key of ["b", "b/1.md", "b/c/2.md", "d/", "d/3.md", "e.md"]) store.put(key);
  const { context } = await connect(store.answer);
  const all = async (parent: string | null, query?: string) => {
    const ids: string[] = [];
    for (let cursor: string | undefined; ;) {
      const at = { parent, ...(query !== undefined && { query }), ...(cursor !== undefined && { cursor }) };
      const page = await source.browse?.(context, at);
      ids.push(...(page?.nodes ?? []).map(({ id, title }) => `${id} ${title}`));
      if (page === undefined || page.nextCursor === null) return ids;
      cursor = page.nextCursor;
    }
  };
  store.pageSize = 2;
  expect(await all(null)).toEqual(["b b", "b/ b", "d/ d", "e.md e.md"]);
  expect(await all("b/")).toEqual(["b/1.md 1.md", "b/c/ c"]);
  expect(await all("d/")).toEqual(["d/3.md 3.md"]);
  expect(await all(null, "E.M")).toEqual(["e.md e.md"]);
  const of = async (wanted: string) => idsOf(await eventsOf(context, { scope: { include: [wanted], exclude: [] } }));
  expect(await of("b/")).toEqual(["b", "b/1.md", "b/c/2.md"]);
  expect(await of("b/c/")).toEqual(["b/c/2.md"]);
});

test("an endless listing of what is no item has places to go on from", async () => {
  let pages = 0;
  const { context } = await connect((_got, response) => {
    const keys = Array.from({ length: 10 }, (_, i) => `folder ${String(pages * 10 + i).padStart(9, "0")}/`);
    const body = keys.map((key) => contents(key, OBJECT)).join("");
    const next = `<NextContinuationToken>t${++pages}</NextContinuationToken>`;
    response.end(listing(body + next, { isTruncated: "true" }));
  });
  let now = NOW;
  const run = { mode: "full", runId: "syn_1", scope: { include: [], exclude: [] }, cursor: null } as const;
  const places: (string | null)[] = [];
  for await (const event of runsOf(source)?.({ ...context, now: () => (now += 100), ...runParts() }, run) ?? []) {
    places.push(...placesOf([event]));
    if (places.length === 5) break;
  }
  expect(places).toEqual(places.toSorted());
  expect(new Set(places).size).toBe(5);
});
