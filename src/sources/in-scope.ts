import type { Scope } from "#core/scope.ts";
import type { PlacedItem } from "./contract.ts";
import type { ContainerRef } from "./item.ts";

/** Whether a scope includes a thing by the thing's own id or by the id of a container that holds it. */
export function isNamedIn({ include, exclude }: Scope, ...ids: readonly string[]): boolean {
  return (include.length === 0 || ids.some((id) => include.includes(id))) && !ids.some((id) => exclude.includes(id));
}

/** Makes the `inScope` of a source whose scopes name containers of this type. */
export function inScopeBy(kind: ContainerRef["type"]) {
  return (scope: Scope, { containers }: PlacedItem): boolean =>
    containers.some(({ type, id }) => type === kind && isNamedIn(scope, id));
}
