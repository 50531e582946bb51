import type { Scope } from "#api/common.ts";

/** Stored scopes with `instead` in the place of `taken`; undefined where they don't hold it. */
export function withoutScope(stored: string, taken: Scope, instead: Scope): string | undefined {
  const scopes = stored.split(" ");
  if (!scopes.includes(taken)) return undefined;
  return [...new Set(scopes.map((scope) => (scope === taken ? instead : scope)))].join(" ");
}
