import type { EventType } from "#api/event-types.ts";
import type { OutgoingEvent } from "#api/events.ts";
import type { Clock } from "#core/clock.ts";
import { isoOf } from "#core/instant.ts";
import type { Believing } from "#storage/access/clocks.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";
import type { Emit } from "./outbox.ts";

/**
 * Returns the time from which a connector's permissions are no longer trusted, and the reason; null if they are
 * trusted.
 */
export type StaleOf = (
  connector: ConnectorRecord,
  age: Believing,
) => { since: string; cause: "refused" | "not_checked" | "clock_went_back" } | null;

export type EventWatch = ReturnType<typeof makeEventWatch>;

/** The minimum time between checks. */
const EVERY_MS = 5_000;

/**
 * Makes the watch that emits events for states which connectors reach in many ways, some only by the passing of time.
 * Polling the state misses none of them. Each emitted event is recorded in its own transaction, so it is emitted once,
 * whenever a process ends. Source: docs/decisions/0037-events-of-states.md.
 */
export function makeEventWatch({
  store,
  clock,
  emit,
  staleOf,
}: {
  store: Store;
  clock: Clock;
  emit: Emit;
  staleOf: StaleOf;
}) {
  let nextAt = 0;

  async function compare(workspace: WorkspaceStore): Promise<Difference> {
    const { eventDeliveries, connectors, access, syncs } = workspace;
    const age = { now: clock.now(), maxAclAgeMs: await access.maxAclAgeMs() };
    const ended = await eventDeliveries.listMarks();
    const held = new Map((await eventDeliveries.listHeldCounts()).map((row) => [row.connectorId, row]));
    const news: News[] = [];
    for (const connector of await connectors.list()) {
      if (connector.state === "deleting") continue;
      for (const condition of conditionsOf(connector, age, { staleOf, held: held.get(connector.connectorId) })) {
        const key = `${connector.connectorId} ${condition.event.type}`;
        const former = ended.get(key);
        ended.delete(key);
        if (former !== undefined && former >= condition.value) continue;
        // A run in progress may hold more items.
        if (condition.event.type === "removal.held" && (await isRunning(syncs, connector.connectorId))) continue;
        news.push({ connectorId: connector.connectorId, ...condition });
      }
    }
    return { news, ended: [...ended.keys()].map(toMark) };
  }

  async function note(tx: Store, workspaceId: string, isEmitted: boolean): Promise<void> {
    const workspace = tx.in(workspaceId);
    const { news, ended } = await compare(workspace);
    for (const { connectorId, value, event } of news) {
      await workspace.eventDeliveries.setMark({ connectorId, type: event.type }, value);
      if (isEmitted) await emit(tx, workspaceId, event);
    }
    for (const mark of ended) await workspace.eventDeliveries.removeMark(mark);
  }

  return {
    /**
     * Emits events for conditions that became true since the last check, and removes the records of conditions that are
     * no longer true.
     */
    async tick(): Promise<void> {
      const now = clock.now();
      // A clock that went back must not delay the checks.
      if (now < nextAt && nextAt - now <= EVERY_MS) return;
      nextAt = now + EVERY_MS;
      for (const workspaceId of await store.eventQueue.listWorkspaces()) {
        const { news, ended } = await compare(store.in(workspaceId));
        if (news.length + ended.length > 0) await store.transaction((tx) => note(tx, workspaceId, true));
      }
    },
    /**
     * Records the current conditions without events, so that a workspace's first target gets only later ones. Runs in
     * the transaction that adds the target.
     */
    begin: (tx: Store, workspaceId: string): Promise<void> => note(tx, workspaceId, false),
  };
}

interface Condition {
  /** The event is emitted again for a higher value. */
  value: number;
  event: OutgoingEvent;
}

interface News extends Condition {
  connectorId: string;
}

interface Mark {
  connectorId: string;
  type: EventType;
}

interface Difference {
  news: News[];
  ended: Mark[];
}

function conditionsOf(
  connector: ConnectorRecord,
  age: Believing,
  { staleOf, held }: { staleOf: StaleOf; held: { held: number; heldAt: number } | undefined },
): Condition[] {
  const { connectorId, providerId, state } = connector;
  const who = { connectorId, providerId };
  const found: Condition[] = [];
  if (state === "needs_reauth") {
    found.push({ value: 1, event: { type: "connector.needs_reauth", data: { ...who, code: lossOf(connector) } } });
  }
  const stale = staleOf(connector, age);
  if (stale) {
    const data = { ...who, since: stale.since, code: stale.cause };
    found.push({ value: 1, event: { type: "connector.acl_stale", data } });
  }
  if (held) {
    const data = { ...who, held: held.held, heldAt: isoOf(held.heldAt) };
    found.push({ value: held.heldAt, event: { type: "removal.held", data } });
  }
  return found;
}

function lossOf({ accountId, connectionId, refusedAt }: ConnectorRecord): string {
  if (connectionId !== null) return "connection_lost";
  if (accountId !== null) return "account_lost";
  return refusedAt === null ? "credentials_removed" : "credentials_refused";
}

async function isRunning(syncs: Pick<WorkspaceStore["syncs"], "listOpen">, connectorId: string): Promise<boolean> {
  return (await syncs.listOpen([connectorId])).some(({ state }) => state === "running");
}

function toMark(key: string): Mark {
  const [connectorId = "", type = ""] = key.split(" ");
  // The key comes from `listMarks`. Its types are written only from this type.
  return { connectorId, type: type as EventType };
}
