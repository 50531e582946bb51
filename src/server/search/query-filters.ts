import { DATE_FIELDS, SORT_ORDERS, TOOL_KINDS } from "#api/tools.ts";
import type { SearchArguments } from "#server/ports/answers.ts";

/** A filter that stands in the query: `kind:task`, `assignee:"Anna K"`. */
export interface QueryFilter {
  key: keyof SearchArguments;
  value: string;
  /** As it stands in the query. */
  written: string;
}

const FILTER =
  /(?<=^|\s)(kind|type|status|assignee|people|source|after|since|before|until|dateField|sortBy):("[^"]{1,200}"|[^\s"]{1,200})(?=\s|$)/g;
const KEYS: Readonly<Record<string, keyof SearchArguments>> = {
  type: "kinds",
  kind: "kinds",
  since: "after",
  until: "before",
};
const CHOICES: Readonly<Partial<Record<keyof SearchArguments, readonly string[]>>> = {
  kinds: TOOL_KINDS,
  status: ["open", "done"],
  dateField: DATE_FIELDS,
  sortBy: SORT_ORDERS,
};

/**
 * The known filters in a query. Whether a value means anything is decided by who asks for it: what does not stays a
 * word, for pasted errors are full of `status:500`. Source: B8.
 */
export function findQueryFilters(query: string): QueryFilter[] {
  return [...query.matchAll(FILTER)].flatMap((match) => {
    const [written, name = "", quoted = ""] = match;
    // Each name of the pattern is a key itself or has one in the table.
    const key = KEYS[name] ?? (name as keyof SearchArguments);
    const value = quoted.replaceAll('"', "");
    const choices = CHOICES[key];
    return choices === undefined || choices.includes(value) ? [{ key, value, written }] : [];
  });
}

/** The arguments with the filter taken out of the query; an argument that is given wins over it. */
export function withFilter(args: SearchArguments, filter: QueryFilter): SearchArguments | undefined {
  if (args[filter.key] !== undefined) return undefined;
  const query = args.query.replace(filter.written, " ").replace(/\s+/g, " ").trim();
  // Its value was checked against the choices of this key, and the rest are free texts.
  const value = filter.key === "kinds" ? [filter.value] : filter.value;
  return { ...args, query, [filter.key]: value };
}
