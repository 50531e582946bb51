import type { Selectable } from "kysely";
import { Role } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import { SecretsSetting } from "#api/session.ts";
import {
  emailKeyOf,
  type InvitationRecord,
  type InvitationStore,
  type UserRecord,
  type UserStore,
  type WorkspaceRecord,
  type WorkspaceRecordStore,
} from "#storage/records-types/people.ts";
import type { SqlHandles } from "#storage/handles.ts";
import type { InvitationsTable, UsersTable, WorkspacesTable } from "#storage/schema.ts";
import { toColumn, toDate, toDateOrNull } from "#storage/times.ts";

/** People, across workspaces. */
export function makeUserStore(sql: SqlHandles): UserStore {
  return {
    async find(userId) {
      const row = await sql.read.selectFrom("users").selectAll().where("userId", "=", userId).executeTakeFirst();
      return row && toUser(row);
    },

    async findByEmail(email) {
      const row = await sql.read
        .selectFrom("users")
        .selectAll()
        .where("emailKey", "=", emailKeyOf(email))
        .executeTakeFirst();
      return row && toUser(row);
    },

    async insert(user) {
      const emailKey = emailKeyOf(user.email);
      const result = await sql.write
        .insertInto("users")
        .values({
          ...user,
          emailKey,
          emailVerifiedAt: toColumn(user.emailVerifiedAt),
          createdAt: user.createdAt.getTime(),
        })
        .onConflict((oc) => oc.column("emailKey").doNothing())
        .executeTakeFirst();
      if (result.numInsertedOrUpdatedRows === 0n) throw emailTaken();
    },

    async setPasswordHash(userId, passwordHash) {
      await sql.write.updateTable("users").set({ passwordHash }).where("userId", "=", userId).execute();
    },

    async setTimeZone(userId, timeZone) {
      await sql.write.updateTable("users").set({ timeZone }).where("userId", "=", userId).execute();
    },

    async noteResetLink(userId, madeBy, at) {
      const change = { resetLinkAt: at.getTime(), resetLinkBy: madeBy };
      await sql.write.updateTable("users").set(change).where("userId", "=", userId).execute();
    },

    async findResetLink(userId) {
      const row = await sql.read
        .selectFrom("users")
        .select(["resetLinkAt", "resetLinkBy"])
        .where("userId", "=", userId)
        .executeTakeFirst();
      if (row?.resetLinkAt === null || row?.resetLinkBy === null || row === undefined) return undefined;
      return { at: toDate(row.resetLinkAt), madeBy: row.resetLinkBy };
    },

    async notePasswordSet(userId, at) {
      const change = { passwordSetAt: at.getTime() };
      await sql.write.updateTable("users").set(change).where("userId", "=", userId).execute();
    },

    async findPasswordSet(userId) {
      const row = await sql.read
        .selectFrom("users")
        .select("passwordSetAt")
        .where("userId", "=", userId)
        .executeTakeFirst();
      return typeof row?.passwordSetAt === "number" ? toDate(row.passwordSetAt) : undefined;
    },

    async fillTimeZone(userId, timeZone) {
      await sql.write
        .updateTable("users")
        .set({ timeZone })
        .where("userId", "=", userId)
        .where("timeZone", "is", null)
        .execute();
    },

    async setName(userId, name) {
      await sql.write.updateTable("users").set({ name }).where("userId", "=", userId).execute();
    },

    async setEmail(userId, email, verifiedAt) {
      const emailKey = emailKeyOf(email);
      const other = await sql.read
        .selectFrom("users")
        .select("userId")
        .where("emailKey", "=", emailKey)
        .where("userId", "!=", userId)
        .executeTakeFirst();
      if (other) throw emailTaken();
      await sql.write
        .updateTable("users")
        .set({ email, emailKey, emailVerifiedAt: toColumn(verifiedAt) })
        .where("userId", "=", userId)
        .execute();
    },

    async markVerified(userId, email, at) {
      await sql.write
        .updateTable("users")
        .set({ emailVerifiedAt: at.getTime() })
        .where("userId", "=", userId)
        .where("emailKey", "=", emailKeyOf(email))
        .where("emailVerifiedAt", "is", null)
        .execute();
    },

    async membershipsOf(userId) {
      const rows = await sql.read
        .selectFrom("members")
        .select(["workspaceId", "role", "joinedAt"])
        .where("userId", "=", userId)
        .orderBy("joinedAt")
        .orderBy("workspaceId")
        .execute();
      return rows.map((row) => ({ ...row, role: Role.parse(row.role), joinedAt: toDate(row.joinedAt) }));
    },
  };
}

/** The workspaces themselves. */
export function makeWorkspaceRecordStore(sql: SqlHandles): WorkspaceRecordStore {
  return {
    async find(workspaceId) {
      const row = await sql.read
        .selectFrom("workspaces")
        .selectAll()
        .where("workspaceId", "=", workspaceId)
        .executeTakeFirst();
      return row && toWorkspace(row);
    },

    async list() {
      const rows = await sql.read
        .selectFrom("workspaces")
        .selectAll()
        .orderBy("createdAt")
        .orderBy("workspaceId")
        .execute();
      return rows.map(toWorkspace);
    },

    async insert(workspace) {
      await sql.write
        .insertInto("workspaces")
        .values({ ...workspace, createdAt: workspace.createdAt.getTime() })
        .execute();
    },

    async update(workspaceId, change) {
      if (Object.keys(change).length === 0) return;
      await sql.write.updateTable("workspaces").set(change).where("workspaceId", "=", workspaceId).execute();
    },

    async findInvitation(tokenHash) {
      const row = await sql.read
        .selectFrom("invitations")
        .selectAll()
        .where("tokenHash", "=", tokenHash)
        .executeTakeFirst();
      return row && toInvitation(row);
    },

    async listOpenInvitationsOf(email, now) {
      const rows = await sql.read
        .selectFrom("invitations")
        .selectAll()
        .where("email", "=", emailKeyOf(email))
        .where("acceptedAt", "is", null)
        .where("revokedAt", "is", null)
        .where("expiresAt", ">", now.getTime())
        .orderBy("createdAt", "desc")
        .orderBy("invitationId", "desc")
        .execute();
      return rows.map(toInvitation);
    },
  };
}

/** Invitations of one workspace. */
export function makeInvitationStore(sql: SqlHandles, workspaceId: string): InvitationStore {
  return {
    async find(invitationId) {
      const row = await sql.read
        .selectFrom("invitations")
        .selectAll()
        .where("workspaceId", "=", workspaceId)
        .where("invitationId", "=", invitationId)
        .executeTakeFirst();
      return row && toInvitation(row);
    },

    async list({ limit, after }) {
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

    async insert(invitation) {
      await sql.write
        .insertInto("invitations")
        .values({
          ...invitation,
          workspaceId,
          createdAt: invitation.createdAt.getTime(),
          expiresAt: invitation.expiresAt.getTime(),
          acceptedAt: toColumn(invitation.acceptedAt),
          revokedAt: toColumn(invitation.revokedAt),
          isMailed: invitation.isMailed ? 1 : 0,
        })
        .execute();
    },

    async accept(invitationId, at) {
      const result = await sql.write
        .updateTable("invitations")
        .set({ acceptedAt: at.getTime() })
        .where("workspaceId", "=", workspaceId)
        .where("invitationId", "=", invitationId)
        .where("acceptedAt", "is", null)
        .where("revokedAt", "is", null)
        .where("expiresAt", ">", at.getTime())
        .executeTakeFirst();
      return result.numUpdatedRows === 1n;
    },

    async revoke(invitationId, at) {
      await sql.write
        .updateTable("invitations")
        .set({ revokedAt: at.getTime() })
        .where("workspaceId", "=", workspaceId)
        .where("invitationId", "=", invitationId)
        .where("revokedAt", "is", null)
        .execute();
    },

    async revokeOpenOf(email, at) {
      await sql.write
        .updateTable("invitations")
        .set({ revokedAt: at.getTime() })
        .where("workspaceId", "=", workspaceId)
        .where("email", "=", emailKeyOf(email))
        .where("acceptedAt", "is", null)
        .where("revokedAt", "is", null)
        .execute();
    },
  };
}

function toUser(row: Selectable<UsersTable>): UserRecord {
  const { userId, email, name, passwordHash, timeZone } = row;
  const emailVerifiedAt = toDateOrNull(row.emailVerifiedAt);
  return { userId, email, name, passwordHash, emailVerifiedAt, timeZone, createdAt: toDate(row.createdAt) };
}

function toWorkspace(row: Selectable<WorkspacesTable>): WorkspaceRecord {
  return { ...row, secrets: SecretsSetting.parse(row.secrets), createdAt: toDate(row.createdAt) };
}

function toInvitation(row: Selectable<InvitationsTable>): InvitationRecord {
  return {
    invitationId: row.invitationId,
    workspaceId: row.workspaceId,
    email: row.email,
    role: Role.parse(row.role),
    invitedBy: row.invitedBy,
    createdAt: toDate(row.createdAt),
    expiresAt: toDate(row.expiresAt),
    acceptedAt: toDateOrNull(row.acceptedAt),
    revokedAt: toDateOrNull(row.revokedAt),
    isMailed: row.isMailed === 1,
  };
}

function emailTaken(): ApiError {
  return new ApiError("email_taken", { message: "There is already an account with this address.", field: "email" });
}
