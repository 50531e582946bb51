import { Role } from "#api/common.ts";
import type { SqlHandles } from "#storage/handles.ts";

/** A credential with its person's current membership. */
export interface WithMembership {
  role: Role;
  /** The person's zone, else the workspace's. */
  timeZone: string;
}

/** Members, to be joined with a credential of theirs. */
// Raw: a credential is found by its secret, before its workspace is known.
export function memberships(read: SqlHandles["read"]) {
  return read
    .selectFrom("members")
    .innerJoin("users", "users.userId", "members.userId")
    .innerJoin("workspaces", "workspaces.workspaceId", "members.workspaceId")
    .select(["members.role", "users.timeZone as ownZone", "workspaces.timeZone as workspaceZone"]);
}

/** The membership in a row of `memberships`. */
export function membershipIn(row: { role: string; ownZone: string | null; workspaceZone: string }): WithMembership {
  return { role: Role.parse(row.role), timeZone: row.ownZone ?? row.workspaceZone };
}
