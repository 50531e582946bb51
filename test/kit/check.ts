import type { SourceItem } from "#sources/item.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import type { KitFixture } from "./fixture.ts";
import { copyReplica, makeReplica, type Replica, runInto } from "./replica.ts";

/** Milliseconds after which a run that was aborted counts as going on: a busy machine needs long for what takes no time. */
const ABORT_MS = 4_000;

export const abortMsOf = ({ abortMs = ABORT_MS }: KitFixture): number => abortMs;

/** One thing every source must get right. Gives the faults found, each a sentence; none = passed. */
export interface SourceCheck {
  id: string;
  title: string;
  /** Leaves the remote as it was, and the source with nothing to remember: these checks share one fixture. */
  isReading?: true;
  /** Where a fixture can't do this, there is nothing to see. */
  needs?: keyof KitFixture;
  run(fixture: KitFixture): Promise<string[]>;
}

/**
 * A first full run over everything, which the checks that share a fixture share as well: its events, and a copy of what is
 * stored after it. For checks that change nothing.
 */
export async function readAll(fixture: KitFixture): Promise<{ events: readonly SyncEvent[]; replica: Replica }> {
  let running = firstRuns.get(fixture);
  if (!running) {
    const replica = makeReplica();
    running = runInto(fixture, replica).then(({ events }) => ({ events, replica }));
    firstRuns.set(fixture, running);
  }
  const { events, replica } = await running;
  return { events, replica: copyReplica(replica) };
}

const firstRuns = new WeakMap<KitFixture, Promise<{ events: readonly SyncEvent[]; replica: Replica }>>();

/** The items of upserts, in order. */
export function itemsOf(events: readonly SyncEvent[]): SourceItem[] {
  return events.flatMap((event) => (event.t === "upsert" ? [event.item] : []));
}

/** Ids of items that an event names. */
export function namedIn(event: SyncEvent): readonly string[] {
  if (event.t === "upsert") return [event.item.externalId];
  if (event.t === "seen") return event.externalIds;
  return event.t === "access" || event.t === "delete" ? [event.externalId] : [];
}

/** A sentence for each difference, three at most. */
export function sameFaults(expected: readonly string[], actual: readonly string[], what: string): string[] {
  const [wanted, got] = [new Set(expected), new Set(actual)];
  const missing = expected.filter((item) => !got.has(item)).map((item) => `${what}: missing ${item.slice(0, 300)}`);
  const extra = actual.filter((item) => !wanted.has(item)).map((item) => `${what}: unexpected ${item.slice(0, 300)}`);
  return [...missing, ...extra].slice(0, 3);
}

export function itemFaults(item: SourceItem, { source }: KitFixture): string[] {
  const id = JSON.stringify(item.externalId);
  const faults: string[] = [];
  if (item.externalId === "") faults.push("An item has an empty id.");
  if (item.title.trim() === "") faults.push(`${id} has no readable title.`);
  if (/\p{Cs}/u.test(item.title)) faults.push(`${id} has half a character in its title.`);
  if (!source.spec.kinds.includes(item.kind)) faults.push(`${id} is a ${item.kind}, which the spec does not name.`);
  if (item.version === undefined) faults.push(`${id} has no version.`);
  return faults;
}

/** What a promise is rejected with; undefined when it is not. */
export async function failureOf(promise: Promise<unknown>): Promise<unknown> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    return error ?? new Error("nothing");
  }
}
