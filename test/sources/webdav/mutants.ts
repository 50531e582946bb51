import { type Runs, runsOf } from "#server/sync/run/run-session.ts";
import { ApiError, isApiError } from "#api/errors.ts";
import type { SyncContext } from "#sources/context.ts";
import type { SourceItem } from "#sources/item.ts";
import type { SyncEvent, SyncRequest } from "#server/sync/sync-events.ts";
import type { SourceHttp } from "#sources/http-contract.ts";
import { scripted } from "../../scripted.ts";
import type { KitFixture } from "../../kit/fixture.ts";

type Source = KitFixture["source"] & { sync: Runs<unknown> };
type Context = SyncContext<unknown>;
type Run = SyncRequest;

/** A small thing that is wrong, as when the source is written in a hurry, and the check that is there to see it. */
export interface Mutant {
  caughtBy: string;
  plant(source: Source): Partial<Source>;
}

export const MUTANTS: Readonly<Record<string, Mutant>> = {
  "only the first folder is listed": {
    caughtBy: "full-sync",
    plant: (source) => onEvents(source, (event) => (isBelow(event) ? [] : [event])),
  },
  "the version is the size": {
    caughtBy: "changes",
    plant: (source) => onEvents(source, (event, ctx) => (event.t === "upsert" ? seenBySize(event.item, ctx) : [event])),
  },
  "the version is the time of the run": {
    caughtBy: "idle",
    plant: (source) => ({
      sync: (ctx, run) => source.sync({ ...ctx, stored: { ...ctx.stored, version: async () => undefined } }, run),
    }),
  },
  "what was not listed stays for ever": {
    caughtBy: "changes",
    plant: (source) => onEvents(source, (event) => [event.t === "end" ? { ...event, listing: "partial" } : event]),
  },
  "a run goes on where another one stood": {
    caughtBy: "another-run",
    plant: (source) => ({
      sync: (ctx, run) => source.sync(ctx, { ...run, cursor: asOwn(run) }),
    }),
  },
  "a checkpoint before what it covers": {
    caughtBy: "resume",
    plant: (source) => ({ sync: (ctx, run) => checkpointsFirst(source.sync(ctx, run)) }),
  },
  "a folder that fails is empty": {
    caughtBy: "one-container",
    plant: (source) =>
      onEvents(source, (event) => {
        if (event.t === "refused" || (event.t === "skip" && event.reason === "failed")) return [];
        return event.t === "end" ? [{ t: "end", listing: event.listing, permissions: event.permissions }] : [event];
      }),
  },
  "a folder that fails ends the run": {
    caughtBy: "one-container",
    plant: (source) =>
      onEvents(source, (event) => {
        if (event.t === "refused") throw new ApiError("source_forbidden", { message: "No." });
        return [event];
      }),
  },
  "a server that can't be reached is empty": {
    caughtBy: "unreachable",
    plant: (source) => ({
      async *sync(ctx, run) {
        try {
          yield* source.sync(ctx, run);
        } catch (error) {
          if (!isApiError(error, "source_unavailable")) throw error;
          yield { t: "end", listing: "complete", permissions: "current" };
        }
      },
    }),
  },
  "a 429 is asked again at once": {
    caughtBy: "limited",
    plant: (source) => ({ sync: (ctx, run) => source.sync({ ...ctx, http: tirelessly(ctx.http) }, run) }),
  },
  "an abort is not passed on": {
    caughtBy: "hang",
    plant: (source) => ({
      sync: (ctx, run) => {
        const { signal } = new AbortController();
        return source.sync({ ...ctx, signal, http: ctx.http.until(signal) }, run);
      },
    }),
  },
  "the readers are never told": {
    caughtBy: "readers",
    plant: () => ({
      async *syncIdentities() {
        yield { t: "end", listing: "complete" };
      },
    }),
  },
  "an item names the connector's group": {
    caughtBy: "access",
    plant: (source) => onItems(source, (item, ctx) => naming(item, `group:connector:${ctx.connector.id}`)),
  },
  "an address is the path as it is": {
    caughtBy: "strange-content",
    plant: () => ({
      async fetchContent(ctx, { externalId }) {
        const url = new URL(externalId.replaceAll("\0", ""), (ctx.config as { url: string }).url);
        const { body } = await ctx.http.stream({ url, auth: true, allow: [404] });
        return { stream: body, fileName: externalId };
      },
    }),
  },
  "the scope is for the first level": {
    caughtBy: "scope",
    plant: (source) => ({
      sync: (ctx, run) => source.sync(ctx, { ...run, scope: { include: [], exclude: [] } }),
    }),
  },
  "check looks whether someone answers": {
    caughtBy: "bad-config",
    plant: (source) => ({
      async check(ctx) {
        const answer = await source.check(ctx);
        return answer.ok || answer.problem.code !== "source_unavailable" ? { ok: true } : answer;
      },
    }),
  },
};

/** The same fixture, whose source is wrong in this way. */
export function mutated(fixture: KitFixture, { plant }: Mutant): KitFixture {
  const runs = runsOf(fixture.source);
  if (runs === undefined) throw new Error("The source has no sessions.");
  const { sync, ...wrong } = plant({ ...fixture.source, sync: runs });
  const source = { ...fixture.source, ...wrong, ...(sync && { sessions: scripted(sync) }) };
  return { ...fixture, source, ...(sync && { runs: sync }) };
}

type OnEvent = (event: SyncEvent, ctx: Context, run: Run) => readonly SyncEvent[] | Promise<readonly SyncEvent[]>;

function onEvents(source: Source, map: OnEvent): Partial<Source> {
  return {
    async *sync(ctx, run) {
      for await (const event of source.sync(ctx, run)) yield* await map(event, ctx, run);
    },
  };
}

function onItems(source: Source, map: (item: SourceItem, ctx: Context) => SourceItem): Partial<Source> {
  return onEvents(source, (event, ctx) => [event.t === "upsert" ? { t: "upsert", item: map(event.item, ctx) } : event]);
}

function naming(item: SourceItem, principal: string): SourceItem {
  return { ...item, access: { known: true, all: [[principal]] } };
}

function isBelow(event: SyncEvent): boolean {
  return event.t === "upsert" && event.item.externalId.includes("/");
}

async function seenBySize(item: SourceItem, { stored }: Context): Promise<readonly SyncEvent[]> {
  const version = String(item.size);
  if ((await stored.version(item.externalId)) === version) return [{ t: "seen", externalIds: [item.externalId] }];
  return [{ t: "upsert", item: { ...item, version } }];
}

async function* checkpointsFirst(events: AsyncIterable<SyncEvent>): AsyncGenerator<SyncEvent, void> {
  let held: SyncEvent[] = [];
  for await (const event of events) {
    if (event.t === "upsert") {
      held.push(event);
      continue;
    }
    yield event;
    if (event.t !== "checkpoint") continue;
    yield* held;
    held = [];
  }
  yield* held;
}

/** Takes a limit for a failure that passes. */
function tirelessly(http: SourceHttp): SourceHttp {
  return {
    request: (request) => http.request(request),
    async stream(request) {
      for (;;) {
        const answer = await http.stream({ ...request, allow: [429] });
        if (answer.status !== 429) return answer;
      }
    },
    pages: (first, next) => http.pages(first, next),
    get sent() {
      return http.sent;
    },
    until: (signal) => tirelessly(http.until(signal)),
  };
}

/** The cursor, as one of this run. */
function asOwn({ cursor, runId }: Run): unknown {
  const { walk } = (cursor ?? {}) as { walk?: object };
  return walk ? { walk: { ...walk, runId } } : cursor;
}
