import type { Scope } from "#api/common.ts";

/** Scopes with `instead` in the place of `taken`; undefined where they don't hold it. */
export function withoutScope(scopes: readonly Scope[], taken: Scope, instead: Scope): Scope[] | undefined {
  if (!scopes.includes(taken)) return undefined;
  return [...new Set(scopes.map((scope) => (scope === taken ? instead : scope)))];
}
