import { expect, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import { makeMcpSource } from "#sources/mcp/index.ts";
import { McpConfig } from "#sources/mcp/config.ts";
import type { SyncEvent } from "#sources/contract.ts";
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

function begin(session: object, more: object = {}, cursor: unknown = null): AsyncIterable<SyncEvent> {
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
  const request = { mode: "full", runId: "syn_1", scope: { include: [], exclude: [] }, cursor };
  // What the source takes of a context and a request is all there.
  const events = makeMcpSource({ batching: { upserts: 1 } }).sync?.(context as never, request as never);
  if (events === undefined) throw new Error("The source can't sync.");
  return events;
}

async function run(session: object, more: object = {}): Promise<SyncEvent[]> {
  const events: SyncEvent[] = [];
  for await (const event of begin(session, more)) events.push(event);
  return events;
}

test("a list with ever new cursors has a place to stop at after each page, so that the engine's bound ends it", async () => {
  let pages = 0;
  const listResources = async () => ({ items: [], leftOut: 0, nextCursor: String(++pages) });
  const checkpoints: unknown[] = [];
  for await (const event of begin(sessionOf({ listResources }))) {
    if (event.t === "checkpoint") checkpoints.push(event);
    if (pages === 3_000) break;
  }
  expect(checkpoints).toHaveLength(3_000);
  expect(checkpoints.at(-1)).toMatchObject({ looks: 1, cursor: { place: { cursor: "3000" } } });
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
