import { EVERYTHING } from "#core/scope.ts";
import type { ConnectorScope } from "#api/connector-records.ts";
import { cleanLine } from "#api/clean.ts";
import { MAX_SCOPE_TITLE_CHARS } from "#api/scope-title.ts";
import type { StoredScope } from "#storage/records/connectors.ts";

/**
 * The stored form of a scope: with the names of its own entries alone, each one line. An entry that was there before
 * and comes without a name, as from the command line, keeps its former name.
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

/** A scope as shown to a person who manages the connector: only the owner, who browsed for the names, sees them. */
export function scopeFor({ include, exclude, titles }: StoredScope, isOwner: boolean) {
  return { include: [...include], exclude: [...exclude], ...(isOwner && titles && { titles: { ...titles } }) };
}
