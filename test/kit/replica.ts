import { runsOf } from "#server/sync/run/run-session.ts";
import type { Scope } from "#core/scope.ts";
import { accessKeyOf } from "#core/access-key.ts";
import type { Authority, Principal } from "#core/principals.ts";
import type { SourceContext, SyncContext } from "#sources/context.ts";
import type { ContainerRef, SourceItem } from "#sources/item.ts";
import type { SyncEvent, SyncRequest } from "#server/sync/sync-events.ts";
import type { SourceRef } from "#sources/outcomes.ts";
import { authorityIn } from "./authority.ts";
import { contextOf, type KitFixture } from "./fixture.ts";
import {
  applyTold,
  copyPeople,
  endUnnamed,
  makePeopleReplica,
  type PeopleReplica,
  peopleSnapshot,
} from "./people-replica.ts";

/** What an engine has stored: the smallest one that keeps the port's promises. */
export interface Replica {
  items: Map<string, SourceItem>;
  /** Groups and users that were told between items, and the containers that a group is in. */
  told: PeopleReplica;
  homes: Map<Principal, readonly ContainerRef[]>;
  cursor: unknown;
  /** What the source keeps, and what it put since the last checkpoint. */
  state: Map<string, unknown>;
  put: Map<string, unknown>;
  /** Ids named in the present run. */
  named: Set<string>;
  /** Groups and users that were. */
  namedPeople: Set<Principal>;
  runId: string;
}

export interface RunOptions {
  mode?: SyncRequest["mode"];
  externalIds?: readonly string[];
  scope?: Scope;
  /** Stops after so many events, as a crash would: what came after the last checkpoint is lost. */
  killAfter?: number;
  /** The same run goes on: what it named counts. */
  isResume?: boolean;
  signal?: AbortSignal;
  log?: SourceContext<unknown>["log"];
  onEvent?: (event: SyncEvent) => Promise<void> | void;
  /** Called once what was said up to a checkpoint is stored. */
  onCheckpoint?: () => void;
}

export interface RunOutcome {
  events: SyncEvent[];
  isKilled: boolean;
}

export function makeReplica(): Replica {
  return {
    items: new Map(),
    told: makePeopleReplica(),
    homes: new Map(),
    cursor: null,
    state: new Map(),
    put: new Map(),
    named: new Set(),
    namedPeople: new Set(),
    runId: "syn_kit_0",
  };
}

export function copyReplica(replica: Replica): Replica {
  return {
    ...replica,
    items: new Map(replica.items),
    told: copyPeople(replica.told),
    homes: new Map(replica.homes),
    named: new Set(replica.named),
    namedPeople: new Set(replica.namedPeople),
    state: new Map(replica.state),
    put: new Map(),
  };
}

/** One run of the fixture's source into the replica: events are applied at each checkpoint and at the end. */
export async function runInto(fixture: KitFixture, replica: Replica, options: RunOptions = {}): Promise<RunOutcome> {
  if (options.isResume !== true) {
    replica.named = new Set();
    replica.namedPeople = new Set();
    replica.runId = `${replica.runId}+`;
  }
  // What a killed run had put is gone with it.
  replica.put.clear();
  const authority = await authorityIn(fixture);
  const events: SyncEvent[] = [];
  let pending: SyncEvent[] = [];
  for await (const event of startSync(fixture, replica, options)) {
    events.push(event);
    pending.push(event);
    await options.onEvent?.(event);
    if (event.t === "checkpoint" || event.t === "end") {
      for (const settled of pending) applyEvent(replica, settled, authority);
      pending = [];
      if (event.t === "checkpoint") options.onCheckpoint?.();
    }
    if (options.killAfter !== undefined && events.length >= options.killAfter) return { events, isKilled: true };
  }
  return { events, isKilled: false };
}

/** The stored items in a form that can be compared: sorted by id, dates as text. */
export function snapshotOf(replica: Replica): string[] {
  const items = [...replica.items.values()].map((item) => JSON.stringify(item, Object.keys(flatKeys(item)).sort()));
  return [...items.sort(), ...peopleSnapshot(replica.told)];
}

function startSync(fixture: KitFixture, replica: Replica, options: RunOptions): AsyncGenerator<SyncEvent, void> {
  const runs = fixture.runs ?? runsOf(fixture.source);
  if (runs === undefined) throw new Error("The source has no sessions: the kit is for sources that are read.");
  const request: SyncRequest = {
    mode: options.mode ?? "full",
    runId: replica.runId,
    scope: options.scope ?? { include: [], exclude: [] },
    cursor: replica.cursor,
    ...(options.externalIds && { externalIds: options.externalIds }),
  };
  return runs({ ...contextOf(fixture, options.signal, options.log), ...partsOf(replica) }, request);
}

/** What is stored, and the state as it was with the last checkpoint. */
function partsOf(replica: Replica): Pick<SyncContext<unknown>, "stored" | "state"> {
  return {
    stored: {
      version: async (externalId) => replica.items.get(externalId)?.version,
      async accessKey(externalId) {
        const access = replica.items.get(externalId)?.access;
        return access && accessKeyOf(access);
      },
      async *list(container) {
        for (const { externalId, version, ...item } of replica.items.values()) {
          if (livesIn(item, container)) yield { externalId, ...(version !== undefined && { version }) };
        }
      },
    },
    state: {
      get: async (key) => (replica.put.has(key) ? replica.put.get(key) : replica.state.get(key)),
      put(key, value) {
        if (key === "" || key.length > 200) throw new RangeError("A key has 1 to 200 characters.");
        replica.put.set(key, value);
      },
    },
  };
}

function isSame(one: ContainerRef, other: ContainerRef): boolean {
  return one.type === other.type && one.id === other.id;
}

function livesIn({ containers = [] }: Pick<SourceItem, "containers">, container: ContainerRef): boolean {
  return containers.some((each) => each.isHome === true && isSame(each, container));
}

function isWithin({ createdAt }: SourceItem, { from, to }: { from?: number; to?: number }): boolean {
  if (createdAt === undefined) return from === undefined && to === undefined;
  return createdAt >= (from ?? -Infinity) && createdAt < (to ?? Infinity);
}

export function isAbout(what: SourceRef, externalId: string, item: SourceItem): boolean {
  if ("externalId" in what) return what.externalId === externalId;
  return "container" in what && livesIn(item, what.container);
}

function applyEvent(replica: Replica, event: SyncEvent, authority: Authority): void {
  const { items, named, told, homes, namedPeople } = replica;
  switch (event.t) {
    case "upsert":
      // Another id of an item that is there, unless that one was spoken of itself.
      if (event.item.formerId !== undefined && !named.has(event.item.formerId)) items.delete(event.item.formerId);
      items.set(event.item.externalId, event.item);
      named.add(event.item.externalId);
      return;
    case "access": {
      const item = items.get(event.externalId);
      if (item !== undefined) items.set(event.externalId, { ...item, access: event.access });
      named.add(event.externalId);
      return;
    }
    case "seen":
      for (const externalId of event.externalIds) named.add(externalId);
      for (const [externalId, item] of event.container ? items : []) {
        if (event.container && livesIn(item, event.container)) named.add(externalId);
      }
      return;
    case "refused":
      // Nobody reads it; whether it is gone is another matter.
      for (const [externalId, item] of items) if (isAbout(event.what, externalId, item)) named.add(externalId);
      if ("group" in event.what) {
        told.groups.set(event.what.group, new Set());
        namedPeople.add(event.what.group);
      }
      return;
    case "group":
    case "member":
    case "identity":
      if (event.t === "group") homes.set(event.group, event.containers ?? []);
      applyTold(told, event, namedPeople, authority);
      return;
    case "listed":
      for (const [externalId, item] of items) {
        if (livesIn(item, event.container) && isWithin(item, event) && !named.has(externalId)) items.delete(externalId);
      }
      for (const [group, containers] of event.from === undefined && event.to === undefined ? homes : []) {
        if (containers.some((container) => isSame(container, event.container)) && !namedPeople.has(group))
          told.groups.delete(group);
      }
      return;
    case "delete":
      for (const [externalId, item] of items) {
        if (externalId === event.externalId || item.partOf === event.externalId) items.delete(externalId);
      }
      return;
    case "delete_container":
      for (const [externalId, item] of items) if (livesIn(item, event)) items.delete(externalId);
      return;
    case "skip":
      if (event.reason === "failed") named.add(event.externalId);
      return;
    case "checkpoint":
      // Through text and back, as a database would keep it.
      replica.cursor = JSON.parse(JSON.stringify(event.cursor));
      for (const [key, value] of replica.put) replica.state.set(key, value);
      replica.put.clear();
      return;
    case "end": {
      if (event.listing !== "complete") return;
      const isKept = (externalId: string, item: SourceItem) =>
        named.has(externalId) || (event.notLookedAt ?? []).some((what) => isAbout(what, externalId, item));
      for (const [externalId, item] of items) if (!isKept(externalId, item)) items.delete(externalId);
      const isNotLookedAt = (group: Principal) =>
        (event.notLookedAt ?? []).some((what) =>
          "group" in what
            ? what.group === group
            : "container" in what && (homes.get(group) ?? []).some((home) => isSame(home, what.container)),
        );
      endUnnamed(told, new Set([...namedPeople, ...[...told.groups.keys()].filter(isNotLookedAt)]));
      return;
    }
    case "progress":
      return;
  }
}

/** Every key at any depth: `JSON.stringify` with a sorted list of them is the same for equal items. */
function flatKeys(value: unknown, found: Record<string, true> = {}): Record<string, true> {
  if (typeof value !== "object" || value === null) return found;
  for (const [key, inner] of Object.entries(value)) {
    found[key] = true;
    flatKeys(inner, found);
  }
  return found;
}
