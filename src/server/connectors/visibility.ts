import { requireMembers, requireGroups } from "#storage/records/known.ts";
import { connectorPrincipal } from "#storage/access/item-clocks.ts";
import { ApiError } from "#api/errors.ts";
import type { ConnectorAccess } from "#api/connector-records.ts";
import type { Principal } from "#core/principals.ts";
import type { SourceSpec } from "#sources/contract.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";

/** The audience of a connector, or of a connection to a provider server. */
type Access = Pick<ConnectorRecord, "visibility" | "ownerUserId"> & {
  /** The state of a connector; absent for a connection. */
  state?: ConnectorRecord["state"];
  memberIds: readonly string[];
  groupIds: readonly string[];
};

/**
 * Checks an access and returns it in its stored form.
 *
 * @throws ApiError `visibility_not_supported` for `source` if the provider mirrors no permissions; `unknown_member`,
 *   `unknown_group`
 */
export async function checkAccess(
  workspace: WorkspaceStore,
  spec: Pick<SourceSpec<unknown>, "acl" | "name">,
  access: ConnectorAccess,
): Promise<Pick<ConnectorRecord, "visibility" | "memberIds" | "groupIds">> {
  const { visibility } = access;
  if (visibility === "source" && spec.acl === "connector") {
    throw new ApiError("visibility_not_supported", {
      message: `${spec.name} does not mirror the permissions of single items, so "source" would mean everyone. Choose private, members or workspace.`,
      field: "access.visibility",
    });
  }
  return { visibility, ...(await checkReaders(workspace, access)) };
}

/**
 * Returns the members and groups of an access without duplicates.
 *
 * @throws ApiError `unknown_member`, `unknown_group`
 */
export async function checkReaders(
  workspace: Pick<WorkspaceStore, "members" | "groups">,
  access: ConnectorAccess,
): Promise<Pick<ConnectorRecord, "memberIds" | "groupIds">> {
  if (access.visibility !== "members") return { memberIds: [], groupIds: [] };
  const memberIds = [...new Set(access.memberIds)];
  const groupIds = [...new Set(access.groupIds)];
  await requireMembers(workspace, memberIds, "access.memberIds");
  await requireGroups(workspace, groupIds, "access.groupIds");
  return { memberIds, groupIds };
}

/**
 * Sets the members of the connector's group to match its access. Raises the access epoch if anyone gains or loses
 * access.
 */
export async function fillConnectorGroup(
  workspace: WorkspaceStore,
  connectorId: string,
  access: Access | undefined,
): Promise<void> {
  const members = access === undefined ? [] : membersOf(access);
  await workspace.access.setMembers(connectorPrincipal(connectorId), members, "kb");
}

/** Whether no one can read more after the change than before. In both cases every item keeps the source's own lists. */
export function isNarrower(before: Access, after: Access): boolean {
  const held = new Set(membersOf(before));
  if (held.has("workspace")) return true;
  return membersOf(after).every((member) => held.has(member));
}

/**
 * The members who get access from the connector itself. With `source`, all members do, and the source's own lists
 * decide.
 */
export function membersOf({ visibility, memberIds, groupIds, ownerUserId, state }: Access): Principal[] {
  // An owner who has left has no access, even if they come back.
  const owner: Principal[] = state === "needs_owner" ? [] : [`user:${ownerUserId}`];
  if (visibility === "private") return owner;
  if (visibility !== "members") return ["workspace"];
  return [...owner, ...memberIds.map((id) => `user:${id}`), ...groupIds.map((id) => `group:${id}`)];
}
