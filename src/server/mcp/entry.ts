import { cleanField, cleanLine, cleanUrl, cut, MAX_CHARS, permalinkOf, placeOf } from "#api/clean.ts";
import type { FieldValue } from "#api/common.ts";
import { distanceOf, formatDay } from "#api/days.ts";
import type { ToolSearchEntry } from "#api/tools.ts";
import { fieldName } from "#text/field-terms.ts";
import type { Excerpt, ShownHit, ShownItem } from "#storage/search-index.ts";
import type { ItemPerson } from "#storage/records/item-record.ts";

/** How much of an entry is shown; the budget goes down this list. Source: B24. */
export interface EntryDetail {
  snippetChars: number;
  passages: number;
  /** Status, people, dates, key, section … */
  hasOptional: boolean;
  /** Labels, whole path, creation date. */
  isDetailed: boolean;
}

/** The moment and zone that dates are printed in, and the origin of permalinks. */
export interface Printing {
  now: number;
  timeZone: string;
  /** Without a trailing slash. */
  baseUrl: string;
}

/** The facts of one hit, cleaned; the text form is made from nothing else. */
export function projectEntry(entry: ShownHit, n: number, detail: EntryDetail, time: Printing): ToolSearchEntry {
  const { item } = entry;
  // A passage of nothing but hidden characters is none.
  const [first, ...more] = entry.passages
    .map((passage) => ({ ...passage, text: cleanLine(passage.text, 5000) }))
    .filter((passage) => passage.text !== "")
    .slice(0, detail.passages);
  // The very place of the passage where that has an address: it is what an agent cites.
  const url = cleanUrl(first?.url ?? null) ?? urlOf(item, time);
  const projected: ToolSearchEntry = {
    n,
    kbId: item.kbId,
    providerId: cleanField(item.providerId, MAX_CHARS.source),
    source: cleanField(item.source, MAX_CHARS.source),
    url,
    title: titleOf(item),
    kind: item.kind,
    ...(detail.hasOptional && optionalFacts(item, time)),
    ...(detail.hasOptional && detail.isDetailed && detailedFacts(item, time)),
    ...(first !== undefined && { at: first.at }),
    ...(detail.hasOptional && sectionOf(first)),
    snippet: first === undefined ? "" : shorten(first.text, detail.snippetChars),
  };
  if (first === undefined && detail.hasOptional && item.textReason !== null) projected.noText = item.textReason;
  if (more.length > 0) {
    projected.more = more.map((passage) => ({
      at: passage.at,
      ...sectionOf(passage),
      snippet: shorten(passage.text, detail.snippetChars),
    }));
  }
  return projected;
}

/** The lines of one hit. `[n]`, `kbId:` and `providerId:` begin lines only here. */
export function entryLines(entry: ToolSearchEntry, time: Printing): string[] {
  const facts = [
    `kbId: ${entry.kbId}`,
    entry.status === undefined ? entry.kind : `${entry.kind}, ${entry.status}`,
    ...field("key: ", entry.key),
    ...field("path: ", entry.path),
    ...field("assignee: ", entry.assignees?.join("; ")),
    ...field("due: ", entry.due),
    ...field("priority: ", entry.priority),
    ...field("by ", entry.by),
    ...field("updated: ", entry.updated && withDistance(entry.updated, time)),
    ...field("created: ", entry.created),
    ...field("labels: ", entry.labels?.join("; ")),
  ];
  const place = [`providerId: ${entry.providerId}`, `source: ${entry.source}`, ...field("URL: ", entry.url)];
  return [
    `[${entry.n}] ${entry.title}`,
    facts.join(" | "),
    place.join(" | "),
    ...(entry.fields === undefined ? [] : [`fields: ${fieldsText(entry.fields)}`]),
    ...passageLines(entry, entry.noText),
    ...(entry.more ?? []).flatMap((passage) => passageLines(passage)),
  ];
}

function fieldsText(fields: Readonly<Record<string, string>>): string {
  return Object.entries(fields)
    .map(([name, text]) => `${name}: ${text}`)
    .join("; ");
}

/** The item's address at its source, else its permalink here. */
export function urlOf({ kbId, url }: Pick<ShownItem, "kbId" | "url">, { baseUrl }: Printing): string {
  return cleanUrl(url) ?? permalinkOf(baseUrl, kbId);
}

/** A title on one line; never empty, so that the line of an entry can be told from others. */
export function titleOf(item: Pick<ShownItem, "title">): string {
  return cleanLine(item.title, MAX_CHARS.title) || "(untitled)";
}

/** `2026-11-19 (2 days ago)`. */
export function withDistance(day: string, { now, timeZone }: Printing): string {
  // Noon is inside the day in every zone.
  return `${day} (${distanceOf(Date.parse(`${day}T12:00:00Z`), Date.parse(`${formatDay(now, timeZone)}T12:00:00Z`), "UTC")})`;
}

/** A person's name as shown; `(claimed)` when only the document says so. */
export function personName(person: Pick<ItemPerson, "name" | "claimed">): string {
  const name = cleanField(person.name, MAX_CHARS.person).replaceAll(";", ",");
  return `${name === "" ? "(unnamed)" : name}${person.claimed ? " (claimed)" : ""}`;
}

/** The text up to `maxChars`, ended at a sentence when one ends in its second half, else at a word. */
export function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = cut(text, maxChars).slice(0, -1);
  const sentence = Math.max(...[". ", "! ", "? ", "。", "！", "？"].map((end) => head.lastIndexOf(end)));
  if (sentence >= maxChars / 2) return head.slice(0, sentence + 1);
  const word = head.lastIndexOf(" ");
  return `${word >= maxChars / 2 ? head.slice(0, word) : head}…`;
}

function optionalFacts(item: ShownItem, { timeZone }: Printing): Partial<ToolSearchEntry> {
  return {
    ...(item.status !== null && { status: item.status }),
    ...keyFact(item),
    ...pathFact(item, CONCISE_FOLDERS),
    ...(item.assignees.length > 0 && { assignees: item.assignees.slice(0, 10).map(personName) }),
    ...(item.dueAt !== null && { due: formatDay(item.dueAt, timeZone) }),
    ...(item.priority !== null &&
      cleanField(item.priority, MAX_CHARS.label) !== "" && { priority: cleanField(item.priority, MAX_CHARS.label) }),
    ...(item.author !== null && { by: personName(item.author) }),
    ...(item.updatedAt !== null && { updated: formatDay(item.updatedAt, timeZone) }),
  };
}

/** Folders of a concise entry: the outermost says where, the innermost which of several. */
const CONCISE_FOLDERS = 2;

/** The key of a task; the name of a file stands at the end of its path. */
function keyFact({ kind, key }: ShownItem): { key?: string } {
  const shown = kind === "task" && key !== null ? cleanField(key, MAX_CHARS.key) : "";
  return shown === "" ? {} : { key: shown };
}

function pathFact(item: ShownItem, maxFolders?: number): { path?: string } {
  const path = placeOf(item, maxFolders);
  return path === "" ? {} : { path };
}

function detailedFacts(item: ShownItem, { timeZone }: Printing): Partial<ToolSearchEntry> {
  const labels = item.labels
    .map((label) => cleanField(label, MAX_CHARS.label).replaceAll(";", ","))
    .filter((label) => label !== "");
  return {
    ...(item.createdAt !== null && { created: formatDay(item.createdAt, timeZone) }),
    ...(labels.length > 0 && { labels: labels.slice(0, 20) }),
    ...pathFact(item),
    ...fieldFacts(item),
  };
}

/** Fields shown of a hit, and how much of each; the item itself shows more. */
const MAX_FIELDS = 8;
const MAX_FIELD_CHARS = 120;

/** The first fields, one line each; a name is made of letters, so it ends at the first colon. */
function fieldFacts({ fields }: Pick<ShownItem, "fields">): { fields?: Record<string, string> } {
  const shown = Object.entries(fields)
    .slice(0, MAX_FIELDS)
    .map(([name, value]) => [fieldName(cleanField(name, MAX_CHARS.label)), fieldText(value, MAX_FIELD_CHARS)] as const)
    .filter(([name, text]) => name !== "" && text !== "");
  return shown.length > 0 ? { fields: Object.fromEntries(shown) } : {};
}

/** A field's value on one line between others. */
export function fieldText(value: FieldValue, maxChars: number): string {
  const text = typeof value === "object" ? value.join(", ") : String(value);
  return cleanField(text, maxChars).replaceAll(";", ",");
}

function sectionOf(passage: Excerpt | undefined): { section?: string } {
  const section = cleanLine(passage?.section ?? "", MAX_CHARS.section).replaceAll('"', "'");
  return section === "" ? {} : { section };
}

function passageLines(passage: { at?: number; section?: string; snippet: string }, noText?: string): string[] {
  if (passage.snippet === "") return [noText === undefined ? "snippet: none" : `snippet: none (${noText})`];
  const place = [
    ...(passage.at === undefined ? [] : [`at ${passage.at}`]),
    ...(passage.section === undefined ? [] : [`"${passage.section}"`]),
  ];
  return [place.length === 0 ? "snippet:" : `snippet (${place.join(", ")}):`, `> ${passage.snippet}`];
}

function field(name: string, value: string | undefined): string[] {
  return value === undefined || value === "" ? [] : [`${name}${value}`];
}
