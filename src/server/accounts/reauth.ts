import type { Clock } from "#core/clock.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store } from "#storage/records/store.ts";

const REFUSED = "The provider no longer accepts it.";
const LOST = "Its account must be connected again.";
const GONE = "Its account was disconnected.";

/** The connector states that change when the account is lost. */
const ENDS = new Set(["active", "error", "pending_auth"]);

/**
 * Marks an account as lost. The account and its connectors stop until the person connects it again. Call it in a
 * transaction.
 */
export async function loseAccess(
  tx: Store,
  clock: Clock,
  at: { workspaceId: string; accountId: string; isGone: boolean },
): Promise<void> {
  const { accounts, connectors, access } = tx.in(at.workspaceId);
  const account = at.isGone ? undefined : await accounts.find(at.accountId);
  if (account?.state === "active") {
    // The provider's last confirmation stays valid for the maximum age of an access list. Then the link is ended.
    const dueAt = account.confirmedAt + (await access.maxAclAgeMs());
    await accounts.update(at.accountId, { state: "needs_reauth", stateReason: REFUSED, dueAt });
  }
  await stopConnectors(
    tx,
    clock,
    at.workspaceId,
    await connectors.listOn({ accountId: at.accountId }),
    at.isGone ? GONE : LOST,
  );
}

/** Stops connectors whose credentials no longer work, and hides the content that they read. */
export async function stopConnectors(
  tx: Store,
  clock: Clock,
  workspaceId: string,
  stopped: readonly ConnectorRecord[],
  stateReason: string,
): Promise<void> {
  const { connectors, access } = tx.in(workspaceId);
  for (const { connectorId, state, refusedAt } of stopped) {
    if (!ENDS.has(state)) continue;
    await connectors.update(connectorId, {
      state: "needs_reauth",
      stateReason,
      nextRunAt: null,
      refusedAt: refusedAt ?? clock.now(),
    });
  }
  await access.raiseEpoch();
}

/** Marks an account as working again, and resumes its connectors. Call it in a transaction. */
export async function regainAccess(
  tx: Store,
  request: (tx: Store, workspaceId: string, connector: ConnectorRecord) => Promise<unknown>,
  { workspaceId, accountId }: { workspaceId: string; accountId: string },
): Promise<void> {
  await resumeConnectors(tx, request, workspaceId, await tx.in(workspaceId).connectors.listOn({ accountId }));
}

/** Resumes the connectors that waited for the account. */
export async function resumeConnectors(
  tx: Store,
  request: (tx: Store, workspaceId: string, connector: ConnectorRecord) => Promise<unknown>,
  workspaceId: string,
  waiting: readonly ConnectorRecord[],
): Promise<void> {
  const { connectors } = tx.in(workspaceId);
  for (const connector of waiting) {
    if (connector.state !== "needs_reauth") continue;
    const patch = { state: "active", stateReason: null, consecutiveFailures: 0 } as const;
    await connectors.update(connector.connectorId, patch);
    await request(tx, workspaceId, { ...connector, ...patch });
  }
}
