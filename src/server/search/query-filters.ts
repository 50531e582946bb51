import { DATE_FIELDS, SORT_ORDERS, TOOL_KINDS } from "#api/tools.ts";
import type { SearchArguments } from "./types.ts";
import type { FieldFilter } from "#storage/search-index.ts";
import type { ItemKind } from "#api/common.ts";

/** A filter written inside the query: `kind:task`, `assignee:"Anna K"`, `status:draft`. */
export interface QueryFilter {
  /** The argument that the filter sets, if its name and value are valid for one. */
  argument?: keyof SearchArguments;
  /** The field that the filter means if it doesn't set an argument. */
  field: FieldFilter;
  /** The filter's text in the query. */
  written: string;
}

/**
 * Matches a phrase, which contains no filters, or a name and a value. A drive (`C:\`) and an address (`https://`) don't
 * match as filters.
 */
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
 * Finds possible filters in a query. The caller decides whether a value means anything. If it doesn't, the text stays a
 * word, because pasted errors are full of `status:500`. Source: B8.
 */
export function findQueryFilters(query: string): QueryFilter[] {
  return piecesOf(query).map(({ written, name, value }) => {
    const argument = Object.hasOwn(ARGUMENTS, name) ? ARGUMENTS[name] : undefined;
    const isOne = argument !== undefined && (CHOICES[argument]?.includes(value) ?? true);
    return { ...(isOne && { argument }), field: { key: name, value }, written };
  });
}

/**
 * Returns the arguments with the filter moved from the query to its argument; undefined if the argument is given,
 * because the given value wins.
 */
export function withArgument(args: SearchArguments, filter: QueryFilter): SearchArguments | undefined {
  const { argument, field } = filter;
  if (argument === undefined || args[argument] !== undefined) return undefined;
  // The value was checked against this argument's choices. The other arguments are free texts.
  const value = argument === "kinds" ? [field.value] : field.value;
  return { ...args, query: without(args.query, filter), [argument]: value };
}

/** Returns the arguments with the filter moved from the query to the fields. */
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

/** The filters that a whole sentence expresses. */
export type SentenceFilters = Pick<
  SearchArguments,
  "kinds" | "status" | "assignee" | "priority" | "dateField" | "after" | "before" | "sortBy"
>;

const KINDS: Readonly<Record<string, ItemKind>> = {
  task: "task",
  todo: "task",
  issue: "task",
  ticket: "task",
  bug: "task",
  file: "file",
  document: "file",
  doc: "file",
  page: "page",
  message: "message",
  mail: "message",
  email: "message",
};
const STATUSES: Readonly<Record<string, "open" | "done">> = {
  open: "open",
  unfinished: "open",
  unresolved: "open",
  outstanding: "open",
  done: "done",
  closed: "done",
  completed: "done",
  finished: "done",
  resolved: "done",
};
const DATE_WORDS: Readonly<Record<string, "due" | "updated" | "created">> = {
  due: "due",
  updated: "updated",
  changed: "updated",
  modified: "updated",
  edited: "updated",
  created: "created",
};
const PRIORITIES = "urgent|critical|highest|high|medium|normal|low|lowest|p[0-4]";
const FILLERS =
  /^(?:please|show|list|find|get|give|see|me|what|which|are|is|were|was|do i have|all|any|the|of|that|those|there|items?|things?|everything|with|and)\b\s*/;
const DAY =
  "today|tomorrow|yesterday|(?:this|next|last) (?:week|month|year)|(?:last|next|past) \\d{1,3} (?:days?|weeks?|months?)|(?:(?:this|next|last) )?(?:mon|tues|wednes|thurs|fri|satur|sun)day|\\d{4}-\\d{2}(?:-\\d{2})?";

/**
 * Returns the filters of a query in which every word is part of a filter: `my open tasks due this week`. Returns
 * undefined if any word is left over, is in quotes, or repeats a filter. The query is then searched as words. At least
 * two filters are needed, one of them about a person, a time or urgency, so that `open document` stays a search for
 * words.
 */
export function readSentence(query: string): SentenceFilters | undefined {
  let rest = query
    .toLowerCase()
    .replace(/\u2019/g, "'")
    .replace(/[?!.,]+(?=\s|$)/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  if (rest.length > MAX_CHARS) return undefined;
  const found: SentenceFilters = {};
  while (rest !== "") {
    const step = nextStep(rest, found);
    if (step === undefined) return undefined;
    const names = Object.keys(step.filters);
    if (names.some((name) => Object.hasOwn(found, name))) return undefined;
    Object.assign(found, step.filters);
    rest = rest.slice(step.length).trimStart();
  }
  const { assignee, after, before, priority } = found;
  const isSelective = [assignee, after, before, priority].some((one) => one !== undefined);
  return isSelective && Object.keys(found).length >= 2 ? found : undefined;
}

const MAX_CHARS = 120;

interface Step {
  length: number;
  filters: SentenceFilters;
}

function nextStep(rest: string, found: SentenceFilters): Step | undefined {
  return whoseStep(rest) ?? dateStep(rest) ?? priorityStep(rest) ?? wordStep(rest, found) ?? fillerStep(rest);
}

function whoseStep(rest: string): Step | undefined {
  const match = /^(?:my|mine|i have|(?:that are |which are )?assigned to me|on my plate)(?=\s|$)/.exec(rest);
  return match === null ? undefined : { length: match[0].length, filters: { assignee: "me" } };
}

function dateStep(rest: string): Step | undefined {
  const overdue = /^(?:overdue|past due)(?=\s|$)/.exec(rest);
  if (overdue !== null) {
    return { length: overdue[0].length, filters: { dateField: "due", before: "yesterday", status: "open" } };
  }
  const pattern = new RegExp(
    `^(due|updated|changed|modified|edited|created) (?:(since|after|from|by|before|until|on|in the|in) )?(${DAY})(?=\\s|$)`,
  );
  const [all = "", word = "", direction = "", day = ""] = pattern.exec(rest) ?? [];
  const dateField = DATE_WORDS[word];
  if (dateField === undefined) return undefined;
  if (/^(?:since|after|from)$/.test(direction)) return { length: all.length, filters: { dateField, after: day } };
  if (/^(?:by|before|until)$/.test(direction)) return { length: all.length, filters: { dateField, before: day } };
  return { length: all.length, filters: { dateField, after: day, before: day } };
}

function priorityStep(rest: string): Step | undefined {
  const match = new RegExp(`^(?:(?:with )?priority (${PRIORITIES})|(${PRIORITIES})[- ]priority)(?=\\s|$)`).exec(rest);
  const priority = match?.[1] ?? match?.[2];
  return match === null || priority === undefined ? undefined : { length: match[0].length, filters: { priority } };
}

function wordStep(rest: string, found: SentenceFilters): Step | undefined {
  const word = /^[a-z'-]+/.exec(rest)?.[0] ?? "";
  if (!/^(?:\s|$)/.test(rest.slice(word.length))) return undefined;
  const kind = own(KINDS, word) ?? own(KINDS, word.replace(/s$/, ""));
  if (kind !== undefined) return { length: word.length, filters: { kinds: [kind] } };
  const status = own(STATUSES, word);
  // `overdue open tasks` states the same filter twice.
  if (status !== undefined && found.status === status) return { length: word.length, filters: {} };
  if (status !== undefined) return { length: word.length, filters: { status } };
  if (/^(?:latest|newest|recent)$/.test(word)) return { length: word.length, filters: { sortBy: "recency" } };
  return undefined;
}

function fillerStep(rest: string): Step | undefined {
  const match = FILLERS.exec(rest);
  return match === null ? undefined : { length: match[0].length, filters: {} };
}

function own<T>(table: Readonly<Record<string, T>>, key: string): T | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
