import { ApiError } from "#api/errors.ts";
import type { WorkspaceStore } from "./store.ts";

/**
 * Checks that the ids are members.
 *
 * @throws ApiError `unknown_member` for an id that isn't a member of this workspace
 */
export async function requireMembers(
  { members }: Pick<WorkspaceStore, "members">,
  ids: readonly string[],
  field: string,
): Promise<void> {
  const known = await members.whichOf(ids);
  const stranger = ids.find((id) => !known.has(id));
  if (stranger === undefined) return;
  throw new ApiError("unknown_member", { message: `${stranger} is not a member of this workspace.`, field });
}

/**
 * Checks that the ids are groups.
 *
 * @throws ApiError `unknown_group` for an id that isn't a group of this workspace
 */
export async function requireGroups(
  { groups }: Pick<WorkspaceStore, "groups">,
  ids: readonly string[],
  field: string,
): Promise<void> {
  const known = await groups.whichOf(ids);
  const unknown = ids.find((id) => !known.has(id));
  if (unknown === undefined) return;
  throw new ApiError("unknown_group", { message: `${unknown} is not a group of this workspace.`, field });
}
