import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { Clock } from "#core/clock.ts";
import { actOn } from "#storage/audit-act.ts";
import { believedUntil } from "#storage/access/clocks.ts";
import type { AccountRecord } from "#storage/records/accounts.ts";
import type { IdentityJoin } from "#storage/records/identities.ts";
import type { Store } from "#storage/records/store.ts";

export type AccountLinks = ReturnType<typeof makeAccountLinks>;

/**
 * Links the person who owns an account to this user of the source, everywhere in the workspace. The link lasts while
 * the provider's last confirmation is younger than `maxAclAge`. Call every method in a transaction. Source: S3, S30.
 */
export function makeAccountLinks({ clock, audit }: { clock: Clock; audit: AuditRecorder }) {
  /** The current link of this user of a source to a member. */
  async function currentJoin(tx: Store, workspaceId: string, principal: string): Promise<IdentityJoin | undefined> {
    return (await tx.in(workspaceId).identities.joinsOf(principal)).find(isCurrent);
  }

  async function end(
    tx: Store,
    workspaceId: string,
    { accountId, principal, userId }: AccountRecord,
    reason: "account_disconnected" | "account_unconfirmed",
  ): Promise<void> {
    const { identities } = tx.in(workspaceId);
    await identities.forgetByAccount(accountId);
    const join = await currentJoin(tx, workspaceId, principal);
    if (join?.basis !== "account" || join.connectorId !== accountId) return;
    await identities.end(principal, { at: clock.now(), by: null, reason });
    await audit.recordSystem(
      tx,
      workspaceId,
      actOn(userId, "person.unlinked", { accountId, principal, basis: "account", from: userId, to: null, reason }),
    );
  }

  return {
    end,
    /** The link of this user of the source to another member; undefined if there isn't any. */
    async otherHolder(
      from: Store,
      workspaceId: string,
      principal: string,
      userId: string,
    ): Promise<string | undefined> {
      const join = await currentJoin(from, workspaceId, principal);
      const account = await from.in(workspaceId).accounts.findByPrincipal(principal);
      return [join?.userId, account?.userId].find((holder) => holder !== undefined && holder !== userId);
    },

    /**
     * Records that the provider has just confirmed the account. Links that were made manually or by address don't
     * change. If an admin removed a link manually, only an admin can restore it.
     */
    async confirm(tx: Store, workspaceId: string, account: AccountRecord, before: number | null): Promise<void> {
      const { accountId, principal, userId, label: name, login } = account;
      const { identities, access } = tx.in(workspaceId);
      const now = clock.now();
      const joins = await identities.joinsOf(principal);
      const join = joins.find(isCurrent);
      if (join && (join.userId !== userId || join.basis !== "account")) return;
      if (!join && joins.some((former) => former.userId === userId && former.endedBy !== null)) return;
      await identities.reportByAccount({ accountId, principal, name, login, toldAt: now });
      if (join) {
        const age = { now, maxAclAgeMs: await access.maxAclAgeMs() };
        if (believedUntil(before, age) === undefined) await access.raiseEpoch();
        return;
      }
      await identities.join({
        principal,
        userId,
        connectorId: accountId,
        basis: "account",
        joinedBy: null,
        joinedAt: now,
      });
      await audit.recordSystem(
        tx,
        workspaceId,
        actOn(userId, "person.linked", { accountId, principal, basis: "account", from: null, to: userId }),
      );
    },
  };
}

function isCurrent({ endedAt }: IdentityJoin): boolean {
  return endedAt === null;
}
