import { forbidden } from "#api/errors.ts";
import { type ConnectionRecord, maySign } from "#storage/records/connections.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";

type Signed = Pick<ConnectionRecord, "ownerUserId" | "way">;

/**
 * Whether the role of a connection's owner still allows requests with the connection: only admins may share the content
 * that a server's own secret gives access to. Each request checks it, so requests stop and resume with the role.
 * Source: S64.
 */
export async function ownerMaySign({ members }: Pick<WorkspaceStore, "members">, connection: Signed): Promise<boolean> {
  if (connection.way !== "server") return true;
  return maySign(connection, (await members.find(connection.ownerUserId))?.role);
}

/** @throws ApiError `forbidden`; the connection isn't lost by it, and its connectors don't stop for good */
export async function requireMaySign(workspace: Pick<WorkspaceStore, "members">, connection: Signed): Promise<void> {
  if (await ownerMaySign(workspace, connection)) return;
  throw forbidden(
    "This connection uses the server's own secret, and its owner is no longer an admin.",
    "It works again once its owner is an admin. An admin can create their own connection, and its owner one with their own token.",
  );
}

/** A `statusReason`: a connection doesn't work now because its owner isn't an admin. */
export const NO_ADMIN = "owner_no_admin";
