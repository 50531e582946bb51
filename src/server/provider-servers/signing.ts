import { forbidden } from "#api/errors.ts";
import { type ConnectionRecord, maySign } from "#storage/records/connections.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";

type Signed = Pick<ConnectionRecord, "ownerUserId" | "way">;

/**
 * Whether the role of a connection's owner still lets it sign: only admins may share what a server's own secret gives
 * access to. Checked for each request, so that it stops and resumes with the role. Source: S64.
 */
export async function ownerMaySign({ members }: Pick<WorkspaceStore, "members">, connection: Signed): Promise<boolean> {
  if (connection.way !== "server") return true;
  return maySign(connection, (await members.find(connection.ownerUserId))?.role);
}

/** @throws ApiError `forbidden`, which neither loses the connection nor stops its connectors for good */
export async function requireMaySign(workspace: Pick<WorkspaceStore, "members">, connection: Signed): Promise<void> {
  if (await ownerMaySign(workspace, connection)) return;
  throw forbidden(
    "This connection uses the server's own secret, and its owner is no longer an admin.",
    "It works again once its owner is an admin. An admin can create their own connection, and its owner one with their own token.",
  );
}

/** A `statusReason`: why a connection doesn't work for its owner now. */
export const NO_ADMIN = "owner_no_admin";
