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
  /** Of a connector. */
  state?: ConnectorRecord["state"];
  memberIds: readonly string[];
  groupIds: readonly string[];
};

/**
 * Checks an access and returns it in the form to store.
 *
 * @throws ApiError `visibility_not_supported` for `source` where the provider mirrors no permissions; `unknown_member`,
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

/** The members and groups of an access, each once. @throws ApiError `unknown_member`, `unknown_group` */
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

/** Sets the connector's group to match its access; raises the access epoch when someone gains or loses access. */
export async function fillConnectorGroup(
  workspace: WorkspaceStore,
  connectorId: string,
  access: Access | undefined,
): Promise<void> {
  const members = access === undefined ? [] : membersOf(access);
  await workspace.access.setMembers(connectorPrincipal(connectorId), members, "kb");
}

/** True when no one can read more after the change than before. Every item keeps its source's own lists either way. */
export function isNarrower(before: Access, after: Access): boolean {
  const held = new Set(membersOf(before));
  if (held.has("workspace")) return true;
  return membersOf(after).every((member) => held.has(member));
}

/** The members whom the connector itself admits. `source` admits all members: the source's own lists decide. */
export function membersOf({ visibility, memberIds, groupIds, ownerUserId, state }: Access): Principal[] {
  // An owner who left has no access, even if they come back.
  const owner: Principal[] = state === "needs_owner" ? [] : [`user:${ownerUserId}`];
  if (visibility === "private") return owner;
  if (visibility !== "members") return ["workspace"];
  return [...owner, ...memberIds.map((id) => `user:${id}`), ...groupIds.map((id) => `group:${id}`)];
}
