import type { EndedJoin } from "#storage/people-batch.ts";
import { actOn } from "#storage/audit-act.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import { type PeopleDeps, trustOf } from "./people.ts";

/** Number of links made in one transaction. */
const LINKS_AT_ONCE = 200;

/** Links users of sources to members once the users are reported. The sync engine calls it. */
export function makePeopleLinks(
  deps: Pick<PeopleDeps, "store" | "sources" | "credentials" | "instances" | "audit" | "clock">,
) {
  const { store, audit, clock } = deps;
  async function isTrusted(workspaceId: string, connector: ConnectorRecord): Promise<boolean> {
    const { isAdminMade, isRegistered } = await trustOf(deps, workspaceId, connector);
    return isAdminMade && isRegistered;
  }
  return {
    isTrusted,

    /** Records the links that the source has ended. */
    async onEnded(workspaceId: string, connectorId: string, joins: readonly EndedJoin[]): Promise<void> {
      await store.transaction(async (tx) => {
        for (const { principal, userId, reason } of joins) {
          await audit.recordSystem(
            tx,
            workspaceId,
            actOn(userId, "person.unlinked", { connectorId, principal, from: userId, to: null, reason }),
          );
        }
      });
    },

    /**
     * Links users to the members who have the same address. Both sides must have verified it, and it must be in the
     * workspace's identity domains.
     */
    async link(workspaceId: string, connectorId: string): Promise<void> {
      const domains = (await store.workspaces.find(workspaceId))?.identityDomains ?? [];
      if (domains.length === 0) return;
      // Users who were reported while the connector was trusted stay until they are reported again.
      const connector = await store.in(workspaceId).connectors.find(connectorId);
      if (!connector || !(await isTrusted(workspaceId, connector))) return;
      for (;;) {
        const made = await store.transaction(async (tx) => {
          const { identities } = tx.in(workspaceId);
          const matches = await identities.matchEmails(connectorId, domains, LINKS_AT_ONCE);
          for (const { principal, userId } of matches) {
            const joinedAt = clock.now();
            await identities.join({ principal, userId, connectorId, basis: "email", joinedBy: null, joinedAt });
            await audit.recordSystem(
              tx,
              workspaceId,
              actOn(userId, "person.linked", { connectorId, principal, basis: "email", from: null, to: userId }),
            );
          }
          return matches.length;
        });
        if (made < LINKS_AT_ONCE) return;
      }
    },
  };
}
