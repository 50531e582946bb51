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

async function run(session: object, more: object = {}): Promise<SyncEvent[]> {
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
  const request = { mode: "full", runId: "syn_1", scope: { include: [], exclude: [] }, cursor: null };
  const events: SyncEvent[] = [];
  // What the source takes of a context and a request is all there.
  for await (const event of makeMcpSource().sync?.(context as never, request as never) ?? []) events.push(event);
  return events;
}

test("a list with ever new cursors ends as partial and says why", async () => {
  let pages = 0;
  const listResources = async () => ({ items: [], leftOut: 0, nextCursor: String(++pages) });
  const events = await run(sessionOf({ listResources }));
  expect(events.at(-1)).toMatchObject({
    t: "end",
    listing: "partial",
    why: expect.stringContaining("did not end after 1000 pages"),
  });
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
