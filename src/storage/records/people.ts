import { ApiError } from "#api/errors.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces, inWorkspace } from "#storage/in-workspace.ts";
import { changesOf, recordsOf } from "#storage/results.ts";
import { INVITATIONS, MEMBERS, USERS, WORKSPACES } from "#storage/tables/people.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import { keepFormerAddresses } from "./former-addresses.ts";
import { pageOf, type PageRequest } from "./pages.ts";

/** A person, across workspaces. Instants are epoch milliseconds. */
export type UserRecord = RecordOf<typeof USERS>;

/** Instants are epoch milliseconds. */
export type WorkspaceRecord = RecordOf<typeof WORKSPACES>;

/** Instants are epoch milliseconds. */
export type InvitationRecord = RecordOf<typeof INVITATIONS>;

/** Reads and writes people, across workspaces. */
// Raw: people belong to no workspace.
export function makeUserStore(sql: SqlHandles) {
  const users = acrossWorkspaces(sql, USERS);
  return {
    find: (userId: string) => users.find({ userId }),

    /** Returns a person by address, ASCII lower case. */
    findByEmail: (email: string) => users.find({ emailKey: emailKeyOf(email) }),

    /** Adds a person. @throws ApiError `email_taken` */
    async insert(user: UserRecord): Promise<void> {
      const inserting = users.inserting({ ...user, emailKey: emailKeyOf(user.email) });
      const isFree = await changesOf(inserting.onConflict((oc) => oc.column("emailKey").doNothing()));
      if (!isFree) throw emailTaken();
    },

    setPasswordHash: (userId: string, passwordHash: string) => users.update({ userId }, { passwordHash }),

    setTimeZone: (userId: string, timeZone: string | null) => users.update({ userId }, { timeZone }),

    /** Records that this person made a link with which they could sign in as the user. */
    noteResetLink: (userId: string, madeBy: string, at: number) =>
      users.update({ userId }, { resetLinkAt: at, resetLinkBy: madeBy }),

    /** Returns the last such link. */
    async findResetLink(userId: string): Promise<{ at: number; madeBy: string } | undefined> {
      const row = await users.select({ userId }).select(["resetLinkAt", "resetLinkBy"]).executeTakeFirst();
      if (row?.resetLinkAt === null || row?.resetLinkBy === null || row === undefined) return undefined;
      return { at: row.resetLinkAt, madeBy: row.resetLinkBy };
    },

    /** Records that the operator set the user's password on the server's machine. */
    notePasswordSet: (userId: string, at: number) => users.update({ userId }, { passwordSetAt: at }),

    /** Returns when the operator last set the password. */
    async findPasswordSet(userId: string): Promise<number | undefined> {
      const row = await users.select({ userId }).select("passwordSetAt").executeTakeFirst();
      return row?.passwordSetAt ?? undefined;
    },

    /** Sets a person's time zone to that of their device, unless the person has one. */
    fillTimeZone: (userId: string, timeZone: string) => users.update({ userId, timeZone: null }, { timeZone }),

    setName: (userId: string, name: string) => users.update({ userId }, { name }),

    /** Replaces the address and the time of its verification. @throws ApiError `email_taken` */
    async setEmail(userId: string, email: string, verifiedAt: number | null): Promise<void> {
      const emailKey = emailKeyOf(email);
      const holder = await users.find({ emailKey });
      if (holder && holder.userId !== userId) throw emailTaken();
      await keepFormerAddresses(sql, userId, emailKey);
      await users.update({ userId }, { email, emailKey, emailVerifiedAt: verifiedAt });
    },

    /** Marks the address as verified, if it is still this one and was not verified before. */
    markVerified: (userId: string, email: string, at: number) =>
      users.update({ userId, emailKey: emailKeyOf(email), emailVerifiedAt: null }, { emailVerifiedAt: at }),

    /** Returns the workspaces of which a person is a member, in the order of joining. */
    membershipsOf: (userId: string) =>
      acrossWorkspaces(sql, MEMBERS)
        .select({ userId })
        .select(["workspaceId", "role", "joinedAt"])
        .orderBy("joinedAt")
        .orderBy("workspaceId")
        .execute(),
  };
}

/** Reads and writes the workspaces themselves. */
// Raw: the workspaces themselves, and look-ups before one is known.
export function makeWorkspaceRecordStore(sql: SqlHandles) {
  const workspaces = acrossWorkspaces(sql, WORKSPACES);
  const invitations = acrossWorkspaces(sql, INVITATIONS);
  return {
    find: (workspaceId: string) => workspaces.find({ workspaceId }),

    /** Returns all workspaces, the oldest first. */
    list: () => recordsOf(WORKSPACES, workspaces.select().selectAll().orderBy("createdAt").orderBy("workspaceId")),

    /** Adds a workspace, which masks secrets by default. */
    insert: (workspace: Omit<WorkspaceRecord, "secrets" | "identityDomains" | "maxAclAgeMs">) =>
      workspaces.insert(workspace),

    update: (
      workspaceId: string,
      change: Partial<Pick<WorkspaceRecord, "name" | "timeZone" | "secrets" | "identityDomains" | "maxAclAgeMs">>,
    ) => workspaces.update({ workspaceId }, change),

    /** Returns an invitation by the SHA-256 of its token, before its workspace is known. */
    findInvitation: (tokenHash: string) => invitations.find({ tokenHash }),

    /** Returns the open invitations of an address in all workspaces, newest first. */
    listOpenInvitationsOf: (email: string, now: number) =>
      recordsOf(
        INVITATIONS,
        invitations
          .select({ email: emailKeyOf(email), ...OPEN })
          .selectAll()
          .where("expiresAt", ">", now)
          .orderBy("createdAt", "desc")
          .orderBy("invitationId", "desc"),
      ),
  };
}

/** The column values of an invitation that can be accepted while it hasn't expired. */
export const OPEN = { acceptedAt: null, revokedAt: null };

/** Reads and writes the invitations of one workspace. */
export function makeInvitationStore(sql: SqlHandles, workspaceId: string) {
  const invitations = inWorkspace(sql, workspaceId, INVITATIONS);
  return {
    find: (invitationId: string) => invitations.find({ invitationId }),

    /** Returns the invitations that weren't withdrawn, by (createdAt, invitationId) descending. */
    list(page: PageRequest): Promise<InvitationRecord[]> {
      const kept = invitations.select({ revokedAt: null }).selectAll();
      return recordsOf(INVITATIONS, pageOf(kept, ["createdAt", "invitationId"], "desc", page));
    },

    insert: invitations.insert,

    /**
     * Accepts an invitation. Returns true for exactly one caller, and only while it is neither accepted nor withdrawn
     * nor expired.
     */
    async accept(invitationId: string, at: number): Promise<boolean> {
      const accepted = invitations.updating({ invitationId, ...OPEN }).set({ acceptedAt: at });
      return (await changesOf(accepted.where("expiresAt", ">", at))) === 1;
    },

    revoke: (invitationId: string, at: number) =>
      invitations.update({ invitationId, revokedAt: null }, { revokedAt: at }),

    /** Withdraws the open invitations of an address. */
    revokeOpenOf: (email: string, at: number) =>
      invitations.update({ email: emailKeyOf(email), ...OPEN }, { revokedAt: at }),
  };
}

/**
 * Returns the key of an address. Addresses are equal when their keys are. Only ASCII letters are lower-cased. Source:
 * S3.
 */
export function emailKeyOf(email: string): string {
  return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function emailTaken(): ApiError {
  return new ApiError("email_taken", { message: "An account with this address already exists.", field: "email" });
}
