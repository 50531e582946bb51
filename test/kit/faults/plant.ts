import { createHmac } from "node:crypto";
import { z } from "zod";
import type { StoredCursor } from "#server/sync/run/stored-cursor.ts";
import { runSessions } from "#server/sync/run/run-session.ts";
import { formatPrincipal } from "#core/principals.ts";
import type { SyncContext } from "#sources/context.ts";
import type { SourceItem } from "#sources/item.ts";
import type { SyncRequest } from "#server/sync/sync-events.ts";
import type { IdentityEvent } from "#sources/identity-events.ts";
import type { WebhookDelivery, WebhookRequest } from "#sources/webhook.ts";
import { type EventOf, scripted } from "../../scripted.ts";
import type { KitFixture } from "../fixture.ts";
import { makeReferenceFixture } from "../reference/fixture.ts";
import type { PeopleCursor } from "../reference/people.ts";
import type { Checkpoint, ReferenceCursor } from "../reference/sync.ts";

type Made = Awaited<ReturnType<typeof makeReferenceFixture>>;
type Source = Made["fixture"]["source"] & { sync: (ctx: Context, run: Run) => AsyncGenerator<Event, void> };
/** What a run of the reference source stores. */
export type ReferenceKept = StoredCursor<ReferenceCursor, Checkpoint>;
export type Event = EventOf<ReferenceKept>;
type Context = SyncContext<{ url: string }>;
type Run = SyncRequest & { cursor: ReferenceKept | null };
export type Told = IdentityEvent<PeopleCursor>;

/** What is wrong with a source: each changes one thing of the reference source. */
type Planted = Partial<Omit<Source, "spec" | "baseUrlOf" | "webhook">> & {
  spec?: KitFixture["source"]["spec"];
  baseUrlOf?: undefined;
  webhook?: Source["webhook"];
};

/** The fault, and the one check that is there to see it; others may see it as well. */
interface Fault {
  caughtBy: string;
  plant(source: Source, world: Made): Planted;
}

export type Faults = Readonly<Record<string, Fault>>;

/** The reference fixture, whose source is wrong in this way. */
export async function makeFaultyFixture(fault: Fault): Promise<KitFixture> {
  const made = await makeReferenceFixture();
  const runs = runSessions(made.fixture.source.sessions) as Source["sync"];
  const { sync, ...wrong } = fault.plant({ ...made.fixture.source, sync: runs }, made);
  const source = { ...made.fixture.source, ...wrong, ...(sync && { sessions: scripted(sync as never) }) };
  // What goes on after an abort goes on for ever.
  return { ...made.fixture, source, ...(sync && { runs: sync }), abortMs: 300 } as KitFixture;
}

export function onEvents(source: Source, map: (event: Event, ctx: Context, run: Run) => readonly Event[]): Planted {
  return {
    async *sync(ctx, run) {
      for await (const event of source.sync(ctx, run)) yield* map(event, ctx, run);
    },
  };
}

export function onItems(source: Source, map: (item: SourceItem) => SourceItem): Planted {
  return onEvents(source, (event) => [event.t === "upsert" ? { t: "upsert", item: map(event.item) } : event]);
}

export function onPeople(source: Source, map: (event: Told) => readonly Told[]): Planted {
  return {
    async *syncIdentities(ctx, run) {
      for await (const event of source.syncIdentities(ctx, run)) yield* map(event);
    },
  };
}

export function naming(...principals: string[]): (item: SourceItem) => SourceItem {
  return (item) => ({ ...item, access: { known: true, all: [principals] } });
}

export async function* checkpointsFirst(events: AsyncIterable<Event>): AsyncGenerator<Event, void> {
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
export function forgetful(ctx: Context): Context {
  return { ...ctx, stored: { ...ctx.stored, version: async () => undefined } };
}

/** Gives what is there now, as the version that was asked for. */
export function claiming(source: Source): Planted {
  return {
    async fetchContent(ctx, item: { externalId: string; version?: string }) {
      const content = await source.fetchContent(ctx, item);
      return { ...content, version: item.version ?? content.version ?? "" };
    },
  };
}

/** A source that mirrors nothing: its configuration names the readers. */
export function withReaders(source: Source): Planted & Required<Pick<Planted, "spec">> {
  const reader = z.string().regex(/^(workspace|grp_[a-z0-9]+)$/);
  const readers = z.array(reader).default(["workspace"]).meta({ title: "Readers", description: "Who may read." });
  const Config = z.object({ readers });
  return {
    spec: { ...source.spec, acl: "connector", config: source.spec.config.extend({ readers }) },
    async *sync(ctx, run) {
      const named = Config.parse(ctx.config).readers.map((id) =>
        id === "workspace" ? id : formatPrincipal({ type: "group", groupId: id }),
      );
      for await (const event of source.sync(ctx, run))
        yield event.t === "upsert" ? { t: "upsert", item: naming(...named)(event.item) } : event;
    },
  };
}

/** Tells its groups at the beginning of those runs instead of by themselves. */
export function toldInSync(source: Source, isTold: (run: Run) => boolean = () => true): Planted {
  return {
    async *sync(ctx, run) {
      const whole = { mode: "whole", cursor: null, async *due() {}, async *groupsReported() {} } as const;
      for await (const event of isTold(run) ? source.syncIdentities(ctx, whole) : [])
        if (event.t === "group") yield event;
      yield* source.sync(ctx, run);
    },
    ...onPeople(source, (event) => (event.t === "group" || event.t === "member" ? [] : [event])),
  };
}

export function onDelivery(webhook: Source["webhook"], map: (said: WebhookDelivery) => WebhookDelivery): Planted {
  return {
    webhook: {
      verify(secret, request) {
        const said = webhook.verify(secret, request);
        return said === "refused" ? said : map(said);
      },
    },
  };
}

/** The request as the provider would have signed it. */
export function signed(secret: string, request: WebhookRequest): WebhookRequest {
  const signature = createHmac("sha256", secret).update(request.rawBody).digest("hex");
  return { ...request, headers: new Headers({ "x-reference-signature": signature }) };
}
