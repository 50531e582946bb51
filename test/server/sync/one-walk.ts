import { z } from "zod";
import { accessKeyOf } from "#core/access-key.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { SyncContext } from "#sources/context.ts";
import type { SourceItem } from "#sources/item.ts";
import type { SyncEvent, SyncRequest } from "#server/sync/sync-events.ts";
import type { Batching, OpenRequest, Session, WalkEnd, WalkEvent, WalkRequest } from "#sources/session.ts";
import { runSessions } from "#server/sync/run/run-session.ts";

export type Place = { at: number };
export type Walk = (run: WalkRequest<string, Place>) => AsyncGenerator<WalkEvent<Place>, WalkEnd<string>>;

export const EVERYONE: SourceAccess = { known: true, all: [["workspace"]] };
export const END: WalkEnd<string> = { complete: true, cursor: "later", permissions: "current" };

export const itemOf = (externalId: string): SourceItem => ({
  externalId,
  kind: "file",
  title: externalId,
  content: { type: "none" },
});

/** A source of one walk, over what is stored: the version of each id. */
export function open(
  walk: Walk,
  {
    stored = {},
    read,
    opened = [],
    batching = { everyMs: 0 },
  }: {
    stored?: Record<string, string>;
    read?: Session<string, Place>["read"];
    opened?: OpenRequest<string, Place>[];
    batching?: Partial<Batching>;
  },
) {
  let closed = 0;
  const sync = runSessions<unknown, string, Place>({
    cursor: z.string(),
    checkpoint: z.object({ at: z.number() }),
    open: async (_ctx: unknown, request: OpenRequest<string, Place>) =>
      (opened.push(request), { walk, read: read ?? (async function* () {})(), close: () => void closed++ }) as never,
    batching,
  });
  const abort = new AbortController();
  const ctx = {
    signal: abort.signal,
    now: () => 0,
    stored: {
      version: async (id: string) => stored[id],
      accessKey: async () => accessKeyOf(EVERYONE),
      list: async function* () {},
    },
  } as unknown as SyncContext<unknown>;
  const run = async (request: Partial<SyncRequest> = {}): Promise<SyncEvent[]> => {
    const events: SyncEvent[] = [];
    const whole = {
      mode: "full",
      runId: "one",
      scope: { include: [], exclude: [] },
      cursor: null,
      ...request,
    } as never;
    for await (const event of sync(ctx, whole)) events.push(event);
    return events;
  };
  return { run, abort, closed: () => closed };
}

export const cursorsOf = (events: readonly SyncEvent[]) =>
  events.flatMap((event) => (event.t === "checkpoint" ? [event.cursor] : []));
export const told = (events: readonly SyncEvent[]) => events.filter(({ t }) => t !== "checkpoint" && t !== "progress");
