import type { EndedJoin } from "#storage/people-batch.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { makeAccessStore } from "./access.ts";
import { type IdentityJoin, makeIdentityStore } from "./identities.ts";
import { same } from "#storage/conditions.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { CONNECTORS } from "#storage/tables/connectors.ts";
import { IDENTITIES, IDENTITY_JOINS } from "#storage/tables/identities.ts";
import type { Whose } from "./whose.ts";

/** A link that ended because the connector that made it is no longer trusted. */
export type UntrustedJoin = EndedJoin & Pick<IdentityJoin, "connectorId">;

/**
 * Ends the trust in the connectors of a person who is no longer an admin. From now on the users that they report give
 * access to no one, and links by email that depend only on them end. Raises the epoch. Call it in a transaction.
 */
export async function distrustConnectorsOf(
  sql: SqlHandles,
  { workspaceId, userId, at }: Whose,
): Promise<UntrustedJoin[]> {
  const made = await inWorkspace(sql, workspaceId, CONNECTORS)
    .select({ createdBy: userId })
    .select("connectorId")
    .execute();
  if (made.length === 0) return [];
  const ids = made.map(({ connectorId }) => connectorId);
  await inWorkspace(sql, workspaceId, IDENTITIES)
    .updating({})
    .set({ isTrusted: 0 })
    .where("connectorId", "in", ids)
    .execute();
  const rows = await inWorkspace(sql, workspaceId, IDENTITY_JOINS)
    .select({ basis: "email", endedAt: null })
    .select(["identity_joins.principal", "identity_joins.connectorId"])
    .where("identity_joins.connectorId", "in", ids)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("identities")
            .select("identities.principal")
            .where(same(IDENTITIES, IDENTITY_JOINS, "principal"))
            .where("identities.isTrusted", "=", 1),
        ),
      ),
    )
    .execute();
  const { end } = makeIdentityStore(sql, workspaceId);
  const ended: UntrustedJoin[] = [];
  for (const { principal, connectorId } of rows) {
    const join = await end(principal, { at, by: null, reason: "untrusted" });
    if (join) ended.push({ ...join, connectorId });
  }
  await makeAccessStore(sql, workspaceId).raiseEpoch();
  return ended;
}
