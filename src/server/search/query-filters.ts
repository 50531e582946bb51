import { DATE_FIELDS, SORT_ORDERS, TOOL_KINDS } from "#api/tools.ts";
import type { SearchArguments } from "./types.ts";
import type { FieldFilter } from "#storage/search-index.ts";

/** A filter that stands in the query: `kind:task`, `assignee:"Anna K"`, `status:draft`. */
export interface QueryFilter {
  /** The argument that it means, when name and value can be one. */
  argument?: keyof SearchArguments;
  /** The field that it means otherwise. */
  field: FieldFilter;
  /** As it stands in the query. */
  written: string;
}

/** A phrase, in which nothing is a filter, or a name and a value. A drive (`C:\`) and an address (`https://`) are neither. */
const PIECES =
  /(?<=^|\s)(?:-?["\u201c\u201e][^"\u201c\u201d\u201e]*["\u201c\u201d\u201e]|(\p{L}[\p{L}\p{M}\p{N}_.-]{1,99}):(?!\/\/)("[^"]{1,200}"|[^\s"]{1,200})(?=\s|$))/gu;
const ARGUMENTS: Readonly<Record<string, keyof SearchArguments>> = {
  kind: "kinds",
  type: "kinds",
  status: "status",
  assignee: "assignee",
  people: "people",
  source: "source",
  author: "people",
  after: "after",
  since: "after",
  before: "before",
  until: "before",
  dateField: "dateField",
  sortBy: "sortBy",
};
const CHOICES: Readonly<Partial<Record<keyof SearchArguments, readonly string[]>>> = {
  kinds: TOOL_KINDS,
  status: ["open", "done"],
  dateField: DATE_FIELDS,
  sortBy: SORT_ORDERS,
};

/**
 * What in a query may be a filter. Whether a value means anything is decided by who asks for it: what does not stays a
 * word, for pasted errors are full of `status:500`. Source: B8.
 */
export function findQueryFilters(query: string): QueryFilter[] {
  return piecesOf(query).map(({ written, name, value }) => {
    const argument = Object.hasOwn(ARGUMENTS, name) ? ARGUMENTS[name] : undefined;
    const isOne = argument !== undefined && (CHOICES[argument]?.includes(value) ?? true);
    return { ...(isOne && { argument }), field: { key: name, value }, written };
  });
}

/** The arguments with the filter taken out of the query; undefined where an argument is given, which wins over it. */
export function withArgument(args: SearchArguments, filter: QueryFilter): SearchArguments | undefined {
  const { argument, field } = filter;
  if (argument === undefined || args[argument] !== undefined) return undefined;
  // Its value was checked against the choices of this argument, and the rest are free texts.
  const value = argument === "kinds" ? [field.value] : field.value;
  return { ...args, query: without(args.query, filter), [argument]: value };
}

/** The arguments with the filter taken out of the query, as one of their fields. */
export function withField(args: SearchArguments, filter: QueryFilter): SearchArguments {
  return { ...args, query: without(args.query, filter), fields: [...(args.fields ?? []), filter.field] };
}

interface Piece {
  written: string;
  at: number;
  name: string;
  value: string;
}

function piecesOf(query: string): Piece[] {
  return [...query.matchAll(PIECES)].flatMap(({ 0: written, 1: name, 2: quoted = "", index: at }) =>
    name === undefined ? [] : [{ written, at, name, value: quoted.replaceAll('"', "") }],
  );
}

function without(query: string, { written }: QueryFilter): string {
  const at = piecesOf(query).find((piece) => piece.written === written)?.at ?? query.length;
  return `${query.slice(0, at)} ${query.slice(at + written.length)}`.replace(/\s+/g, " ").trim();
}
