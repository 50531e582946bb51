import { z } from "zod";
import type { SyncContext } from "#sources/context.ts";
import type { SessionSpec, WalkEnd, WalkEvent } from "#sources/session.ts";
import type { SyncEvent, SyncRequest } from "#server/sync/sync-events.ts";

type Script<Config> = (ctx: SyncContext<Config>, run: SyncRequest) => Iterable<SyncEvent> | AsyncIterable<SyncEvent>;

/** What a run says whose cursors look so. */
export type EventOf<Kept> =
  | Exclude<SyncEvent, { t: "checkpoint" }>
  | (Extract<SyncEvent, { t: "checkpoint" }> & { cursor: Kept });

/** Sessions that say what a test wants a run to say, event by event. Without an end they say that the listing is partial. */
export function scripted<Config = unknown>(script: Script<Config>): SessionSpec<Config> {
  return {
    cursor: z.unknown(),
    checkpoint: z.unknown(),
    batching: { everyMs: 0 },
    async open(ctx, { feed, ...asked }) {
      const run = (more: Partial<SyncRequest>) => script(ctx, { ...asked, cursor: feed ?? null, ...more });
      return {
        walk: ({ resume }) => walk(run(resume === undefined ? {} : { cursor: resume })),
        async *read(externalIds) {
          for await (const event of run({ externalIds }))
            if (event.t !== "checkpoint" && event.t !== "progress" && event.t !== "end") yield event;
        },
      };
    },
  };
}

async function* walk(events: ReturnType<Script<never>>): AsyncGenerator<WalkEvent<unknown>, WalkEnd<unknown>> {
  let cursor: unknown = null;
  let end: WalkEnd<unknown> = { complete: false, cursor, permissions: "not_checked" };
  for await (const event of events) {
    if (event.t === "checkpoint") {
      cursor = event.cursor;
      yield {
        t: "page",
        entries: [],
        checkpoint: cursor,
        ...(event.listings !== undefined && { listings: event.listings }),
      };
    } else if (event.t === "end") {
      for (const what of event.notLookedAt ?? []) yield { t: "failed", what, message: "It can't be read now." };
      const { listing, permissions, why } = event;
      end = { complete: listing === "complete", cursor, permissions, ...(why !== undefined && { why }) };
    } else if (event.t !== "progress") {
      yield event;
    }
  }
  return { ...end, cursor };
}
