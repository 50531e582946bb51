import type { Role } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { INVITATIONS, USERS, WORKSPACES } from "#storage/tables/people.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import { keepFormerAddresses } from "./former-addresses.ts";
import { pageOf, type PageRequest } from "./pages.ts";

/** A person, across workspaces. Instants are epoch milliseconds. */
export type UserRecord = RecordOf<typeof USERS>;

/** Instants are epoch milliseconds. */
export type WorkspaceRecord = RecordOf<typeof WORKSPACES>;

/** Instants are epoch milliseconds. */
export type InvitationRecord = RecordOf<typeof INVITATIONS>;

/** People, across workspaces. */
// Raw: people belong to no workspace.
export function makeUserStore(sql: SqlHandles) {
  return {
    async find(userId: string): Promise<UserRecord | undefined> {
      const row = await sql.read.selectFrom("users").selectAll().where("userId", "=", userId).executeTakeFirst();
      return row && USERS.read(row);
    },

    /** By address, ASCII-lower-case. */
    async findByEmail(email: string): Promise<UserRecord | undefined> {
      const row = await sql.read
        .selectFrom("users")
        .selectAll()
        .where("emailKey", "=", emailKeyOf(email))
        .executeTakeFirst();
      return row && USERS.read(row);
    },

    /** @throws ApiError `email_taken` */
    async insert(user: UserRecord): Promise<void> {
      const result = await sql.write
        .insertInto("users")
        .values({ ...user, emailKey: emailKeyOf(user.email) })
        .onConflict((oc) => oc.column("emailKey").doNothing())
        .executeTakeFirst();
      if (result.numInsertedOrUpdatedRows === 0n) throw emailTaken();
    },

    async setPasswordHash(userId: string, passwordHash: string): Promise<void> {
      await sql.write.updateTable("users").set({ passwordHash }).where("userId", "=", userId).execute();
    },

    async setTimeZone(userId: string, timeZone: string | null): Promise<void> {
      await sql.write.updateTable("users").set({ timeZone }).where("userId", "=", userId).execute();
    },

    /** Remembers that this person made a link by which they could sign in as the user. */
    async noteResetLink(userId: string, madeBy: string, at: number): Promise<void> {
      const change = { resetLinkAt: at, resetLinkBy: madeBy };
      await sql.write.updateTable("users").set(change).where("userId", "=", userId).execute();
    },

    /** The last such link. */
    async findResetLink(userId: string): Promise<{ at: number; madeBy: string } | undefined> {
      const row = await sql.read
        .selectFrom("users")
        .select(["resetLinkAt", "resetLinkBy"])
        .where("userId", "=", userId)
        .executeTakeFirst();
      if (row?.resetLinkAt === null || row?.resetLinkBy === null || row === undefined) return undefined;
      return { at: row.resetLinkAt, madeBy: row.resetLinkBy };
    },

    /** Remembers that the operator set the user's password on the server's machine. */
    async notePasswordSet(userId: string, at: number): Promise<void> {
      const change = { passwordSetAt: at };
      await sql.write.updateTable("users").set(change).where("userId", "=", userId).execute();
    },

    /** When that was last. */
    async findPasswordSet(userId: string): Promise<number | undefined> {
      const row = await sql.read
        .selectFrom("users")
        .select("passwordSetAt")
        .where("userId", "=", userId)
        .executeTakeFirst();
      return typeof row?.passwordSetAt === "number" ? row.passwordSetAt : undefined;
    },

    /** Sets a person's time zone to their device's, unless they have one. */
    async fillTimeZone(userId: string, timeZone: string): Promise<void> {
      await sql.write
        .updateTable("users")
        .set({ timeZone })
        .where("userId", "=", userId)
        .where("timeZone", "is", null)
        .execute();
    },

    async setName(userId: string, name: string): Promise<void> {
      await sql.write.updateTable("users").set({ name }).where("userId", "=", userId).execute();
    },

    /** Replaces the address and its verification. @throws ApiError `email_taken` */
    async setEmail(userId: string, email: string, verifiedAt: number | null): Promise<void> {
      const emailKey = emailKeyOf(email);
      const other = await sql.read
        .selectFrom("users")
        .select("userId")
        .where("emailKey", "=", emailKey)
        .where("userId", "!=", userId)
        .executeTakeFirst();
      if (other) throw emailTaken();
      await keepFormerAddresses(sql, userId, emailKey);
      await sql.write
        .updateTable("users")
        .set({ email, emailKey, emailVerifiedAt: verifiedAt })
        .where("userId", "=", userId)
        .execute();
    },

    /** Marks the address verified, if it is still this one and was not verified before. */
    async markVerified(userId: string, email: string, at: number): Promise<void> {
      await sql.write
        .updateTable("users")
        .set({ emailVerifiedAt: at })
        .where("userId", "=", userId)
        .where("emailKey", "=", emailKeyOf(email))
        .where("emailVerifiedAt", "is", null)
        .execute();
    },

    /** The workspaces a person is a member of, in the order of joining. */
    async membershipsOf(userId: string): Promise<{ workspaceId: string; role: Role; joinedAt: number }[]> {
      return await sql.read
        .selectFrom("members")
        .select(["workspaceId", "role", "joinedAt"])
        .where("userId", "=", userId)
        .orderBy("joinedAt")
        .orderBy("workspaceId")
        .execute();
    },
  };
}

/** The workspaces themselves. */
// Raw: the workspaces themselves, and look-ups before one is known.
export function makeWorkspaceRecordStore(sql: SqlHandles) {
  return {
    find: (workspaceId: string): Promise<WorkspaceRecord | undefined> =>
      inWorkspace(sql, workspaceId, WORKSPACES).find({}),

    /** Oldest first. */
    async list(): Promise<WorkspaceRecord[]> {
      const rows = await sql.read
        .selectFrom("workspaces")
        .selectAll()
        .orderBy("createdAt")
        .orderBy("workspaceId")
        .execute();
      return rows.map(WORKSPACES.read);
    },

    /** A new one masks secrets. */
    async insert(workspace: Omit<WorkspaceRecord, "secrets" | "identityDomains" | "maxAclAgeMs">): Promise<void> {
      await sql.write.insertInto("workspaces").values(workspace).execute();
    },

    async update(
      workspaceId: string,
      change: Partial<Pick<WorkspaceRecord, "name" | "timeZone" | "secrets" | "identityDomains" | "maxAclAgeMs">>,
    ): Promise<void> {
      await inWorkspace(sql, workspaceId, WORKSPACES).update({}, change);
    },

    /** An invitation by the SHA-256 of its token, before its workspace is known. */
    async findInvitation(tokenHash: string): Promise<InvitationRecord | undefined> {
      const row = await sql.read
        .selectFrom("invitations")
        .selectAll()
        .where("tokenHash", "=", tokenHash)
        .executeTakeFirst();
      return row && INVITATIONS.read(row);
    },

    /** The open invitations of an address in all workspaces, newest first. */
    async listOpenInvitationsOf(email: string, now: number): Promise<InvitationRecord[]> {
      const rows = await sql.read
        .selectFrom("invitations")
        .selectAll()
        .where("email", "=", emailKeyOf(email))
        .where("acceptedAt", "is", null)
        .where("revokedAt", "is", null)
        .where("expiresAt", ">", now)
        .orderBy("createdAt", "desc")
        .orderBy("invitationId", "desc")
        .execute();
      return rows.map(INVITATIONS.read);
    },
  };
}

/** Invitations of one workspace. */
export function makeInvitationStore(sql: SqlHandles, workspaceId: string) {
  const invitations = inWorkspace(sql, workspaceId, INVITATIONS);
  const open = { acceptedAt: null, revokedAt: null };
  return {
    find: (invitationId: string): Promise<InvitationRecord | undefined> => invitations.find({ invitationId }),

    /** Those not withdrawn, by (createdAt, invitationId) descending. */
    async list(page: PageRequest): Promise<InvitationRecord[]> {
      const kept = invitations.select({ revokedAt: null }).selectAll();
      return (await pageOf(kept, ["createdAt", "invitationId"], "desc", page).execute()).map(INVITATIONS.read);
    },

    insert: invitations.insert,

    /** True for exactly one caller, and only while it is neither accepted nor withdrawn nor expired. */
    async accept(invitationId: string, at: number): Promise<boolean> {
      const result = await invitations
        .updating({ invitationId, ...open })
        .set({ acceptedAt: at })
        .where("expiresAt", ">", at)
        .executeTakeFirst();
      return result.numUpdatedRows === 1n;
    },

    async revoke(invitationId: string, at: number): Promise<void> {
      await invitations.update({ invitationId, revokedAt: null }, { revokedAt: at });
    },

    /** Withdraws the open invitations of an address. */
    async revokeOpenOf(email: string, at: number): Promise<void> {
      await invitations.update({ email: emailKeyOf(email), ...open }, { revokedAt: at });
    },
  };
}

/** Addresses are equal when their keys are: only ASCII letters change. Source: S3. */
export function emailKeyOf(email: string): string {
  return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function emailTaken(): ApiError {
  return new ApiError("email_taken", { message: "An account with this address already exists.", field: "email" });
}
