import type { Role } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import type { Actor } from "./actor.ts";

/** True when somebody of `role` stands above `other`: the owner above everybody, an admin above members only. Source: S22. */
export function isAbove(role: Role, other: Role): boolean {
  return role === "owner" || (role === "admin" && other === "member");
}

/** @throws ApiError `role_too_low` when the actor does not stand above the role */
export function requireAbove(actor: Pick<Actor, "role">, role: Role): void {
  if (isAbove(actor.role, role)) return;
  throw new ApiError("role_too_low", { message: `Only the owner of the workspace can do this with the role ${role}.` });
}
