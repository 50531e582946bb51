import { Role } from "#api/common.ts";
import type { SqlHandles } from "#storage/handles.ts";

/** A credential with the current membership of its person. */
export interface WithMembership {
  role: Role;
  /** The person's time zone, else the workspace's. */
  timeZone: string;
}

/** Selects members, to be joined with their credentials. */
// Raw: a credential is found by its secret, before its workspace is known.
export function memberships(read: SqlHandles["read"]) {
  return read
    .selectFrom("members")
    .innerJoin("users", "users.userId", "members.userId")
    .innerJoin("workspaces", "workspaces.workspaceId", "members.workspaceId")
    .select(["members.role", "users.timeZone as ownZone", "workspaces.timeZone as workspaceZone"]);
}

/** Returns the membership in a row of `memberships`. */
export function membershipIn(row: { role: string; ownZone: string | null; workspaceZone: string }): WithMembership {
  return { role: Role.parse(row.role), timeZone: row.ownZone ?? row.workspaceZone };
}
