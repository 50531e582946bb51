import type { Scope } from "#core/scope.ts";
import type { PlacedItem } from "#sources/contract.ts";
import type { ForgeRepository } from "./contract.ts";
import { ownerRef, repositoryRef } from "./ids.ts";

/** Whether a scope includes a repository. A scope names owners and repositories by the ids that `browse` returns. */
export function isRepositoryInScope(scope: Scope, repository: Pick<ForgeRepository, "id" | "owner">): boolean {
  return judge(scope, [ownerRef(repository).id, repositoryRef(repository).id]);
}

export function isItemInScope(scope: Scope, { containers }: Pick<PlacedItem, "containers">): boolean {
  const places = containers.filter(({ type }) => type === "space" || type === "repository");
  return judge(
    scope,
    places.map(({ id }) => id),
  );
}

function judge({ include, exclude }: Scope, places: readonly string[]): boolean {
  const isIn = include.length === 0 || places.some((id) => include.includes(id));
  return isIn && !places.some((id) => exclude.includes(id));
}
