import { cleanField, cleanLine, cut, MAX_CHARS, permalinkOf } from "#api/clean.ts";
import { outsideUrl } from "#api/own-url.ts";
import type { ToolSearchEntry } from "#api/tools.ts";
import type { ShownItem } from "#storage/item-record.ts";
import type { Excerpt, ShownHit } from "#storage/search-index.ts";
import { formatDay } from "#api/days.ts";
import { agentFacts, factTexts, formerText, type Printing, withDistance } from "./facts.ts";

/** How much of an entry is shown. To fit the budget, details are dropped in the order of this list. Source: B24. */
export interface EntryDetail {
  snippetChars: number;
  passages: number;
  /** Status, people, dates, key, section and more. */
  hasOptional: boolean;
  /** Labels, the whole path and the creation date. */
  isDetailed: boolean;
}

/** Returns the cleaned facts of one hit. The text form is made only from them. */
export function projectEntry(entry: ShownHit, n: number, detail: EntryDetail, time: Printing): ToolSearchEntry {
  const { item } = entry;
  // A passage that has only hidden characters is left out.
  const [first, ...more] = entry.passages
    .map((passage) => ({ ...passage, text: cleanLine(passage.text, 5000) }))
    .filter((passage) => passage.text !== "")
    .slice(0, detail.passages);
  // The passage's own URL, if it has one, because an agent cites it.
  const url = outsideUrl(first?.url, time.baseUrl) ?? urlOf(item, time);
  const projected: ToolSearchEntry = {
    n,
    kbId: item.kbId,
    providerId: cleanField(item.providerId, MAX_CHARS.source),
    source: cleanField(item.source, MAX_CHARS.source),
    url,
    title: titleOf(item),
    kind: item.kind,
    ...(detail.hasOptional && agentFacts(item, detail.isDetailed, time)),
    ...(item.updatedAt === null && { indexed: formatDay(item.indexedAt, time.timeZone) }),
    ...(item.formerSince !== null && { textAsOf: formatDay(item.formerSince, time.timeZone) }),
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

/** Returns the lines of one hit. Only these lines begin with `[n]`, `kbId:` and `providerId:`. */
export function entryLines(entry: ToolSearchEntry, time: Printing): string[] {
  const facts = [
    `kbId: ${entry.kbId}`,
    entry.status === undefined ? entry.kind : `${entry.kind}, ${entry.status}`,
    ...factTexts(entry, time),
    ...(entry.indexed === undefined ? [] : [`indexed: ${withDistance(entry.indexed, time)}`]),
    ...(entry.textAsOf === undefined ? [] : [formerText(entry.textAsOf, time)]),
  ];
  const place = [
    `providerId: ${entry.providerId}`,
    `source: ${entry.source}`,
    ...(entry.url === undefined ? [] : [`URL: ${entry.url}`]),
  ];
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

/**
 * Returns the item's URL at its source, else its permalink on this server. URLs from a source that point to this server
 * are ignored.
 */
export function urlOf({ kbId, url }: Pick<ShownItem, "kbId" | "url">, { baseUrl }: Printing): string {
  return outsideUrl(url, baseUrl) ?? permalinkOf(baseUrl, kbId);
}

/** Returns a title on one line. It is never empty, so that the first line of an entry can be recognized. */
export function titleOf(item: Pick<ShownItem, "title">): string {
  return cleanLine(item.title, MAX_CHARS.title) || "(untitled)";
}

/** Returns at most `maxChars` of the text, cut after a sentence if one ends in the second half, else after a word. */
export function shorten(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  const head = cut(text, maxChars).slice(0, -1);
  const sentence = Math.max(...[". ", "! ", "? ", "。", "！", "？"].map((end) => head.lastIndexOf(end)));
  if (sentence >= maxChars / 2) return head.slice(0, sentence + 1);
  const word = head.lastIndexOf(" ");
  return `${word >= maxChars / 2 ? head.slice(0, word) : head}…`;
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
