import { EVERYTHING } from "#core/scope.ts";
import type { ConnectorScope } from "#api/connector-records.ts";
import { cleanLine } from "#api/clean.ts";
import { MAX_SCOPE_TITLE_CHARS } from "#api/scope-title.ts";
import type { StoredScope } from "#storage/records/connectors.ts";

/**
 * Returns a scope in its stored form, with the names of its own entries only, each on one line. An entry that existed
 * before and is sent without a name, for example by the command line, keeps its earlier name.
 */
export function withTitles(scope: ConnectorScope, before: StoredScope = EVERYTHING): StoredScope {
  const { include, exclude } = scope;
  const known = new Map(Object.entries({ ...before.titles, ...scope.titles }));
  const titles = [...new Set([...include, ...exclude])].flatMap((entry) => {
    const title = cleanLine(known.get(entry) ?? "", MAX_SCOPE_TITLE_CHARS);
    return title === "" ? [] : [[entry, title] as const];
  });
  return { include, exclude, ...(titles.length > 0 && { titles: Object.fromEntries(titles) }) };
}

/** Returns a scope for a person who manages the connector. Only the owner, who browsed for the names, sees them. */
export function scopeFor({ include, exclude, titles }: StoredScope, isOwner: boolean) {
  return { include: [...include], exclude: [...exclude], ...(isOwner && titles && { titles: { ...titles } }) };
}
