import type { CursorCodec } from "#server/http/cursor.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import { wireForm } from "#server/http/wire-form.ts";
import type { Parts } from "#storage/records/parts.ts";
import { readPage } from "#server/http/pages.ts";
import type { MemberHandlers } from "#server/http/mount.ts";
import { Workspace } from "#api/session.ts";
import { Member, type WorkspaceSettings, type workspaceRoutes } from "#api/workspace.ts";
import type { Role } from "#api/common.ts";
import { ApiError, existing, forbidden } from "#api/errors.ts";
import { requireAbove } from "#storage/access/ladder.ts";
import { actsAsAdmin, type Actor } from "#storage/access/actor.ts";
import { actOn } from "#storage/audit-act.ts";
import { defined } from "#core/defined.ts";
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

/** Makes the service for the workspace and its members. Rules for roles: S22; for removal: S13. */
export function makeWorkspaceService(
  options: Pick<Parts, "store" | "clock"> & {
    audit: AuditRecorder;
    cursors: CursorCodec;
    syncSignals: Pick<SyncSignals, "stop">;
    leftGrants: Pick<LeftGrants, "end">;
    /** The instances in the server's settings. */
    instances: readonly RegisteredInstance[];
    /** Reports that the connections of a person who left were revoked, in the same transaction. */
    reportRevoked(tx: Store, workspaceId: string, connections: readonly EndedConnection[]): Promise<void>;
  },
): MemberHandlers<Omit<typeof workspaceRoutes, "resetMember">> {
  const { store, clock, audit, syncSignals } = options;

  async function requireWorkspace(from: Store, workspaceId: string): Promise<{ workspace: WorkspaceSettings }> {
    const record = existing(await from.workspaces.find(workspaceId));
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
      await audit.recordSystem(
        tx,
        workspaceId,
        actOn(userId, "person.unlinked", { connectorId, principal, from: userId, to: null, reason }),
      );
    }
  }

  return {
    get: ({ actor }) => requireWorkspace(store, actor.workspaceId),

    /**
     * @throws ApiError `forbidden` if a person who isn't an owner sets identity domains, `invalid_request` for invalid
     *   ones
     */
    async update({ actor, body }) {
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
        await audit.record(
          tx,
          actor,
          actOn(actor.workspaceId, "workspace.changed", {
            fields: [...Object.keys(change), ...(instances ? ["instances"] : [])],
            ...defined({ secrets: body.secrets, identityDomains, maxAclAgeHours: body.maxAclAgeHours }),
            ...(identityDomains && { identityDomainsBefore: before?.identityDomains ?? [] }),
            ...changed,
          }),
        );
        return requireWorkspace(tx, actor.workspaceId);
      });
    },

    /** Lists the members, in the order in which they joined. */
    async listMembers({ actor, query }) {
      const { members } = store.in(actor.workspaceId);
      const { page, nextCursor } = await readPage(
        options,
        actor,
        {
          route: "GET /api/workspace/members",
          kind: "user",
          read: (wanted) => members.list(wanted),
          positionOf: ({ joinedAt, userId }) => ({ value: joinedAt, id: userId }),
        },
        query,
      );
      return { members: page.map(toMember), nextCursor };
    },

    async getMember({ actor, params: { id: userId } }) {
      return { member: toMember(await requireMember(store, actor, userId)) };
    },

    /** @throws ApiError `role_too_low`, `last_owner`, `not_found` */
    async updateMember({ actor, params: { id: userId }, body: { role } }) {
      return store.transaction(async (tx) => {
        const member = await requireMember(tx, actor, userId);
        if (member.role === role) return { member: toMember(member) };
        requireAbove(actor, member.role);
        requireAbove(actor, role);
        await keepLastOwner(tx, actor.workspaceId, member);
        const ended = await tx.in(actor.workspaceId).members.setRole(userId, role, clock.now());
        if (ended) await recordUntrusted(tx, actor, ended.endedJoins);
        const details = { from: member.role, to: role, ...endedBy(ended) };
        await audit.record(tx, actor, actOn(userId, "member.role_changed", details));
        return { member: toMember({ ...member, role }) };
      });
    },

    /**
     * Removes a member with all their credentials, or lets the actor leave.
     *
     * @throws ApiError `role_too_low`, `last_owner`, `not_found`
     */
    async removeMember({ actor, params: { id: userId } }) {
      const left = await store.transaction(async (tx) => {
        const member = await requireMember(tx, actor, userId);
        if (userId !== actor.userId) requireAdminAbove(actor, member.role);
        await keepLastOwner(tx, actor.workspaceId, member);
        const removed = await tx.in(actor.workspaceId).members.remove(userId, clock.now());
        const { stoppedSyncIds, endedJoins, endedConnections } = removed;
        const details = { role: member.role, ...endedBy(removed) };
        await options.reportRevoked(tx, actor.workspaceId, endedConnections);
        await recordUntrusted(tx, actor, endedJoins);
        const action = userId === actor.userId ? "member.left" : "member.removed";
        await audit.record(tx, actor, actOn(userId, action, details));
        return { stoppedSyncIds, endedConnections };
      });
      syncSignals.stop(left.stoppedSyncIds);
      options.leftGrants.end(actor.workspaceId, left.endedConnections);
    },
  };
}

function requireAdminAbove(actor: Actor, role: Role): void {
  if (!actsAsAdmin(actor)) {
    throw forbidden("Only admins of the workspace can remove someone else.");
  }
  requireAbove(actor, role);
}

async function requireMember(from: Store, actor: Actor, userId: string): Promise<MemberRecord> {
  return existing(await from.in(actor.workspaceId).members.find(userId));
}

async function keepLastOwner(tx: Store, workspaceId: string, member: MemberRecord): Promise<void> {
  if (member.role !== "owner" || (await tx.in(workspaceId).members.countOwners()) > 1) return;
  throw new ApiError("last_owner", { message: "This is the last owner. Make someone else an owner first." });
}

/** The credentials and resources that ended when a role was lowered, as counts for the audit. */
function endedBy(outcome: FallOutcome | undefined): { ended?: FallOutcome["ended"] } {
  return outcome && Object.keys(outcome.ended).length > 0 ? { ended: outcome.ended } : {};
}

function toMember(record: MemberRecord): Member {
  return wireForm(Member, record, {});
}

const HOUR_MS = 3_600_000;

/** Milliseconds after which items that were read under the old setting are stored. */
const LATE_MS = 120_000;

/** Queues the work on stored items: at once, and once more for items that were being read at that time. */
async function applySecretsLater(tx: Store, workspaceId: string, now: number): Promise<void> {
  for (const [name, runAt] of [
    ["now", now],
    ["late", now + LATE_MS],
  ] as const) {
    const dedupeKey = `apply_secrets_${name}:${workspaceId}`;
    await tx.queue.enqueue({ workspaceId, type: "apply_secrets", dedupeKey, payload: {}, priority: 10, runAt });
  }
}

/** Converts a workspace to the API's form. */
export function toWorkspace(record: WorkspaceRecord): Workspace {
  return wireForm(Workspace, record, { id: record.workspaceId });
}
