import { cleanBlock, cleanField, cleanLine, MAX_CHARS, placeOf, quoteLines } from "#api/clean.ts";
import { formatDay } from "#api/days.ts";
import { count } from "#api/plural.ts";
import type { ItemRecord } from "#storage/item-record.ts";
import { placeAt } from "#text/sections.ts";
import { titleOf, urlOf } from "./entry.ts";
import { agentFacts, factTexts, fieldText, formerText, personName, withDistance, type Printing } from "./facts.ts";
import { fits, mostThatFits, sizeOf } from "./fitting.ts";
import type { CountTokens } from "./tokens.ts";

export interface ContentRendering extends Printing {
  maxTokens: number;
  count: CountTokens;
}

/** A range of a stored text. */
export interface ContentRange {
  item: ItemRecord;
  text: string;
  start: number;
  totalChars: number;
  /** The requested section, and where it ends. */
  section?: { path: string; end: number };
}

export interface ContentPassages {
  item: ItemRecord;
  passages: readonly { at: number; text: string }[];
  total: number;
  /** False if the real number may be more than `total`. */
  isTotalExact: boolean;
}

/** Returns the number of characters to read for a budget. Any more would be cut again. */
export function charsFor(maxTokens: number): number {
  return maxTokens * 5;
}

/**
 * Renders a part of an item as quoted text between a header and an end line, which states how to continue, in at most
 * `maxTokens`. The first part of a long item begins with its outline. Source: B12, B13.
 */
export async function renderContent(range: ContentRange, options: ContentRendering): Promise<string> {
  const isWhole = range.start === 0 && range.start + range.text.length >= range.totalChars;
  const notes = notesOf(range.item);
  for (const header of headersOf(range, options)) {
    const whole = isWhole ? assemble(range, range.text.length, header, notes) : undefined;
    if (whole !== undefined && (await fits([whole], options))) return whole;
    const length = await longestThatFits(range, header, notes, options);
    const part = assemble(range, length, header, notes);
    if (length > 0 || (range.text === "" && (await fits([part], options)))) return part;
  }
  return "End of part. Too large for maxTokens; raise it.";
}

/** Renders the passages of an item that match the words, in at most `maxTokens`. */
export async function renderPassages(found: ContentPassages, options: ContentRendering): Promise<string> {
  const { item, passages, total, isTotalExact } = found;
  const atLeast = isTotalExact ? "" : "at least ";
  const header = headerLines(item, options, item.textChars).join("\n");
  const blocks = passages.map(({ at, text }) => {
    const section = sectionAt(item, at);
    const place = section === undefined ? `at ${at}:` : `at ${at}, "${section}":`;
    return `${place}\n${quoteLines(cleanBlock(text).trim())}`;
  });
  const render = (shown: number): string => {
    const last = passages[shown - 1];
    const rest = total - shown;
    const more =
      rest > 0 && last !== undefined
        ? ` ${atLeast === "" ? "" : "At least "}${rest} more; read on from offset=${last.at}, or narrow find.`
        : "";
    const none = total > 0 ? "" : isTotalExact ? NOTHING : NOT_ALL_SEEN;
    return [
      header,
      ...blocks.slice(0, shown),
      `End of passages. ${shown} of ${atLeast}${total} shown.${more}${none}`,
    ].join("\n\n");
  };
  return (
    (await mostThatFits(blocks.length, render, (text) => [text], options)) ??
    "End of passages. Too large for maxTokens; raise it."
  );
}

const NOTHING = " Nothing here has these words: try others, or read without find.";
const NOT_ALL_SEEN = " Searching all of it took too long: repeat it, or read without find.";

/** Returns the possible headers, the most detailed one first. */
function headersOf(range: ContentRange, options: ContentRendering): string[] {
  const lines = headerLines(range.item, options, range.totalChars);
  const isLong = range.start === 0 && range.text.length > 0 && range.totalChars > charsFor(options.maxTokens) / 2;
  const outline = isLong ? outlineOf(range.item) : undefined;
  return [
    ...(outline === undefined ? [] : [[...lines, outline].join("\n")]),
    lines.join("\n"),
    lines.slice(0, 2).join("\n"),
    `kbId: ${range.item.kbId}`,
  ];
}

function headerLines(item: ItemRecord, time: Printing, totalChars: number): string[] {
  const path = placeOf(item);
  const facts = [
    // The label prevents a line from beginning with words of a source.
    `Title: ${titleOf(item).replaceAll("|", "¦")}`,
    item.status === null ? item.kind : `${item.kind}, ${item.status}`,
    ...(item.author === null ? [] : [`by ${personName(item.author)}`]),
    ageOf(item, time),
    `URL: ${urlOf(item, time)}`,
    `${count(totalChars)} characters`,
    ...(item.formerSince === null ? [] : [formerText(formatDay(item.formerSince, time.timeZone), time)]),
  ];
  const place = [
    `kbId: ${item.kbId}`,
    `providerId: ${cleanField(item.providerId, MAX_CHARS.source)}`,
    `source: ${cleanField(item.source, MAX_CHARS.source)}`,
    ...(path === "" ? [] : [`path: ${path}`]),
  ];
  const more = moreFacts(item, time);
  return [facts.join(" | "), place.join(" | "), ...(more.length === 0 ? [] : [more.join(" | ")])];
}

/** Returns when the item changed or, if its source doesn't report that, when kb last read it. */
function ageOf({ updatedAt, indexedAt }: ItemRecord, time: Printing): string {
  const day = withDistance(formatDay(updatedAt ?? indexedAt, time.timeZone), time);
  return `${updatedAt === null ? "indexed" : "updated"}: ${day}`;
}

/** Returns facts about a task or document besides its text. */
function moreFacts(item: ItemRecord, time: Printing): string[] {
  const { path: _path, by: _by, updated: _updated, ...facts } = agentFacts(item, true, time);
  const fields = Object.entries(item.fields)
    .slice(0, 20)
    .map(([name, value]) => `${cleanField(name, MAX_CHARS.label)}: ${fieldText(value, MAX_CHARS.value)}`);
  return [...factTexts(facts, time), ...(fields.length === 0 ? [] : [`fields: ${fields.join("; ")}`])];
}

function notesOf({ textChars, textReason }: ItemRecord): string[] {
  return textChars === 0 && textReason !== null ? [`Note: no searchable text (${textReason}).`] : [];
}

const MAX_OUTLINE = 30;

function outlineOf(item: ItemRecord): string | undefined {
  if (item.sections.length < 2) return undefined;
  // If there are too many headings, the outermost levels are kept, in the order of the text.
  const levels = [...new Set(item.sections.map((section) => section.level))].sort((a, b) => a - b);
  let chosen = item.sections.filter((section) => section.level <= (levels[0] ?? 0));
  for (const level of levels) {
    const deeper = item.sections.filter((section) => section.level <= level);
    if (deeper.length > MAX_OUTLINE) break;
    chosen = deeper;
  }
  const names = chosen
    .slice(0, MAX_OUTLINE)
    .map(({ start, name }) => `${start} ${cleanField(name, MAX_CHARS.section).replaceAll(";", ",")}`);
  const rest = item.sections.length - names.length;
  return `Outline: ${names.join("; ")}${rest > 0 ? `; ${rest} more` : ""}`;
}

function sectionAt(item: ItemRecord, at: number): string | undefined {
  const name = cleanLine(placeAt(item.sections, at)?.path ?? "", MAX_CHARS.section).replaceAll('"', "'");
  return name === "" ? undefined : name;
}

function assemble(range: ContentRange, length: number, header: string, notes: readonly string[]): string {
  const end = range.start + length;
  const text = range.text.slice(0, length);
  const isEnd = end >= range.totalChars;
  const span = `Characters ${count(range.start)}-${count(end)} of ${count(range.totalChars)}`;
  const last = isEnd
    ? range.start === 0
      ? "End of item."
      : `End of item. ${span}.`
    : end >= (range.section?.end ?? Infinity)
      ? `End of section. ${span}; what follows it is at offset=${end}.`
      : `End of part. ${span}; go on with offset=${end}.`;
  return [header, ...(text === "" ? [] : [quoteLines(cleanBlock(text))]), [...notes, last].join("\n")].join("\n\n");
}

/** Returns how many code units of the text fit, cut at a line or word if one ends nearby; 0 if nothing fits. */
async function longestThatFits(
  range: ContentRange,
  header: string,
  notes: readonly string[],
  options: ContentRendering,
): Promise<number> {
  let length = range.text.length;
  while (length > 0) {
    const part = assemble(range, length, header, notes);
    const tokens = await sizeOf([part], options);
    if (tokens <= options.maxTokens) return length;
    // The first guess is close to the right length. Each further guess is a little shorter.
    const guess = Math.floor((length * options.maxTokens * 0.97) / tokens);
    length = cutPoint(range.text, Math.min(guess, length - 1));
  }
  return 0;
}

/**
 * Returns a good place to cut, at most `wanted`. It is never more, although `lastIndexOf` treats a negative position as
 * 0.
 */
function cutPoint(text: string, wanted: number): number {
  if (wanted <= 0) return 0;
  const least = Math.floor(wanted * 0.9);
  const line = text.lastIndexOf("\n", wanted - 1) + 1;
  if (line > least) return line;
  const word = text.lastIndexOf(" ", wanted - 1) + 1;
  if (word > least) return word;
  const unit = text.charCodeAt(wanted);
  return unit >= 0xdc00 && unit <= 0xdfff ? wanted - 1 : wanted;
}
