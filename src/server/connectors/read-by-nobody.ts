import type { Connector } from "#api/connector-records.ts";
import type { Actor } from "#storage/access/actor.ts";
import { meetsEvery } from "#storage/access/decision.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { ItemCount } from "#storage/records/items.ts";
import type { MemberRecord } from "#storage/records/members.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import type { ConnectorDeps } from "./deps.ts";
import { isOrphan, isOwnedBy } from "./judge.ts";

type Deps = Pick<ConnectorDeps, "store" | "policy">;
type Principals = readonly string[];

/** Number of access rows and of member rows read at once. */
const AT_ONCE = 500;

/**
 * Returns how many users the source reported and how many of them are members here, if no member can read any of the
 * indexed items. Undefined if a member can, or if the actor may not know: only the owner may know who can read a
 * private connector. Call it for a connector that the actor manages and whose source mirrors permissions.
 * Source: docs/decisions/0076.
 */
export async function readByNobodyOf(
  { store, policy }: Deps,
  actor: Actor,
  record: ConnectorRecord,
): Promise<Connector["readByNobody"]> {
  if (record.visibility === "private" && !isOwnedBy(actor, record)) return undefined;
  // In these states the reason is reported elsewhere.
  if (record.state === "deleting" || isOrphan(record) || record.withheldAt !== null) return undefined;
  const { connectorId, ownerUserId } = record;
  return store.snapshot(async (snapshot) => {
    const on = snapshot.in(actor.workspaceId);
    const principalsOf = async (userId: string) => (await policy.viewerIn(on, userId)).principals;
    // Most connectors can be read by their owner, so the other members are seldom checked.
    if (await isReadBy(on, connectorId, [await principalsOf(ownerUserId)])) return undefined;
    const members: Principals[] = [];
    for await (const { userId } of membersOf(on)) members.push(await principalsOf(userId));
    if (await isReadBy(on, connectorId, members)) return undefined;
    const { users, joined } = await on.sourcePeople.summaryOf(connectorId);
    return { users, linked: joined };
  });
}

/**
 * Whether at least one of these viewers can read an indexed item of the connector. An item that only two of them
 * together could read doesn't count.
 */
async function isReadBy(on: WorkspaceStore, connectorId: string, viewers: readonly Principals[]): Promise<boolean> {
  const held = viewers.map((principals) => new Set(principals));
  const all = [...new Set(viewers.flat())];
  for await (const aclIds of accessesOf(on, connectorId)) {
    for (const aclId of await on.access.visibleOf(aclIds, all)) {
      const lists = await on.access.listsOf(aclId);
      if (held.some((principals) => meetsEvery(lists, principals))) return true;
    }
  }
  return false;
}

/** Yields the accesses of a connector's indexed items, in some cases the same one twice. */
async function* accessesOf(on: WorkspaceStore, connectorId: string): AsyncGenerator<number[]> {
  let after: ItemCount | undefined;
  for (;;) {
    const groups = await on.items.counts({ connectorId }, after, AT_ONCE);
    yield groups.filter(({ indexState }) => indexState === "indexed").map(({ aclId }) => aclId);
    if (groups.length < AT_ONCE) return;
    after = groups.at(-1);
  }
}

async function* membersOf(on: WorkspaceStore): AsyncGenerator<MemberRecord> {
  let last: MemberRecord | undefined;
  for (;;) {
    const after = last && { value: last.joinedAt, id: last.userId };
    const members = await on.members.list({ limit: AT_ONCE, ...(after && { after }) });
    yield* members;
    if (members.length < AT_ONCE) return;
    last = members.at(-1);
  }
}
