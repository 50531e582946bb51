import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { Parts } from "#storage/records/parts.ts";
import { makeId } from "#api/common.ts";
import type { RequestOrigin } from "#storage/access/actor.ts";
import { actOn, type AuditAct } from "#storage/audit-act.ts";
import type { UserRecord } from "#storage/records/people.ts";
import type { Store } from "#storage/records/store.ts";

export type NewAccount = Omit<UserRecord, "userId" | "createdAt">;

export interface NewWorkspace {
  ownerId: string;
  name: string;
  timeZone: string | null;
  origin?: RequestOrigin | undefined;
}

/** Creates accounts and workspaces, in whatever way a person joins. Each method runs in the caller's transaction. */
export type AccountService = ReturnType<typeof makeAccountService>;

export function makeAccountService(
  options: Pick<Parts, "clock" | "randomBytes"> & {
    audit: AuditRecorder;
  },
) {
  const { clock, randomBytes, audit } = options;
  return {
    /** Adds an account. @returns its userId @throws ApiError `email_taken` */
    async add(tx: Store, account: NewAccount): Promise<string> {
      const userId = makeId("user", randomBytes);
      await tx.users.insert({ ...account, userId, createdAt: clock.now() });
      return userId;
    },

    /** Adds a workspace with its owner. @returns its workspaceId */
    async addWorkspace(tx: Store, { ownerId: userId, name, timeZone, origin }: NewWorkspace): Promise<string> {
      const workspaceId = makeId("workspace", randomBytes);
      const at = clock.now();
      await tx.workspaces.insert({ workspaceId, name, timeZone: timeZone ?? "UTC", createdAt: at });
      await tx.in(workspaceId).members.insert({ userId, role: "owner", joinedAt: at });
      await audit.recordSystem(tx, workspaceId, actOn(workspaceId, "workspace.created"), { userId, ...origin });
      return workspaceId;
    },

    /** Ends the person's sessions, grants and tokens in every workspace. */
    async endCredentials(tx: Store, userId: string, keep?: { sessionId?: string; tokens?: boolean }): Promise<void> {
      for (const { workspaceId } of await tx.users.membershipsOf(userId)) {
        await tx.in(workspaceId).members.endCredentials(userId, clock.now(), keep);
      }
    },

    /** Records an action on a person's account in the audit log of every workspace to which they belong. */
    async recordEverywhere(
      tx: Store,
      userId: string,
      act: Omit<AuditAct, "target">,
      by?: Partial<RequestOrigin> & { userId?: string },
    ): Promise<void> {
      for (const { workspaceId } of await tx.users.membershipsOf(userId)) {
        await audit.recordSystem(tx, workspaceId, { ...act, target: { type: "user", id: userId } }, by);
      }
    },
  };
}
