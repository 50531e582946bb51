import type { Selectable } from "kysely";
import { Role } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import { SecretsSetting } from "#api/session.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { keepFormerAddresses } from "./former-addresses.ts";
import type { InvitationsTable, UsersTable, WorkspacesTable } from "#storage/schema.ts";

/** A person, across workspaces. Instants are epoch milliseconds. */
export interface UserRecord {
  userId: string;
  email: string;
  name: string;
  passwordHash: string | null;
  emailVerifiedAt: number | null;
  timeZone: string | null;
  createdAt: number;
}

/** Instants are epoch milliseconds. */
export interface WorkspaceRecord {
  workspaceId: string;
  name: string;
  timeZone: string;
  /** What becomes of tokens, keys and passwords in texts: taken out, or indexed as they are. Source: S37. */
  secrets: SecretsSetting;
  /** Domains, in lower case, whose addresses say who a user of a source is here. Source: S3. */
  identityDomains: string[];
  /** How long mirrored permissions are believed. Source: S23. */
  maxAclAgeMs: number;
  createdAt: number;
}

/** Instants are epoch milliseconds. */
export interface InvitationRecord {
  invitationId: string;
  workspaceId: string;
  email: string;
  role: Role;
  invitedBy: string;
  createdAt: number;
  expiresAt: number;
  acceptedAt: number | null;
  revokedAt: number | null;
  /** True when this server sent the link to `email`: accepting it then proves the address. Source: S3. */
  isMailed: boolean;
}

/** Rows after this one: the value of the list's order, then the id. */
export interface RowsAfter {
  value: number;
  id: string;
}

export interface PageRequest {
  limit: number;
  after?: RowsAfter;
}

/** People, across workspaces. */
export function makeUserStore(sql: SqlHandles) {
  return {
    async find(userId: string): Promise<UserRecord | undefined> {
      const row = await sql.read.selectFrom("users").selectAll().where("userId", "=", userId).executeTakeFirst();
      return row && toUser(row);
    },

    /** By address, ASCII-lower-case. */
    async findByEmail(email: string): Promise<UserRecord | undefined> {
      const row = await sql.read
        .selectFrom("users")
        .selectAll()
        .where("emailKey", "=", emailKeyOf(email))
        .executeTakeFirst();
      return row && toUser(row);
    },

    /** @throws ApiError `email_taken` */
    async insert(user: UserRecord): Promise<void> {
      const emailKey = emailKeyOf(user.email);
      const result = await sql.write
        .insertInto("users")
        .values({
          ...user,
          emailKey,
          emailVerifiedAt: user.emailVerifiedAt,
          createdAt: user.createdAt,
        })
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

    /** Sets the zone of the device that somebody comes in from, unless they have one. */
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

    /** Another address, with what is known of it; nothing of the former one stays. @throws ApiError `email_taken` */
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

    /** The address was proved, if it is still this one and was not proved before. */
    async markVerified(userId: string, email: string, at: number): Promise<void> {
      await sql.write
        .updateTable("users")
        .set({ emailVerifiedAt: at })
        .where("userId", "=", userId)
        .where("emailKey", "=", emailKeyOf(email))
        .where("emailVerifiedAt", "is", null)
        .execute();
    },

    /** The workspaces a person is a member of, the one joined first first. */
    async membershipsOf(userId: string): Promise<{ workspaceId: string; role: Role; joinedAt: number }[]> {
      const rows = await sql.read
        .selectFrom("members")
        .select(["workspaceId", "role", "joinedAt"])
        .where("userId", "=", userId)
        .orderBy("joinedAt")
        .orderBy("workspaceId")
        .execute();
      return rows.map((row) => ({ ...row, role: Role.parse(row.role) }));
    },
  };
}

/** The workspaces themselves. */
export function makeWorkspaceRecordStore(sql: SqlHandles) {
  return {
    async find(workspaceId: string): Promise<WorkspaceRecord | undefined> {
      const row = await sql.read
        .selectFrom("workspaces")
        .selectAll()
        .where("workspaceId", "=", workspaceId)
        .executeTakeFirst();
      return row && toWorkspace(row);
    },

    /** Oldest first. */
    async list(): Promise<WorkspaceRecord[]> {
      const rows = await sql.read
        .selectFrom("workspaces")
        .selectAll()
        .orderBy("createdAt")
        .orderBy("workspaceId")
        .execute();
      return rows.map(toWorkspace);
    },

    /** A new one masks secrets. */
    async insert(workspace: Omit<WorkspaceRecord, "secrets" | "identityDomains" | "maxAclAgeMs">): Promise<void> {
      await sql.write.insertInto("workspaces").values(workspace).execute();
    },

    async update(
      workspaceId: string,
      {
        identityDomains,
        ...plain
      }: Partial<Pick<WorkspaceRecord, "name" | "timeZone" | "secrets" | "identityDomains" | "maxAclAgeMs">>,
    ): Promise<void> {
      const change = { ...plain, ...(identityDomains && { identityDomains: JSON.stringify(identityDomains) }) };
      if (Object.keys(change).length === 0) return;
      await sql.write.updateTable("workspaces").set(change).where("workspaceId", "=", workspaceId).execute();
    },

    /** An invitation by the SHA-256 of its token, before its workspace is known. */
    async findInvitation(tokenHash: string): Promise<InvitationRecord | undefined> {
      const row = await sql.read
        .selectFrom("invitations")
        .selectAll()
        .where("tokenHash", "=", tokenHash)
        .executeTakeFirst();
      return row && toInvitation(row);
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
      return rows.map(toInvitation);
    },
  };
}

/** Invitations of one workspace. */
export function makeInvitationStore(sql: SqlHandles, workspaceId: string) {
  return {
    async find(invitationId: string): Promise<InvitationRecord | undefined> {
      const row = await sql.read
        .selectFrom("invitations")
        .selectAll()
        .where("workspaceId", "=", workspaceId)
        .where("invitationId", "=", invitationId)
        .executeTakeFirst();
      return row && toInvitation(row);
    },

    /** Those not withdrawn, by (createdAt, invitationId) descending. */
    async list({ limit, after }: PageRequest): Promise<InvitationRecord[]> {
      let query = sql.read
        .selectFrom("invitations")
        .selectAll()
        .where("workspaceId", "=", workspaceId)
        .where("revokedAt", "is", null);
      if (after) {
        query = query.where((eb) =>
          eb.or([
            eb("createdAt", "<", after.value),
            eb("createdAt", "=", after.value).and("invitationId", "<", after.id),
          ]),
        );
      }
      const rows = await query.orderBy("createdAt", "desc").orderBy("invitationId", "desc").limit(limit).execute();
      return rows.map(toInvitation);
    },

    async insert(invitation: InvitationRecord & { tokenHash: string }): Promise<void> {
      await sql.write
        .insertInto("invitations")
        .values({
          ...invitation,
          workspaceId,
          createdAt: invitation.createdAt,
          expiresAt: invitation.expiresAt,
          acceptedAt: invitation.acceptedAt,
          revokedAt: invitation.revokedAt,
          isMailed: invitation.isMailed ? 1 : 0,
        })
        .execute();
    },

    /** True for exactly one caller, and only while it is neither accepted nor withdrawn nor expired. */
    async accept(invitationId: string, at: number): Promise<boolean> {
      const result = await sql.write
        .updateTable("invitations")
        .set({ acceptedAt: at })
        .where("workspaceId", "=", workspaceId)
        .where("invitationId", "=", invitationId)
        .where("acceptedAt", "is", null)
        .where("revokedAt", "is", null)
        .where("expiresAt", ">", at)
        .executeTakeFirst();
      return result.numUpdatedRows === 1n;
    },

    async revoke(invitationId: string, at: number): Promise<void> {
      await sql.write
        .updateTable("invitations")
        .set({ revokedAt: at })
        .where("workspaceId", "=", workspaceId)
        .where("invitationId", "=", invitationId)
        .where("revokedAt", "is", null)
        .execute();
    },

    /** Withdraws the open invitations of an address. */
    async revokeOpenOf(email: string, at: number): Promise<void> {
      await sql.write
        .updateTable("invitations")
        .set({ revokedAt: at })
        .where("workspaceId", "=", workspaceId)
        .where("email", "=", emailKeyOf(email))
        .where("acceptedAt", "is", null)
        .where("revokedAt", "is", null)
        .execute();
    },
  };
}

/** Addresses are equal when they are after this: only ASCII letters change. Source: S3. */
export function emailKeyOf(email: string): string {
  return email.replaceAll(/[A-Z]/g, (letter) => letter.toLowerCase());
}

function toUser(row: Selectable<UsersTable>): UserRecord {
  const { userId, email, name, passwordHash, emailVerifiedAt, timeZone, createdAt } = row;
  return { userId, email, name, passwordHash, emailVerifiedAt, timeZone, createdAt };
}

function toWorkspace(row: Selectable<WorkspacesTable>): WorkspaceRecord {
  // Written by `update` only.
  const identityDomains = JSON.parse(row.identityDomains) as string[];
  return { ...row, identityDomains, secrets: SecretsSetting.parse(row.secrets) };
}

function toInvitation(row: Selectable<InvitationsTable>): InvitationRecord {
  return {
    invitationId: row.invitationId,
    workspaceId: row.workspaceId,
    email: row.email,
    role: Role.parse(row.role),
    invitedBy: row.invitedBy,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    acceptedAt: row.acceptedAt,
    revokedAt: row.revokedAt,
    isMailed: row.isMailed === 1,
  };
}

function emailTaken(): ApiError {
  return new ApiError("email_taken", { message: "An account with this address already exists.", field: "email" });
}
