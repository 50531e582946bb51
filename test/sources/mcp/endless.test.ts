import { expect, test } from "vitest";
import { runsOf } from "#server/sync/run/run-session.ts";
import { ApiError } from "#api/errors.ts";
import { McpProblem } from "#mcp-client/problem.ts";
import { makeMcpSource } from "#sources/mcp/index.ts";
import { McpConfig } from "#sources/mcp/config.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { runParts } from "../stored.ts";

/** What of a session the source asks; every other question fails the test. */
function sessionOf(more: object) {
  return {
    capabilities: { resources: true, tools: false, listChanged: false, subscribe: false },
    listResourceTemplates: async () => ({ items: [], leftOut: 0 }),
    close: async () => undefined,
    ...more,
  };
}

function begin(
  session: object,
  more: object = {},
  cursor: unknown = null,
  wanted: object = {},
): AsyncIterable<SyncEvent> {
  const context = {
    config: McpConfig.parse({}),
    connector: { id: "con_aaaaaaaaaaaaaaaa", name: "Server" },
    mcp: { open: async () => session, mapping: undefined },
    signal: new AbortController().signal,
    now: () => 1_800_000_000_000,
    log: () => undefined,
    ...runParts(),
    ...more,
  };
  const request = { mode: "full", runId: "syn_1", scope: { include: [], exclude: [] }, cursor, ...wanted };
  // What the source takes of a context and a request is all there.
  const events = runsOf(makeMcpSource({ batching: { upserts: 1 } }))?.(context as never, request as never);
  if (events === undefined) throw new Error("The source can't sync.");
  return events;
}

async function run(session: object, more: object = {}): Promise<SyncEvent[]> {
  const events: SyncEvent[] = [];
  for await (const event of begin(session, more)) events.push(event);
  return events;
}

test("a list with ever new cursors has places to stop at, so that the engine's bound ends it", async () => {
  let pages = 0;
  const listResources = async () => ({ items: [], leftOut: 0, nextCursor: String(++pages) });
  const checkpoints: Extract<SyncEvent, { t: "checkpoint" }>[] = [];
  for await (const event of begin(sessionOf({ listResources }))) {
    if (event.t === "checkpoint") checkpoints.push(event);
    if (pages === 3_000) break;
  }
  expect(checkpoints.length).toBeGreaterThanOrEqual(14);
  for (const { listings } of checkpoints) expect(listings).toBeLessThanOrEqual(200);
  expect(Object(checkpoints.at(-1)?.cursor).walk.checkpoint.place).toMatchObject({ part: "resources" });
});

test.each([
  ["the same page", "", "a"],
  ["two pages in turn", "", "ab"],
  ["a page in its middle", "xyz", "abcd"],
])("a list that leads back to %s ends as partial and says why", async (_what, beginning, round) => {
  const cursors = [...beginning, ...round.repeat(50)];
  let pages = 0;
  const listResources = async () => ({ items: [], leftOut: 0, nextCursor: cursors[pages++] });
  const events = await run(sessionOf({ listResources }));
  expect(events.at(-1)).toMatchObject({ t: "end", listing: "partial", why: expect.stringContaining("leads back") });
  expect(pages).toBeLessThan(20);
});

test("an interrupted page goes on after the entry that it was at, and begins again when it has changed", async () => {
  const uris = ["file:///a", "file:///b", "file:///c"];
  const asked: string[] = [];
  const session = sessionOf({
    listResources: async () => ({ items: uris.map((uri) => ({ uri, name: uri })), leftOut: 0 }),
    readResource: async (uri: string) => {
      asked.push(uri);
      return [{ type: "text", uri, text: uri }];
    },
  });
  let cursor: unknown = null;
  for await (const event of begin(session, {}, null)) {
    if (event.t !== "checkpoint") continue;
    cursor = event.cursor;
    if (asked.length === 2) break;
  }
  asked.length = 0;
  for await (const _ of begin(session, {}, cursor));
  expect(asked).toEqual(["file:///c"]);
  uris.reverse();
  asked.length = 0;
  for await (const _ of begin(session, {}, cursor));
  expect(asked).toEqual(uris);
});

test("a resource that has no end is told as too large, whatever was read before: the run knows what stays", async () => {
  const stored = { version: async () => "before", accessKey: async () => undefined, list: async function* () {} };
  const session = sessionOf({
    listResources: async () => ({ items: [{ uri: "file:///a.md", name: "a.md" }], leftOut: 0 }),
    async readResource() {
      throw new ApiError("payload_too_large", { message: "It has no end." });
    },
  });
  const events = await run(session, { stored });
  expect(events).toContainEqual(
    expect.objectContaining({
      t: "upsert",
      item: expect.objectContaining({ content: { type: "none", reason: "too_large" } }),
    }),
  );
});

/** A server with five templates that takes this long to complete one, by a clock of its own. */
function slowToComplete(answerMs: number) {
  let now = 1_800_000_000_000;
  const withins: number[] = [];
  const session = sessionOf({
    capabilities: { resources: true, tools: false, completions: true },
    listResources: async () => ({ items: [], leftOut: 0 }),
    listResourceTemplates: async () => ({
      items: ["a", "b", "c", "d", "e"].map((name) => ({ uriTemplate: `${name}://{id}`, name })),
      leftOut: 0,
    }),
    readResource: async (uri: string) => [{ type: "text", uri, text: uri }],
    async complete(_template: string, _argument: object, { withinMs }: { withinMs: number }) {
      withins.push(withinMs);
      now += Math.min(answerMs, withinMs);
      if (answerMs > withinMs) throw new McpProblem({ step: "complete", code: "timeout" });
      return { values: ["1"], hasMore: false };
    },
  });
  return { session, withins, clock: { now: () => now } };
}

test("templates are completed for a minute; what isn't is told, and nothing is removed for it", async () => {
  const { session, withins, clock } = slowToComplete(25_000);
  const events = await run(session, clock);
  expect(events.flatMap((event) => (event.t === "upsert" ? [event.item.externalId] : []))).toEqual([
    "resource:a://1",
    "resource:b://1",
  ]);
  expect(withins).toEqual([60_000, 35_000, 10_000]);
  expect(events.at(-1)).toMatchObject({
    t: "end",
    listing: "partial",
    why: expect.stringContaining("didn't complete 3 templates"),
  });
});

test("a run that was interrupted behind templates that were not completed still ends as partial", async () => {
  const { session, clock } = slowToComplete(70_000);
  let cursor: unknown;
  for await (const event of begin(session, clock)) {
    if (event.t !== "checkpoint") continue;
    cursor = event.cursor;
    if (JSON.stringify(cursor).includes('"part":"tools"')) break;
  }
  const rest: SyncEvent[] = [];
  for await (const event of begin(session, clock, cursor)) rest.push(event);
  expect(rest.at(-1)).toMatchObject({ listing: "partial", why: expect.stringContaining("5 templates") });
});

test("single items of templates that were not completed are not taken for gone", async () => {
  const { session, clock } = slowToComplete(70_000);
  const items = { mode: "items", externalIds: ["resource:a://1"] };
  const events: SyncEvent[] = [];
  for await (const event of begin(session, clock, null, items)) events.push(event);
  expect(events).toEqual([
    expect.objectContaining({ t: "skip", externalId: "resource:a://1", reason: "failed" }),
    { t: "end", listing: "partial", permissions: "not_checked" },
  ]);
});
