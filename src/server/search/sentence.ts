import type { ItemKind } from "#api/common.ts";
import type { SearchArguments } from "./types.ts";

/** Filters that a whole sentence says. */
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
 * The filters that a query is when every one of its words says one: `my open tasks due this week`. Undefined as soon as a
 * single word is left over, stands in quotes, or says a filter twice: then all of it is words. At least two filters have to
 * be said, one of them of whom, when or how urgent, so that `open document` stays a search for words.
 */
export function readSentence(query: string): SentenceFilters | undefined {
  let rest = query
    .toLowerCase()
    .replace(/’/g, "'")
    .replace(/[?!.,]+(?=\s|$)/g, " ")
    .replace(/\s+/g, " ")
    .trim();
  if (rest.length > MAX_CHARS) return undefined;
  const found: SentenceFilters = {};
  while (rest !== "") {
    const step = nextStep(rest, found);
    if (step === undefined) return undefined;
    const said = Object.keys(step.filters);
    if (said.some((name) => Object.hasOwn(found, name))) return undefined;
    Object.assign(found, step.filters);
    rest = rest.slice(step.length).trimStart();
  }
  const { assignee, after, before, priority } = found;
  const isTelling = [assignee, after, before, priority].some((one) => one !== undefined);
  return isTelling && Object.keys(found).length >= 2 ? found : undefined;
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
  const [all = "", word = "", how = "", day = ""] = pattern.exec(rest) ?? [];
  const dateField = DATE_WORDS[word];
  if (dateField === undefined) return undefined;
  if (/^(?:since|after|from)$/.test(how)) return { length: all.length, filters: { dateField, after: day } };
  if (/^(?:by|before|until)$/.test(how)) return { length: all.length, filters: { dateField, before: day } };
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
  // `overdue open tasks` says the same twice.
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
