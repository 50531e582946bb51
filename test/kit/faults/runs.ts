import { type Event, type Faults, forgetful, checkpointsFirst, onEvents, onItems } from "./plant.ts";

/** Faults in what a run says. */
export const RUNS: Faults = {
  "a checkpoint ahead of what it covers": {
    caughtBy: "resume",
    plant: (source) => ({ sync: (ctx, run) => checkpointsFirst(source.sync(ctx, run)) }),
  },
  "removals are never told": {
    caughtBy: "changes",
    plant: (source) => ({
      async *sync(ctx, run) {
        for await (const event of source.sync(ctx, run)) {
          if (event.t === "end") yield { t: "end", listing: "partial", permissions: "current" };
          else if (event.t !== "delete") yield event;
        }
      },
    }),
  },
  "an increment names everything again": {
    caughtBy: "idle",
    plant: (source) => ({ sync: (ctx, run) => source.sync(forgetful(ctx), { ...run, cursor: null }) }),
  },
  "the scope is ignored": {
    caughtBy: "scope",
    plant: (source) => ({ sync: (ctx, run) => source.sync(ctx, { ...run, scope: { include: [], exclude: [] } }) }),
  },
  "there is no end": {
    caughtBy: "full-sync",
    plant: (source) => onEvents(source, (event) => (event.t === "end" ? [] : [event])),
  },
  "there is no last checkpoint": {
    caughtBy: "full-sync",
    plant: (source) => onEvents(source, (event) => (event.t === "checkpoint" ? [] : [event])),
  },
  "a listing is complete though another run began it": {
    caughtBy: "another-run",
    plant: (source) => ({
      sync: (ctx, run) =>
        source.sync(ctx, run.cursor?.walk ? { ...run, runId: run.cursor.walk.runId, mode: "full" } : run),
    }),
  },
  "the cursor is now": {
    caughtBy: "edit-during-walk",
    plant: (source, { provider }) => ({
      async *sync(ctx, run) {
        const named = new Set<string>();
        for await (const event of source.sync(ctx, run)) {
          // Without what it says at the end of what changed meanwhile.
          if (event.t === "upsert" && named.has(event.item.externalId)) continue;
          if (event.t === "upsert") named.add(event.item.externalId);
          const isLast = event.t === "checkpoint" && event.cursor.walk === undefined;
          yield isLast ? { t: "checkpoint", cursor: { feed: { since: provider.latest() } } } : event;
        }
      },
    }),
  },
  "an id is handed over twice": {
    caughtBy: "full-sync",
    plant: (source) => onItems(source, (item) => (item.externalId === "p2" ? { ...item, externalId: "p1" } : item)),
  },
  "an abort is ignored": {
    caughtBy: "abort",
    plant: (source) => ({
      async *sync(ctx, run) {
        const events: Event[] = [];
        for await (const event of source.sync(ctx, run)) events.push(event);
        for (const event of events) {
          if (ctx.signal.aborted) await new Promise((resolve) => setTimeout(resolve, 60_000).unref());
          yield event;
        }
      },
    }),
  },
  "the progress runs backwards": {
    caughtBy: "progress",
    plant: (source) =>
      onEvents(source, (event) => (event.t === "progress" ? [{ t: "progress", done: 100 - event.done }] : [event])),
  },
  "mode items throws": {
    caughtBy: "items",
    plant: (source) => ({
      async *sync(ctx, run) {
        if (run.mode === "items") throw new Error("not yet");
        yield* source.sync(ctx, run);
      },
    }),
  },
  "a page that moved is only seen": {
    caughtBy: "moved",
    plant: (source) => ({
      async *sync(ctx, run) {
        for await (const event of source.sync(ctx, run)) {
          const { externalId, version } = event.t === "upsert" ? event.item : {};
          const isSame = externalId !== undefined && (await ctx.stored.version(externalId)) === version;
          yield isSame ? { t: "seen", externalIds: [externalId] } : event;
        }
      },
    }),
  },
  "a forgotten cursor is a gap": {
    caughtBy: "expired-cursor",
    plant: (source, { provider }) => ({
      sync: (ctx, run) =>
        source.sync(ctx, run.mode === "incremental" ? { ...run, cursor: { feed: { since: provider.latest() } } } : run),
    }),
  },
  "a strange cursor is a gap": {
    caughtBy: "strange-cursor",
    plant: (source, { provider }) => ({
      sync: (ctx, run) =>
        source.sync(
          ctx,
          run.mode === "incremental" && run.cursor?.feed === undefined
            ? { ...run, cursor: { feed: { since: provider.latest() } } }
            : run,
        ),
    }),
  },
  "a run of some items lists everything": {
    caughtBy: "items",
    plant: (source) => ({
      async *sync(ctx, run) {
        for await (const event of source.sync(ctx, run.mode === "items" ? { ...run, mode: "full" } : run))
          yield event.t === "end" && run.mode === "items" ? { ...event, listing: "partial" } : event;
      },
    }),
  },
  "an item that has another id is another item": {
    caughtBy: "renamed",
    plant: (source) => onItems(source, ({ formerId: _formerId, ...item }) => item),
  },
  "an item that has another id is deleted first": {
    caughtBy: "renamed",
    plant: (source) =>
      onEvents(source, (event) => {
        const former = event.t === "upsert" ? event.item.formerId : undefined;
        return former === undefined ? [event] : [{ t: "delete", externalId: former }, event];
      }),
  },
  "another account is told what was read for the former": {
    caughtBy: "account-swapped",
    plant: (source) => {
      const read = new Map<string, Event[]>();
      return {
        async *sync(ctx, run) {
          const before = run.mode === "full" ? read.get(ctx.config.url) : undefined;
          const events: Event[] = [];
          for await (const event of before ?? source.sync(ctx, run)) {
            events.push(event);
            yield event;
          }
          if (run.mode === "full") read.set(ctx.config.url, events);
        },
      };
    },
  },
};
