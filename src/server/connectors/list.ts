import type { connectorRoutes } from "#api/connectors.ts";
import type { MemberCall } from "#server/http/mount.ts";
import type { Connector, ConnectorListQuery, ConnectorPublic } from "#api/connector-records.ts";
import { listOpenings } from "#storage/policy/openings.ts";
import { isoOrNull } from "#core/instant.ts";
import { inMemory, readPage } from "#server/http/pages.ts";
import { type Actor, actsAsAdmin } from "#storage/access/actor.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { ItemCount } from "#storage/records/items.ts";
import { type ConnectorDeps, requireManaged } from "./deps.ts";
import { isOwnedBy, manages } from "./judge.ts";
import { toConnector, toPublic } from "./view.ts";

/**
 * Lists the connectors that the actor manages. Of other connectors with items that the actor may read, it lists only
 * the public facts.
 */
export async function listConnectors(deps: ConnectorDeps, { actor, query }: MemberCall<typeof connectorRoutes.list>) {
  const seen = actsAsAdmin(actor) ? new Set<string>() : await connectorsSeen(deps, actor);
  const isShown = (record: ConnectorRecord) => manages(actor, record) || isPublic(record, seen);
  const { page, nextCursor } = await shownPage(deps, actor, "GET /api/connectors", query, isShown);
  const connectors: (Connector | ConnectorPublic)[] = [];
  for (const record of page) {
    connectors.push(manages(actor, record) ? await toConnector(deps, actor, record) : toPublic(record));
  }
  return { connectors, nextCursor };
}

/** Lists the actor's own connectors. */
export async function listOwnConnectors(
  deps: ConnectorDeps,
  { actor, query }: MemberCall<typeof connectorRoutes.mine>,
) {
  const isMine = (record: ConnectorRecord) => isOwnedBy(actor, record);
  const { page, nextCursor } = await shownPage(deps, actor, "GET /api/connectors/mine", query, isMine);
  const connectors: Connector[] = [];
  for (const record of page) connectors.push(await toConnector(deps, actor, record));
  return { connectors, nextCursor };
}

/**
 * Returns a connector that the actor manages. Its owner also sees which of its items other people opened.
 *
 * @throws ApiError `not_found`
 */
export async function getConnector(
  deps: ConnectorDeps,
  { actor, params: { id: connectorId } }: MemberCall<typeof connectorRoutes.get>,
) {
  const { store, clock } = deps;
  const record = await requireManaged(store, actor, connectorId);
  const freshness = await freshnessOf(deps, actor.workspaceId, record);
  const connector = { ...(await toConnector(deps, actor, record)), ...(freshness && { freshness }) };
  if (!isOwnedBy(actor, record)) return { connector };
  const inside = record.visibility === "members" ? record.groupIds : [];
  const about = { id: connectorId, ownerId: actor.userId, inside };
  const openedByOthers = await listOpenings(store.in(actor.workspaceId), about, clock.now());
  return { connector: { ...connector, openedByOthers } };
}

/** The age of the connector's group data; undefined if its source doesn't read groups in separate runs. */
async function freshnessOf(
  { store, sources }: ConnectorDeps,
  workspaceId: string,
  { connectorId, providerId }: ConnectorRecord,
): Promise<Connector["freshness"]> {
  if ((await sources.find(providerId))?.syncIdentities === undefined) return undefined;
  const { sourcePeople, syncs } = store.in(workspaceId);
  const last = await syncs.findLastIdentities(connectorId);
  return {
    oldestGroupAt: isoOrNull(await sourcePeople.oldestGroupAt(connectorId)),
    requests: last?.counts.requests ?? null,
  };
}

function isPublic(record: ConnectorRecord, seen: ReadonlySet<string>): boolean {
  return record.state !== "deleting" && seen.has(record.connectorId);
}

const COUNTS_AT_ONCE = 500;

/** Connectors with at least one item that the actor may read. */
async function connectorsSeen({ policy }: ConnectorDeps, actor: Actor): Promise<Set<string>> {
  return policy.readList(actor, async ({ store, accesses }) => {
    const seen = new Set<string>();
    for (const { connectorId } of await store.connectors.list()) {
      for (let after: ItemCount | undefined; !seen.has(connectorId);) {
        const groups = await store.items.counts({ connectorId }, after, COUNTS_AT_ONCE);
        if (groups.some((group) => accesses.has(group.aclId))) seen.add(connectorId);
        if (groups.length < COUNTS_AT_ONCE) break;
        after = groups.at(-1);
      }
    }
    return seen;
  });
}

/** Returns a page of the workspace's connectors, the oldest first. @throws ApiError `invalid_cursor` */
async function shownPage(
  deps: ConnectorDeps,
  actor: Actor,
  route: string,
  query: ConnectorListQuery,
  isShown: (record: ConnectorRecord) => boolean,
): Promise<{ page: ConnectorRecord[]; nextCursor: string | null }> {
  const { providerId, state, q } = query;
  const rows = (await deps.store.in(actor.workspaceId).connectors.list()).filter(
    (record) =>
      (providerId === undefined || record.providerId === providerId) &&
      (state === undefined || record.state === state) &&
      (q === undefined || record.name.toLowerCase().includes(q.toLowerCase())) &&
      isShown(record),
  );
  const all = inMemory(rows, ({ createdAt, connectorId }) => ({ value: createdAt, id: connectorId }));
  return readPage(deps, actor, { route, args: { providerId, state, q }, kind: "connector", ...all }, query);
}
