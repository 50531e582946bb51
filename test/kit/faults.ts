import { z } from "zod";
import type { SourceItem, SyncContext, SyncEvent, SyncRequest } from "#sources/contract.ts";
import type { IdentityEvent } from "#sources/identity-events.ts";
import { CONNECTOR_ID, type KitFixture } from "./fixture.ts";
import type { PeopleCursor } from "./reference/people.ts";
import type { ReferenceCursor } from "./reference/source.ts";
import { makeReferenceFixture } from "./reference/fixture.ts";
import { TOKEN } from "./reference/provider.ts";

type Made = Awaited<ReturnType<typeof makeReferenceFixture>>;
type Fixture = Made["fixture"];
type Source = Fixture["source"];
type Event = SyncEvent<ReferenceCursor>;
type Context = SyncContext<{ url: string }>;
type Run = SyncRequest<ReferenceCursor>;
type Told = IdentityEvent<PeopleCursor>;

/** What is wrong with a source: each changes one thing of the reference source. */
type Planted = Partial<Omit<Source, "spec" | "originOf">> & {
  spec?: KitFixture["source"]["spec"];
  originOf?: undefined;
};
type Plant = (source: Source, world: Made) => Planted;

/** The fault, and the one check that is there to see it; others may see it as well. */
interface Fault {
  caughtBy: string;
  plant: Plant;
}

/** Every way of being wrong that the kit must see. */
export const FAULTS: Readonly<Record<string, Fault>> = {
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
  "check throws": {
    caughtBy: "bad-config",
    plant: (source) => ({
      async check(ctx) {
        const answer = await source.check(ctx);
        if (!answer.ok) throw new Error("no such wiki");
        return answer;
      },
    }),
  },
  "check accepts anything": { caughtBy: "bad-config", plant: () => ({ check: async () => ({ ok: true }) }) },
  "items say nothing of access": {
    caughtBy: "access",
    // What a source in plain JavaScript, or one that trusts a reply, would hand over.
    plant: (source) => onItems(source, (item) => ({ ...item, access: JSON.parse("{}") })),
  },
  "an access without a list": {
    caughtBy: "access",
    plant: (source) => onItems(source, (item) => ({ ...item, access: { known: true, all: [] } })),
  },
  "another connector's group": {
    caughtBy: "access",
    plant: (source) => onItems(source, naming("group:con_bbbbbbbbbbbbbbbb:space")),
  },
  "all who have the connector": {
    caughtBy: "access",
    plant: (source) => onItems(source, naming(`group:connector:${CONNECTOR_ID}`)),
  },
  "the workspace instead of the group": { caughtBy: "access", plant: (source) => onItems(source, naming("workspace")) },
  "every item is nobody's": {
    caughtBy: "readers",
    plant: (source) => onItems(source, (item) => ({ ...item, access: { known: false } })),
  },
  "the scope is ignored": {
    caughtBy: "scope",
    plant: (source) => ({ sync: (ctx, run) => source.sync(ctx, { ...run, scope: { include: [], exclude: [] } }) }),
  },
  "inScope is always false": { caughtBy: "in-scope", plant: () => ({ inScope: () => false }) },
  "versions are drawn anew": {
    caughtBy: "repeatable",
    plant: (source) => {
      let drawn = 0;
      return onItems(source, (item) => ({ ...item, version: `v${++drawn}` }));
    },
  },
  "items have no version": {
    caughtBy: "full-sync",
    plant: (source) => onItems(source, ({ version: _version, ...item }) => item),
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
        source.sync(
          ctx,
          run.cursor?.type === "listing" ? { ...run, runId: run.cursor.runId ?? "", mode: "full" } : run,
        ),
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
          const isLast = event.t === "checkpoint" && event.cursor.type === "changes";
          yield isLast ? { t: "checkpoint", cursor: { type: "changes", since: provider.latest() } } : event;
        }
      },
    }),
  },
  "a link is a script": {
    caughtBy: "urls",
    plant: (source) => onItems(source, (item) => ({ ...item, url: "javascript:alert(1)" })),
  },
  "a title is empty": {
    caughtBy: "odd-titles",
    plant: (source) => onItems(source, (item) => ({ ...item, title: item.title === "Untitled" ? "" : item.title })),
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
          if (ctx.signal.aborted) await new Promise((resolve) => setTimeout(resolve, 250).unref());
          yield event;
        }
      },
    }),
  },
  "content of anything": {
    caughtBy: "content",
    plant: () => ({
      fetchContent: async (_ctx, { externalId }) => ({ bytes: Buffer.from("text"), fileName: externalId }),
    }),
  },
  "content of paths that lead out": {
    caughtBy: "strange-content",
    plant: (source) => ({
      fetchContent: async (ctx, item) =>
        item.externalId.startsWith("../")
          ? { bytes: Buffer.from("root:x:0"), fileName: "passwd" }
          : source.fetchContent(ctx, item),
    }),
  },
  "content that is newer than its listing": {
    caughtBy: "content-version",
    plant: (source) => ({
      async fetchContent(ctx, item) {
        const { version: _version, ...content } = await source.fetchContent(ctx, item);
        return content;
      },
    }),
  },
  "a key of the configuration is not explained": {
    caughtBy: "config-schema",
    plant: ({ spec }) => ({ spec: { ...spec, config: z.strictObject({ url: z.string() }) } }),
  },
  "no schema of credentials": {
    caughtBy: "credentials",
    plant: ({ spec: { credentials: _credentials, ...spec } }) => ({ spec }),
  },
  "no origin that credentials are for": {
    caughtBy: "credentials",
    plant: () => ({ originOf: undefined }),
  },
  "browse throws": {
    caughtBy: "browse",
    plant: () => ({
      async browse() {
        throw new Error("not yet");
      },
    }),
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
  "access changes are never told again": {
    caughtBy: "access-changes",
    plant: (source) => ({
      async *syncIdentities(ctx, run) {
        if (run.mode === "whole") yield* source.syncIdentities(ctx, run);
        else yield { t: "end", listing: "partial" };
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
  "a secret in a message": {
    caughtBy: "secrets",
    plant: (source) => ({
      async check(ctx) {
        const answer = await source.check(ctx);
        if (answer.ok) return answer;
        const message = `${answer.problem.message} The token was ${TOKEN}.`;
        return { ok: false, problem: { ...answer.problem, message } };
      },
    }),
  },
  "an unreachable remote is empty": {
    caughtBy: "unreachable",
    plant: (source) => ({
      async *sync(ctx, run) {
        try {
          yield* source.sync(ctx, run);
        } catch {
          yield { t: "end", listing: "complete", permissions: "current" };
        }
      },
    }),
  },
  "a remote that says 401 is unreachable": {
    caughtBy: "unauthorized",
    plant: (source) => ({
      async *sync(ctx, run) {
        try {
          yield* source.sync(ctx, run);
        } catch (error) {
          throw new Error("Something failed.", { cause: error });
        }
      },
    }),
  },
  "a 429 is tried again and again": {
    caughtBy: "limited",
    plant: (source) => ({
      async *sync(ctx, run) {
        for (;;) {
          try {
            return yield* source.sync(ctx, run);
          } catch {
            ctx.signal.throwIfAborted();
          }
        }
      },
    }),
  },
  "a request that hangs ignores the abort": {
    caughtBy: "hang",
    plant: (source) => ({
      async *sync(ctx, run) {
        // A way out of its own, which nobody told of the abort.
        await fetch(`${ctx.config.url}/me`);
        yield* source.sync(ctx, run);
      },
    }),
  },
  "a refused container is taken for empty": {
    caughtBy: "one-container",
    plant: (source) =>
      onEvents(source, (event) => {
        if (event.t === "refused") return [];
        return [event.t === "end" ? { t: "end", listing: event.listing, permissions: "current" } : event];
      }),
  },
  "a refusal is not told": {
    caughtBy: "engine",
    plant: (source) => onEvents(source, (event) => (event.t === "refused" ? [] : [event])),
  },
  "an item that is refused ends the run": {
    caughtBy: "one-item",
    plant: (source) => ({
      async *sync(ctx, run) {
        for await (const event of source.sync(ctx, run)) {
          if (event.t === "upsert") await source.fetchContent(ctx, { externalId: event.item.externalId });
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
  "people never end": {
    caughtBy: "people-end",
    plant: (source) => onPeople(source, (event) => (event.t === "end" ? [{ t: "end", listing: "partial" }] : [event])),
  },
  "a group that is gone is the same": {
    caughtBy: "groups-end",
    plant: (source) => {
      const known = new Set<string>();
      return onPeople(source, (event) => {
        if (event.t === "group") known.add(event.group);
        return event.t === "end" ? [{ t: "group_same", groups: [...known] }, event] : [event];
      });
    },
  },
  "a stale delta is replayed": {
    caughtBy: "people-changes",
    plant: (source) => {
      const former: Told[] = [];
      return {
        async *syncIdentities(ctx, run) {
          for await (const event of source.syncIdentities(ctx, run)) {
            if (event.t === "end" && run.mode === "changes") yield* former;
            if (event.t === "group")
              former.push(...event.members.map((member) => ({ t: "member" as const, group: event.group, member })));
            yield event;
          }
        },
      };
    },
  },
  "the credential goes wherever a link leads": {
    caughtBy: "elsewhere",
    plant: (source) => ({
      async *sync(ctx, run) {
        // A listing read without the source's client, which would not follow.
        const headers = { authorization: `Bearer ${TOKEN}` };
        for (let next: string | undefined = `${ctx.config.url}/spaces`; next !== undefined;) {
          const answer: Response = await fetch(next, { headers, signal: ctx.signal });
          next = answer.ok ? z.object({ next: z.string().optional() }).parse(await answer.json()).next : undefined;
        }
        yield* source.sync(ctx, run);
      },
    }),
  },
  "a forgotten cursor is a gap": {
    caughtBy: "expired-cursor",
    plant: (source, { provider }) => ({
      sync: (ctx, run) =>
        source.sync(
          ctx,
          run.mode === "incremental" ? { ...run, cursor: { type: "changes", since: provider.latest() } } : run,
        ),
    }),
  },
  "a strange cursor is a gap": {
    caughtBy: "strange-cursor",
    plant: (source, { provider }) => ({
      sync: (ctx, run) =>
        source.sync(
          ctx,
          run.mode === "incremental" && run.cursor?.type === undefined
            ? { ...run, cursor: { type: "changes", since: provider.latest() } }
            : run,
        ),
    }),
  },
};

/** The reference fixture, whose source is wrong in this way. */
export async function makeFaultyFixture(fault: Fault): Promise<KitFixture> {
  const made = await makeReferenceFixture();
  const source = { ...made.fixture.source, ...fault.plant(made.fixture.source, made) };
  return { ...made.fixture, source } as KitFixture;
}

function onEvents(source: Source, map: (event: Event, ctx: Context, run: Run) => readonly Event[]): Planted {
  return {
    async *sync(ctx, run) {
      for await (const event of source.sync(ctx, run)) yield* map(event, ctx, run);
    },
  };
}

function onItems(source: Source, map: (item: SourceItem) => SourceItem): Planted {
  return onEvents(source, (event) => [event.t === "upsert" ? { t: "upsert", item: map(event.item) } : event]);
}

function onPeople(source: Source, map: (event: Told) => readonly Told[]): Planted {
  return {
    async *syncIdentities(ctx, run) {
      for await (const event of source.syncIdentities(ctx, run)) yield* map(event);
    },
  };
}

function naming(principal: string): (item: SourceItem) => SourceItem {
  return (item) => ({ ...item, access: { known: true, all: [[principal]] } });
}

async function* checkpointsFirst(events: AsyncIterable<Event>): AsyncGenerator<Event, void> {
  let held: Event[] = [];
  for await (const event of events) {
    if (event.t === "upsert") {
      held.push(event);
      continue;
    }
    if (event.t === "checkpoint") {
      yield event;
      yield* held;
      held = [];
    } else {
      yield event;
    }
  }
  yield* held;
}

/** As if nothing were stored. */
function forgetful(ctx: Context): Context {
  return { ...ctx, stored: { ...ctx.stored, version: async () => undefined } };
}
