import { cleanField, MAX_CHARS, placeOf } from "#api/clean.ts";
import type { FieldValue } from "#api/common.ts";
import { distanceOf, formatDay } from "#api/days.ts";
import type { ItemPerson } from "#api/item-answers.ts";
import {
  AGENT_FIELDS,
  convertFields,
  type FieldConversion,
  type FieldType,
  fieldOf,
  ITEM_FIELDS,
  same,
} from "#api/item-fields.ts";
import type { AgentFacts, AgentValues } from "#api/tools.ts";
import type { FactValues } from "#core/item-facts.ts";
import type { ShownItem } from "#storage/item-record.ts";
import { fieldName } from "#text/field-terms.ts";

/** The current time and the time zone for printed dates, and the origin of permalinks. */
export interface Printing {
  now: number;
  timeZone: string;
  /** Without a trailing slash. */
  baseUrl: string;
}

/**
 * The number of folders shown in a concise hit: the outermost shows the place, the innermost distinguishes the hit from
 * similar ones.
 */
const CONCISE_FOLDERS = 2;
const MAX_PEOPLE = 10;
const MAX_TEXTS = 20;
/**
 * The maximum number of an item's own fields that a hit shows, and the maximum length of each. The item itself shows
 * more.
 */
const MAX_FIELDS = 8;
const MAX_FIELD_CHARS = 120;

const CONCISE_FIELDS = fieldsShown(false);
const DETAILED_FIELDS = fieldsShown(true);

function fieldsShown(isDetailed: boolean) {
  const ofTasks = AGENT_FIELDS.filter((name) => isDetailed || fieldOf(name).agent?.isDetail !== true);
  // A file's name is already at the end of its path.
  return { ofTasks, ofOthers: ofTasks.filter((name) => name !== "key") };
}

type Shown = { [T in FieldType]: AgentValues[T] | undefined };

/** Returns an item's cleaned facts under the names that agents read. Empty facts are left out. */
export function agentFacts(item: ShownItem, isDetailed: boolean, { timeZone }: Printing): AgentFacts {
  const byType: FieldConversion<FactValues, Shown> = {
    ...SHOWN,
    path: () => placeOf(item, isDetailed ? undefined : CONCISE_FOLDERS) || undefined,
    date: (at) => (at === null ? undefined : formatDay(at, timeZone)),
  };
  const ofSort = isDetailed ? DETAILED_FIELDS : CONCISE_FIELDS;
  const shown = item.kind === "task" ? ofSort.ofTasks : ofSort.ofOthers;
  const facts = convertFields(shown, item, byType);
  const named: Record<string, unknown> = {};
  for (const name of shown) if (facts[name] !== undefined) named[ITEM_FIELDS[name].agent.as] = facts[name];
  // Each name has the value of its own field.
  return named as AgentFacts;
}

/** The prefix of each field's value on its line. */
const LINES = AGENT_FIELDS.flatMap((name) => {
  const { agent } = ITEM_FIELDS[name];
  return "line" in agent ? [{ as: agent.as, line: agent.line, isAge: name === "updatedAt" }] : [];
});

/** Returns these facts as they are written on a line: `due: 2026-11-19`. */
export function factTexts(facts: AgentFacts, time: Printing): string[] {
  return LINES.flatMap(({ as, line, isAge }) => {
    const value = facts[as];
    if (value === undefined) return [];
    const text = Array.isArray(value) ? value.join("; ") : String(value);
    return [`${line}${isAge ? withDistance(text, time) : text}`];
  });
}

const SHOWN: Omit<FieldConversion<FactValues, Shown>, "path" | "date"> = {
  kind: same,
  title: same,
  status: (status) => status ?? undefined,
  text: (text) => cleanField(text ?? "", MAX_CHARS.label) || undefined,
  name: (text) => cleanField(text ?? "", MAX_CHARS.key) || undefined,
  texts(texts) {
    const clean = texts.map((text) => cleanField(text, MAX_CHARS.label).replaceAll(";", ","));
    const present = clean.filter((text) => text !== "").slice(0, MAX_TEXTS);
    return present.length > 0 ? present : undefined;
  },
  number: (number) => number ?? undefined,
  person: (person) => (person === null ? undefined : personName(person)),
  people: (people) => (people.length > 0 ? people.slice(0, MAX_PEOPLE).map(personName) : undefined),
  record: (fields) => shownRecord(fields),
};

/** Returns the first fields for one line each. A name consists of letters, so it ends at the first colon. */
function shownRecord(fields: Readonly<Record<string, FieldValue>>): Record<string, string> | undefined {
  const shown = Object.entries(fields)
    .slice(0, MAX_FIELDS)
    .map(([name, value]) => [fieldName(cleanField(name, MAX_CHARS.label)), fieldText(value, MAX_FIELD_CHARS)] as const)
    .filter(([name, text]) => name !== "" && text !== "");
  return shown.length > 0 ? Object.fromEntries(shown) : undefined;
}

/** Returns a field's value for a line that has other values too. */
export function fieldText(value: FieldValue, maxChars: number): string {
  const text = typeof value === "object" ? value.join(", ") : String(value);
  return cleanField(text, maxChars).replaceAll(";", ",");
}

/** Returns a person's name as shown, with `(claimed)` if only the document states it. */
export function personName(person: Pick<ItemPerson, "name" | "claimed">): string {
  const name = cleanField(person.name, MAX_CHARS.person).replaceAll(";", ",");
  return `${name === "" ? "(unnamed)" : name}${person.claimed ? " (claimed)" : ""}`;
}

/** Returns `2026-11-19 (2 days ago)`. */
export function withDistance(day: string, { now, timeZone }: Pick<Printing, "now" | "timeZone">): string {
  // Noon of this UTC day is on the same day in every zone.
  return `${day} (${distanceOf(Date.parse(`${day}T12:00:00Z`), Date.parse(`${formatDay(now, timeZone)}T12:00:00Z`), "UTC")})`;
}

/** Returns the note that an item's text is its previous text, because its content couldn't be read since that day. */
export function formerText(day: string, time: Pick<Printing, "now" | "timeZone">): string {
  return `text as of: ${withDistance(day, time)}, the content couldn't be read since`;
}
