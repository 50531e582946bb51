import type { Workspace } from "#api/session.ts";
import type { Member, PageQuery, PatchWorkspaceBody, WorkspaceSettings } from "#api/workspace.ts";
import type { Role } from "#api/common.ts";
import { ApiError, noSuchThing } from "#api/errors.ts";
import { requireAbove } from "#storage/access/ladder.ts";
import { cutPage, type CursorCodec } from "#server/http/cursor.ts";
import { actsAsAdmin, type Actor } from "#storage/access/actor.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { Clock } from "#core/clock.ts";
import { defined } from "#core/defined.ts";
import { isoOf } from "#core/instant.ts";
import type { SyncSignals } from "#core/sync-signals.ts";
import type { UntrustedJoin } from "#storage/records/distrust.ts";
import type { FallOutcome } from "#storage/records/role-fall.ts";
import type { LeftGrants } from "./left-grants.ts";
import type { EndedConnection } from "#storage/records/connections.ts";
import type { MemberRecord } from "#storage/records/members.ts";
import type { RegisteredInstance } from "#storage/records/instances.ts";
import type { WorkspaceRecord } from "#storage/records/people.ts";
import type { Store } from "#storage/records/store.ts";
import { askAgain } from "./acl-age.ts";
import { checkDomains, checkInstances, setInstances } from "./instances.ts";

export type WorkspaceService = ReturnType<typeof makeWorkspaceService>;

/** The workspace and its members. Role ladder: S22; removal: S13. */
export function makeWorkspaceService(options: {
  store: Store;
  clock: Clock;
  cursors: CursorCodec;
  audit: AuditRecorder;
  syncSignals: Pick<SyncSignals, "stop">;
  leftGrants: Pick<LeftGrants, "end">;
  /** Instances of the server's settings. */
  instances: readonly RegisteredInstance[];
  /** Reports, in the same transaction, that the connections of someone who left were revoked. */
  tellRevoked(tx: Store, workspaceId: string, connections: readonly EndedConnection[]): Promise<void>;
}) {
  const { store, clock, cursors, audit, syncSignals } = options;

  async function requireWorkspace(from: Store, workspaceId: string): Promise<{ workspace: WorkspaceSettings }> {
    const record = await from.workspaces.find(workspaceId);
    if (!record) throw noSuchThing();
    const registered = await from.in(workspaceId).instances.list();
    const instances = [
      ...options.instances.map((each) => ({ ...each, setBy: "operator" as const })),
      ...registered.map((each) => ({ ...each, setBy: "workspace" as const })),
    ];
    const { identityDomains, maxAclAgeMs } = record;
    return {
      workspace: { ...toWorkspace(record), instances, identityDomains, maxAclAgeHours: maxAclAgeMs / HOUR_MS },
    };
  }

  async function recordUntrusted(tx: Store, { workspaceId }: Actor, joins: readonly UntrustedJoin[]): Promise<void> {
    for (const { principal, userId, reason, connectorId } of joins) {
      await audit.recordSystem(tx, workspaceId, {
        action: "person.unlinked",
        target: { type: "user", id: userId },
        details: { connectorId, principal, from: userId, to: null, reason },
      });
    }
  }

  return {
    get: (actor: Actor): Promise<{ workspace: WorkspaceSettings }> => requireWorkspace(store, actor.workspaceId),

    /**
     * @throws ApiError `forbidden` when anyone but an owner sets identity domains, `invalid_request` for invalid ones
     */
    async update(actor: Actor, body: PatchWorkspaceBody): Promise<{ workspace: WorkspaceSettings }> {
      const change = {
        ...defined({ name: body.name, timeZone: body.timeZone, secrets: body.secrets }),
        ...(body.maxAclAgeHours !== undefined && { maxAclAgeMs: body.maxAclAgeHours * HOUR_MS }),
        ...defined({ identityDomains: body.identityDomains && checkDomains(actor, body.identityDomains) }),
      };
      const instances = body.instances && checkInstances(body.instances);
      return store.transaction(async (tx) => {
        const before = await tx.workspaces.find(actor.workspaceId);
        await tx.workspaces.update(actor.workspaceId, change);
        if (change.maxAclAgeMs !== undefined && change.maxAclAgeMs !== before?.maxAclAgeMs) {
          await askAgain(tx.in(actor.workspaceId), { before: before?.maxAclAgeMs ?? 0, now: clock.now() });
        }
        if (body.secrets !== undefined && body.secrets !== before?.secrets) {
          await applySecretsLater(tx, actor.workspaceId, clock.now());
        }
        const changed = instances && (await setInstances(tx, actor, instances, clock.now()));
        const { identityDomains } = change;
        const target = { type: "workspace", id: actor.workspaceId };
        await audit.record(tx, actor, {
          action: "workspace.changed",
          target,
          details: {
            fields: [...Object.keys(change), ...(instances ? ["instances"] : [])],
            ...defined({ secrets: body.secrets, identityDomains, maxAclAgeHours: body.maxAclAgeHours }),
            ...(identityDomains && { identityDomainsBefore: before?.identityDomains ?? [] }),
            ...changed,
          },
        });
        return requireWorkspace(tx, actor.workspaceId);
      });
    },

    /** Lists the members in the order they joined. */
    async listMembers(
      actor: Actor,
      { limit, cursor }: PageQuery,
    ): Promise<{ members: Member[]; nextCursor: string | null }> {
      const { workspaceId, userId } = actor;
      const scope = { workspaceId, userId, route: "GET /api/workspace/members", args: {} };
      const after = cursor === undefined ? undefined : cursors.decode(scope, cursor);
      const rows = await store.in(workspaceId).members.list({
        limit: limit + 1,
        ...(after && { after: { value: after.value, id: `usr_${after.id}` } }),
      });
      const { page, nextCursor } = cutPage(
        rows,
        limit,
        (row) => ({ flags: 0, value: row.joinedAt, id: row.userId.slice(4) }),
        (position) => cursors.encode(scope, position),
      );
      return { members: page.map(toMember), nextCursor };
    },

    async getMember(actor: Actor, userId: string): Promise<{ member: Member }> {
      return { member: toMember(await requireMember(store, actor, userId)) };
    },

    /** @throws ApiError `role_too_low`, `last_owner`, `not_found` */
    async setRole(actor: Actor, userId: string, role: Role): Promise<{ member: Member }> {
      return store.transaction(async (tx) => {
        const member = await requireMember(tx, actor, userId);
        if (member.role === role) return { member: toMember(member) };
        requireAbove(actor, member.role);
        requireAbove(actor, role);
        await keepLastOwner(tx, actor.workspaceId, member);
        const ended = await tx.in(actor.workspaceId).members.setRole(userId, role, clock.now());
        if (ended) await recordUntrusted(tx, actor, ended.endedJoins);
        const details = { from: member.role, to: role, ...endedBy(ended) };
        await audit.record(tx, actor, { action: "member.role_changed", target: { type: "user", id: userId }, details });
        return { member: toMember({ ...member, role }) };
      });
    },

    /**
     * Removes a member with all their credentials, or lets the actor leave.
     *
     * @throws ApiError `role_too_low`, `last_owner`, `not_found`
     */
    async removeMember(actor: Actor, userId: string): Promise<void> {
      const left = await store.transaction(async (tx) => {
        const member = await requireMember(tx, actor, userId);
        if (userId !== actor.userId) requireAdminAbove(actor, member.role);
        await keepLastOwner(tx, actor.workspaceId, member);
        const removed = await tx.in(actor.workspaceId).members.remove(userId, clock.now());
        const { stoppedSyncIds, endedJoins, endedConnections } = removed;
        const details = { role: member.role, ...endedBy(removed) };
        await options.tellRevoked(tx, actor.workspaceId, endedConnections);
        await recordUntrusted(tx, actor, endedJoins);
        const action = userId === actor.userId ? "member.left" : "member.removed";
        await audit.record(tx, actor, { action, target: { type: "user", id: userId }, details });
        return { stoppedSyncIds, endedConnections };
      });
      syncSignals.stop(left.stoppedSyncIds);
      options.leftGrants.end(actor.workspaceId, left.endedConnections);
    },
  };
}

function requireAdminAbove(actor: Actor, role: Role): void {
  if (!actsAsAdmin(actor)) {
    throw new ApiError("forbidden", { message: "Only admins of the workspace can remove someone else." });
  }
  requireAbove(actor, role);
}

async function requireMember(from: Store, actor: Actor, userId: string): Promise<MemberRecord> {
  const member = await from.in(actor.workspaceId).members.find(userId);
  if (!member) throw noSuchThing();
  return member;
}

async function keepLastOwner(tx: Store, workspaceId: string, member: MemberRecord): Promise<void> {
  if (member.role !== "owner" || (await tx.in(workspaceId).members.countOwners()) > 1) return;
  throw new ApiError("last_owner", { message: "This is the last owner. Make someone else an owner first." });
}

/** The credentials and resources that a lowered role ended, as counts for the audit. */
function endedBy(outcome: FallOutcome | undefined): { ended?: FallOutcome["ended"] } {
  return outcome && Object.keys(outcome.ended).length > 0 ? { ended: outcome.ended } : {};
}

function toMember({ userId, name, email, role, joinedAt }: MemberRecord): Member {
  return { userId, name, email, role, joinedAt: isoOf(joinedAt) };
}

const HOUR_MS = 3_600_000;

/** By then, items that were read under the old setting are stored. */
const LATE_MS = 120_000;

/** Queues the work on stored items: at once, and again for items that were being read. */
async function applySecretsLater(tx: Store, workspaceId: string, now: number): Promise<void> {
  for (const [name, runAt] of [
    ["now", now],
    ["late", now + LATE_MS],
  ] as const) {
    const dedupeKey = `apply_secrets_${name}:${workspaceId}`;
    await tx.queue.enqueue({ workspaceId, type: "apply_secrets", dedupeKey, payload: {}, priority: 10, runAt });
  }
}

/** Converts a workspace to the contract's form. */
export function toWorkspace({ workspaceId, name, timeZone, secrets, createdAt }: WorkspaceRecord): Workspace {
  return { id: workspaceId, name, timeZone, secrets, createdAt: isoOf(createdAt) };
}
