import type { Role } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import type { Actor } from "./actor.ts";

/** True when `role` is above `other`: the owner is above everyone, an admin above members only. Source: S22. */
export function isAbove(role: Role, other: Role): boolean {
  return role === "owner" || (role === "admin" && other === "member");
}

/**
 * Requires that the actor's role is above a role.
 *
 * @throws ApiError `role_too_low` when it isn't
 */
export function requireAbove(actor: Pick<Actor, "role">, role: Role): void {
  if (isAbove(actor.role, role)) return;
  throw new ApiError("role_too_low", { message: `Only the owner of the workspace can do this with the role ${role}.` });
}
