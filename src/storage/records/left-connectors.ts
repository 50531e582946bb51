import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { CONNECTORS, CONNECTOR_CREDENTIALS } from "#storage/tables/connectors.ts";
import { PROVIDER_ACCOUNTS } from "#storage/tables/accounts.ts";
import { SYNCS } from "#storage/tables/syncs.ts";
import { openKeys } from "./connectors.ts";
import type { Whose } from "./whose.ts";

const OWNER_LEFT = "Its owner left the workspace. Someone has to take it over.";
const GIVER_LEFT = "The person who gave its credentials left the workspace, so the credentials were deleted.";

/**
 * Deletes the credentials that a person gave and stops every run that used any of them. The person's own connectors
 * become `needs_owner`, with or without credentials, because no one else may change what they read. A push connector
 * continues while another person's key gives access to it. Another person's connector that ran with these credentials
 * becomes `needs_reauth`.
 *
 * @returns the runs under way that were stopped
 */
export async function leaveConnectors(sql: SqlHandles, whose: Whose): Promise<string[]> {
  const { workspaceId, userId } = whose;
  const credentials = await takeCredentials(sql, whose);
  const connectors = inWorkspace(sql, workspaceId, CONNECTORS);
  const setState = (connectorId: string, state: "needs_owner" | "needs_reauth", stateReason: string) =>
    connectors.update({ connectorId }, { state, stateReason, nextRunAt: null });
  const rows = await connectors
    .select()
    .select(["connectorId", "ownerUserId", "state"])
    .where("state", "!=", "deleting")
    .where((eb) =>
      eb.or([
        eb("ownerUserId", "=", userId),
        eb("connectorId", "in", [...credentials, ""]),
        eb("accountId", "in", accountsOf(sql, whose)),
      ]),
    )
    .execute();
  const stopped: string[] = [];
  for (const { connectorId, ownerUserId, state } of rows) {
    if (ownerUserId !== userId) {
      // A paused connector stays paused. Its next run reports that credentials are needed.
      if (state !== "paused") await setState(connectorId, "needs_reauth", GIVER_LEFT);
    } else {
      const liveKeys = openKeys(sql, workspaceId, whose.at).where("connectorId", "=", connectorId).limit(1);
      if (await liveKeys.executeTakeFirst()) continue;
      await setState(connectorId, "needs_owner", OWNER_LEFT);
    }
    stopped.push(...(await stopSyncs(sql, workspaceId, connectorId, whose.at)));
  }
  return stopped;
}

function accountsOf(sql: SqlHandles, { workspaceId, userId }: Whose) {
  return inWorkspace(sql, workspaceId, PROVIDER_ACCOUNTS).select({ userId }).select("accountId");
}

async function takeCredentials(sql: SqlHandles, { workspaceId, userId }: Whose): Promise<Set<string>> {
  const rows = await inWorkspace(sql, workspaceId, CONNECTOR_CREDENTIALS)
    .deleting({ givenBy: userId })
    .returning("connectorId")
    .execute();
  return new Set(rows.map(({ connectorId }) => connectorId));
}

/** Ends waiting runs and stops the running one, whose worker stores nothing more from now on. */
async function stopSyncs(sql: SqlHandles, workspaceId: string, connectorId: string, at: number): Promise<string[]> {
  const open = () => inWorkspace(sql, workspaceId, SYNCS).updating({ connectorId });
  await open()
    .set({ state: "cancelled", cancelRequestedAt: at, finishedAt: at })
    .where("state", "in", ["queued", "waiting"])
    .execute();
  const running = await open()
    .set({ state: "cancelling", cancelRequestedAt: at })
    .where("state", "in", ["running", "cancelling"])
    .returning("syncId")
    .execute();
  return running.map(({ syncId }) => syncId);
}
