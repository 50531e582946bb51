import type { EndedJoin } from "#storage/batch/people-batch.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { makeAccessStore } from "./access.ts";
import { type IdentityJoin, makeIdentityStore } from "./identities.ts";

/** A link that ended with the trust in the connector that it was made by. */
export type UntrustedJoin = EndedJoin & Pick<IdentityJoin, "connectorId">;

/**
 * Somebody is no admin any more: what connectors of theirs tell of users lets nobody in from now on, and who was linked by
 * email on their word alone is so no more. Raises the epoch. Call it in a transaction.
 */
export async function distrustConnectorsOf(
  sql: SqlHandles,
  { workspaceId, userId, at }: { workspaceId: string; userId: string; at: number },
): Promise<UntrustedJoin[]> {
  const made = await sql.write
    .selectFrom("connectors")
    .select("connectorId")
    .where("workspaceId", "=", workspaceId)
    .where("createdBy", "=", userId)
    .execute();
  if (made.length === 0) return [];
  const ids = made.map(({ connectorId }) => connectorId);
  await sql.write
    .updateTable("identities")
    .set({ isTrusted: 0 })
    .where("workspaceId", "=", workspaceId)
    .where("connectorId", "in", ids)
    .execute();
  const rows = await sql.write
    .selectFrom("identity_joins as j")
    .select(["j.principal", "j.connectorId"])
    .where("j.workspaceId", "=", workspaceId)
    .where("j.connectorId", "in", ids)
    .where("j.basis", "=", "email")
    .where("j.endedAt", "is", null)
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom("identities as i")
            .select("i.principal")
            .whereRef("i.workspaceId", "=", "j.workspaceId")
            .whereRef("i.principal", "=", "j.principal")
            .where("i.isTrusted", "=", 1),
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
