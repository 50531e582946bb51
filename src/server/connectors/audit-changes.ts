import { isDeepStrictEqual } from "node:util";
import type { Scope } from "#core/scope.ts";

/** Characters of a value or list in an audit row; the rest is cut. */
const MAX_CHARS = 200;
const MAX_ENTRIES = 20;

/**
 * Returns the changed settings, each with its old and its new value. No setting is a secret, since credentials aren't
 * settings.
 */
export function valuesChanged(
  before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>,
): Record<string, { from: unknown; to: unknown }> {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  const changed = [...keys].filter((key) => !isDeepStrictEqual(before[key], after[key]));
  return Object.fromEntries(changed.map((key) => [key, { from: shown(before[key]), to: shown(after[key]) }]));
}

/** Returns the entries added to a scope and removed from it, and how many the scope has now. */
export function listChanges(before: Scope, after: Scope): Record<"include" | "exclude", Record<string, unknown>> {
  const of = (name: "include" | "exclude") => ({
    count: after[name].length,
    added: someOf(after[name], before[name]),
    removed: someOf(before[name], after[name]),
  });
  return { include: of("include"), exclude: of("exclude") };
}

function someOf(entries: readonly string[], others: readonly string[]): unknown[] {
  const known = new Set(others);
  return entries
    .filter((entry) => !known.has(entry))
    .slice(0, MAX_ENTRIES)
    .map(shown);
}

function shown(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, MAX_ENTRIES).map(shown);
  if (typeof value === "string") return value.length > MAX_CHARS ? `${value.slice(0, MAX_CHARS)}…` : value;
  return value ?? null;
}
