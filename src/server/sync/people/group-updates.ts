import { mayName, parsePrincipal, type Authority, type Principal } from "#core/principals.ts";
import type { Source } from "#sources/contract.ts";
import type { ContainerRef } from "#sources/item.ts";
import type { SourceRef } from "#sources/outcomes.ts";
import { defined } from "#core/defined.ts";
import { makeGroupPages } from "#storage/batch/group-pages.ts";
import type { EndedJoin, PeopleBatch, PeopleEnd, PeopleEvent, PeopleResult } from "#storage/people-batch.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import type { SyncEnd, SyncEvent } from "#server/sync/sync-events.ts";
import { isMirror, isProof } from "#server/sync/clocks.ts";
import { containerEntityId } from "#server/sync/items/entities.ts";
import { authorizeEvent } from "./authorized-events.ts";

export interface GroupUpdateOptions {
  store: Pick<WorkspaceStore, "workspaceId" | "sourcePeople" | "access">;
  source: Pick<Source, "spec">;
  connector: Pick<ConnectorRecord, "connectorId" | "lastFullAt">;
  sync: Pick<SyncRecord, "syncId" | "mode" | "startedAt">;
  /** The job's claim under which this run works. */
  lease: { jobId: string; owner: string };
  /** The principals that the connector may name, and whether its users may be members here. Source: S2. */
  authority: Authority;
  isTrusted: boolean;
  /** Called after a report from the source has ended links between users and members. */
  onEndedJoins(joins: readonly EndedJoin[]): Promise<void>;
  /** Called at the end of a run that reported users. Links members whose verified addresses match. */
  linkUsers(): Promise<void>;
  now: () => number;
}

export type GroupUpdate = Extract<SyncEvent, { t: "group" | "member" | "identity" }>;

type GroupUpdateRefusal = "lease_lost" | "connector_inactive";

/** The groups and users that a run reports between its items, prepared for the next batch. */
export type GroupUpdates = Awaited<ReturnType<typeof makeGroupUpdates>>;

/** The numbers of events and of group members at which a batch is due. */
const BATCH_EVENTS = 500;
const BATCH_MEMBERS = 50_000;

/** Makes the group updates of a run. It costs nothing if the source reports no groups or users. */
export async function makeGroupUpdates(options: GroupUpdateOptions) {
  const { store, source, sync, lease, authority, now } = options;
  const { connectorId, lastFullAt } = options.connector;
  const { sourcePeople } = store;
  const fixed = {
    connectorId,
    toldIn: "sync" as const,
    isTrusted: options.isTrusted,
    runId: sync.syncId,
    // A run of selected items lists nothing completely.
    mode: sync.mode === "items" ? ("groups" as const) : ("whole" as const),
    job: { jobId: lease.jobId, leaseOwner: lease.owner },
    maxAclAgeMs: await store.access.maxAclAgeMs(),
    ...(!isMirror(source.spec) && { neverAges: true }),
  };
  const reporter = () => ({ ...fixed, now: now() });
  const pages = makeGroupPages();
  let since: number | undefined;
  let waiting: PeopleEvent[] = [];
  let members = 0;
  let strangers = 0;
  let hasUsers = false;
  /** The number of waiting events that the next cursor covers. */
  let covered = 0;

  async function begin(): Promise<void> {
    since ??= (await sourcePeople.begin(reporter())).position;
  }

  const homeOf = (container: ContainerRef) => containerEntityId(store.workspaceId, connectorId, container);
  const homesOf = (event: GroupUpdate) =>
    event.t === "group" && event.containers ? event.containers.map(homeOf) : undefined;

  async function finish(
    end: Pick<PeopleEnd, "isComplete" | "notLookedAt" | "homesNotLookedAt" | "home" | "currentAt">,
  ) {
    const ended = await sourcePeople.end({ ...reporter(), ...end });
    if (!ended.isApplied) return ended.reason === "connector_inactive" ? ended.reason : "lease_lost";
    if (ended.endedJoins.length > 0) await options.onEndedJoins(ended.endedJoins);
    return undefined;
  }

  return {
    async add(event: GroupUpdate, at: number): Promise<void> {
      await begin();
      const judged = authorizeEvent({ ...event, ...defined({ homes: homesOf(event) }) }, authority, pages, at);
      strangers += judged.strangers;
      hasUsers ||= event.t === "identity";
      waiting.push(...judged.events);
      for (const reading of judged.events) members += reading.t === "group" ? reading.count : 1;
    },
    /** Records that the source refused to show a group. */
    async refuse(group: Principal): Promise<void> {
      if (parsePrincipal(group)?.type !== "source_group" || !mayName(group, authority)) {
        strangers++;
        return;
      }
      await begin();
      pages.drop(group);
      const without = (events: readonly PeopleEvent[]) => events.flatMap((event) => withoutReading(event, group));
      const before = without(waiting.slice(0, covered));
      // A refusal is stored at once, so it replaces the waiting readings of the group.
      waiting = [{ t: "group_refused", group }, ...before, ...without(waiting.slice(covered))];
      covered = before.length + 1;
    },
    /**
     * Removes the groups of a completely listed container that the run did not name. Earlier events are stored first,
     * if possible.
     *
     * @returns the reason if nothing more may be stored
     */
    async endListing(container: ContainerRef): Promise<GroupUpdateRefusal | undefined> {
      if (!(await sourcePeople.hasReported(connectorId, fixed.toldIn))) return undefined;
      await begin();
      const unreported = waiting.flatMap(readingOf);
      return finish({ isComplete: true, notLookedAt: [...unreported, ...pages.open()], home: homeOf(container) });
    },
    /** Whether a page of a group is missing. Until it arrives, no cursor may be stored. */
    isOpen: (): boolean => pages.open().length > 0,
    /** Whether there are enough events for a batch. */
    isDue: (): boolean => (waiting.length >= BATCH_EVENTS || members >= BATCH_MEMBERS) && waiting[0]?.t !== "member",
    /** Marks all events so far as covered, because the next batch includes their cursor or the run has ended. */
    markCovered(): void {
      covered = waiting.length;
    },
    /** Returns the next batch of events, in order. A member is added to a group only if a cursor covers the event. */
    takeBatch(): PeopleBatch | undefined {
      // If an added member were stored again after the event that removed the member, the member would have access
      // again for a while.
      const held = waiting.findIndex(({ t }, at) => at >= covered && t === "member");
      const events = held === -1 ? waiting : waiting.slice(0, held);
      const isCovered = covered > 0;
      if (events.length === 0 || since === undefined) return undefined;
      waiting = held === -1 ? [] : waiting.slice(held);
      covered = 0;
      members = 0;
      return { ...reporter(), since, events, ...(isCovered && { checkpoint: { cursor: null } }) };
    },
    async onApplied({ endedJoins }: Extract<PeopleResult, { isApplied: true }>): Promise<void> {
      if (endedJoins.length > 0) await options.onEndedJoins(endedJoins);
    },
    /**
     * Ends the run. After a complete listing, removes the groups and users that it did not name, and updates the
     * permission clocks.
     *
     * @returns the reason if nothing more may be stored
     */
    async end(end: SyncEnd): Promise<GroupUpdateRefusal | undefined> {
      const { toldIn, mode } = fixed;
      if (since === undefined && (mode === "groups" || !(await sourcePeople.hasReported(connectorId, toldIn))))
        return undefined;
      await begin();
      const { notLookedAt = [] } = end;
      const refusal = await finish({
        isComplete: end.listing === "complete",
        notLookedAt: [...notLookedAt.flatMap(groupOf), ...pages.open()],
        homesNotLookedAt: notLookedAt.flatMap((what) => ("container" in what ? homeOf(what.container) : [])),
        ...(isProof(source.spec, { mode: sync.mode, lastFullAt }, end) && { currentAt: sync.startedAt ?? now() }),
      });
      if (refusal === undefined && hasUsers) await options.linkUsers();
      return refusal;
    },
    /** The number of named principals that the connector may not name. */
    get strangers() {
      return strangers;
    },
  };
}

/** Returns the event without the reading of a group. Changes to the group stay, because one may remove a member. */
function withoutReading(event: PeopleEvent, group: Principal): PeopleEvent[] {
  return event.t === "group" && event.group === group ? [] : [event];
}

function readingOf(event: PeopleEvent): Principal[] {
  return event.t === "group" ? [event.group] : [];
}

function groupOf(what: SourceRef): Principal[] {
  return "group" in what ? [what.group] : [];
}
