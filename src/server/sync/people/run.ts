import type { Authority, Principal } from "#core/principals.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import type { IdentityEvent, IdentityRun } from "#sources/identity-events.ts";
import { makeGroupPages } from "#storage/batch/group-pages.ts";
import {
  type EndedJoin,
  type PeopleEvent,
  type PeopleRefusal,
  type PeopleRun,
  type PeopleReporter,
} from "#storage/people-batch.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import { authorizeEvent } from "./authorized-events.ts";

export interface IdentityRunOptions {
  store: Pick<WorkspaceStore, "sourcePeople">;
  source: Pick<Source, "syncIdentities" | "spec">;
  context: SourceContext<unknown>;
  authority: Authority;
  /** The run's id; absent if no run is recorded. */
  syncId?: string;
  /** The run that reports, without the time. */
  reporter: Omit<PeopleReporter, "now">;
  /** Reads only these groups. */
  groups?: readonly Principal[];
  /** Groups and users that were last read before this time are read again. */
  dueBefore: number;
  now: () => number;
  signal: AbortSignal;
  /** Called after the source has ended these links between users and members. */
  onEnded(joins: readonly EndedJoin[]): Promise<void>;
}

/** How a run ended if it threw no error. */
export type IdentityRunEnd =
  | { type: "done"; isComplete: boolean; unread: number }
  | { type: "superseded"; reason: PeopleRefusal };

/** The numbers of events and of group members at which a slice is stored. */
const SLICE_EVENTS = 500;
const SLICE_MEMBERS = 50_000;

/**
 * Reads memberships. Stores everything in the order in which it was reported, in slices, each with the cursor that
 * covers it. A run that is killed and resumed ends in the same state.
 *
 * @throws errors of the source, and the signal's reason
 */
export async function runIdentities(options: IdentityRunOptions): Promise<IdentityRunEnd> {
  const { store, source, authority, now, signal } = options;
  const { position, cursor } = await store.sourcePeople.begin({ ...options.reporter, now: now() });
  const startedAt = now();
  const reporter = () => ({ ...options.reporter, begunAt: startedAt, now: now() });
  // The data from an earlier attempt was current when that attempt began, but may not be current now.
  const isResumed = options.reporter.mode === "whole" && cursor !== null;
  /** Counts that aren't stored with the run yet. An attempt that starts at the last checkpoint reports them again. */
  let uncounted = { identities: 0, strangers: 0 };
  const runOf = (more: PeopleRun["addCounts"] = {}) =>
    options.syncId === undefined ? {} : { run: { syncId: options.syncId, addCounts: more } };
  const pages = makeGroupPages();
  let waiting: PeopleEvent[] = [];
  let members = 0;
  let refusal: PeopleRefusal | undefined;

  /** @returns false when another worker has the run now */
  async function flush(checkpoint?: { cursor: string | null }): Promise<boolean> {
    if (waiting.length === 0 && checkpoint === undefined) return true;
    const events = waiting;
    [waiting, members] = [[], 0];
    const result = await store.sourcePeople.apply({
      ...reporter(),
      since: position,
      events,
      ...(checkpoint && { checkpoint }),
      ...runOf(checkpoint && { seen: uncounted.identities, skipped: uncounted.strangers }),
    });
    if (!result.isApplied) {
      refusal = result.reason;
      return false;
    }
    if (checkpoint) uncounted = { identities: 0, strangers: 0 };
    else uncounted.identities += result.counts.identities;
    if (result.endedJoins.length > 0) await options.onEnded(result.endedJoins);
    return true;
  }

  let end: Extract<IdentityEvent, { t: "end" }> | undefined;
  const run = toRun(options, cursor);
  for await (const event of source.syncIdentities?.({ ...options.context, signal }, run) ?? []) {
    signal.throwIfAborted();
    if (event.t === "end") {
      end = event;
      break;
    }
    if (event.t === "checkpoint") {
      // A cursor must not cover a partly read group, because its earlier pages would be lost with this attempt.
      if (pages.open().length > 0) continue;
      if (!(await flush({ cursor: JSON.stringify(event.cursor ?? null) }))) break;
      continue;
    }
    const judged = authorizeEvent(event, authority, pages, now());
    uncounted.strangers += judged.strangers;
    waiting.push(...judged.events);
    members += event.t === "group" ? event.members.length : 1;
    const isDue = waiting.length >= SLICE_EVENTS || members >= SLICE_MEMBERS;
    // A change of members is stored with the cursor that covers it, so it is never stored twice.
    if (isDue && !waiting.some(({ t }) => t === "member") && !(await flush())) break;
  }
  signal.throwIfAborted();
  if (refusal === undefined) await flush({ cursor: null });
  if (refusal !== undefined) return { type: "superseded", reason: refusal };
  if (!end) return { type: "done", isComplete: false, unread: 0 };

  const isComplete = end.listing === "complete";
  const notLookedAt = [...(end.notLookedAt ?? []), ...pages.open()];
  const ended = await store.sourcePeople.end({
    ...reporter(),
    ...runOf(),
    isComplete,
    notLookedAt,
    ...(isComplete && source.spec.isPeopleFeedGapless === true && !isResumed && { currentAt: startedAt }),
  });
  if (!ended.isApplied) return { type: "superseded", reason: ended.reason };
  if (ended.endedJoins.length > 0) await options.onEnded(ended.endedJoins);
  return { type: "done", isComplete, unread: notLookedAt.length };
}

function toRun({ store, reporter, groups, dueBefore }: IdentityRunOptions, cursor: string | null): IdentityRun {
  return {
    mode: reporter.mode,
    ...(groups && { groups }),
    cursor: cursor === null ? null : (JSON.parse(cursor) as unknown),
    async *due(limit) {
      const due = await store.sourcePeople.listDue(reporter.connectorId, { before: dueBefore, limit });
      yield* [...due.groups, ...due.users].slice(0, limit);
    },
    async *groupsReported() {
      yield* await store.sourcePeople.listGroups(reporter.connectorId, reporter.toldIn);
    },
  };
}
