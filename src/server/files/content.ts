import { createHash } from "node:crypto";
import { ApiError } from "#api/errors.ts";
import { findSection, lineOfFragment, placeAt, type Stretch, stretchOf } from "#text/sections.ts";
import { cleanLine, MAX_CHARS } from "#api/clean.ts";
import { count } from "#api/plural.ts";
import { itemNotFound, type OpenRead, type Policy } from "#storage/policy/policy.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ItemRecord } from "#storage/item-record.ts";

/** The requested range of a text. Offsets are in UTF-16 code units. */
export interface WantedRange {
  /** Counts from the start of the section if one is named, else from the start of the text. */
  offset: number;
  limit: number;
  /** A section by its name, path, number or anchor, or a line as in `L10`. Nothing after its end is returned. */
  section?: string;
}

/** A range of an item's text, with the record for which access was checked. Offsets are in UTF-16 code units. */
export interface TextRange {
  item: ItemRecord;
  /** The requested section, and where it ends. */
  section?: { path: string; end: number };
  text: string;
  start: number;
  /** The offset at which the next range starts. It equals `totalChars` at the end of the text. */
  end: number;
  totalChars: number;
}

/** The fields that identify one version of an item's text in an ETag. */
export type TextVersion = Pick<ItemRecord, "kbId" | "textHash" | "version" | "textChars">;

/**
 * Reads `limit` UTF-16 code units from `offset`, and never cuts a character: a start or end inside a surrogate pair
 * moves outwards. Loads only the needed chunks.
 *
 * @throws ApiError `not_found` when the item doesn't exist or the actor may not read it, `no_text`, `past_end`,
 *   `no_such_section`
 */
export function readText(policy: Policy, actor: Actor, kbId: string, wanted: WantedRange): Promise<TextRange> {
  return readItem(policy, actor, kbId, async ({ store }, item) => {
    requireText(item);
    const section = wanted.section === undefined ? undefined : await sectionOf(store, item, wanted.section);
    const offset = (section?.start ?? 0) + wanted.offset;
    const last = section?.end ?? item.textChars;
    if (offset > last) throw pastEnd(wanted.offset, last - (section?.start ?? 0));
    const end = Math.min(last, offset + wanted.limit);
    // One more unit on each side shows whether a pair would be cut.
    const from = Math.max(0, offset - 1);
    const context = joinChunks(await store.items.textChunks(kbId, from, end + 1), from, end + 1);
    const start = offset > 0 && isLow(context, offset - from) ? offset - 1 : offset;
    const stop = end < item.textChars && isLow(context, end - from) ? end + 1 : end;
    return {
      item,
      text: context.slice(start - from, stop - from),
      start,
      end: stop,
      totalChars: item.textChars,
      ...(section !== undefined && { section: { path: section.path, end: section.end } }),
    };
  });
}

/**
 * Checks access to the item and reads it, both on the same state of the records.
 *
 * @throws ApiError `not_found`, the same for hidden and missing items
 */
export function readItem<T>(
  policy: Policy,
  actor: Actor,
  kbId: string,
  read: (open: OpenRead, item: ItemRecord) => Promise<T>,
): Promise<T> {
  return policy.readVisible(actor, [kbId], async (open) => {
    const [item] = open.visible.has(kbId) ? await open.store.items.records([kbId]) : [];
    if (!item) throw itemNotFound(kbId);
    return read(open, item);
  });
}

/** @throws ApiError `no_text` with the reason when the item has no stored text */
export function requireText(item: ItemRecord): void {
  if (item.textChars > 0 || item.textReason === null) return;
  const title = cleanLine(item.title, MAX_CHARS.title);
  // The sentence may quote the file, so it is in quotes, like the title.
  const why = item.textMessage === null ? "." : `: "${cleanLine(item.textMessage, MAX_WHY).replaceAll('"', "'")}"`;
  throw new ApiError("no_text", { message: `"${title}" has no searchable text (${item.textReason})${why}` });
}

const MAX_WHY = 300;

/**
 * Returns a strong ETag for an answer about this version of the text. `shape` is everything else that the bytes depend
 * on.
 */
export function etagOf(item: TextVersion, shape: unknown): string {
  const facts = JSON.stringify([item.kbId, item.textHash, item.version, item.textChars, shape]);
  return `"${createHash("sha256").update(facts).digest("base64url").slice(0, 27)}"`;
}

async function sectionOf(
  { items }: OpenRead["store"],
  item: ItemRecord,
  asked: string,
): Promise<Stretch & { path: string }> {
  const found = findSection(item.sections, asked);
  if (found !== undefined) {
    const path = placeAt(item.sections, found.start)?.path ?? found.name;
    return { ...stretchOf(item.sections, found, item.textChars), path };
  }
  const line = lineOfFragment(asked);
  const start = line === undefined ? undefined : await items.offsetOfLine(item.kbId, line);
  if (start !== undefined) return { start, end: item.textChars, path: `line ${line}` };
  throw noSuchSection(item, asked);
}

const MAX_NAMED = 12;

function noSuchSection(item: ItemRecord, asked: string): ApiError {
  const names = item.sections.map(({ name }) => `"${cleanLine(name, MAX_CHARS.section)}"`);
  const rest = names.length - MAX_NAMED;
  const there =
    names.length === 0
      ? "It has no sections. Read it by offset, or use find."
      : `Its sections: ${names.slice(0, MAX_NAMED).join(", ")}${rest > 0 ? ` and ${rest} more` : ""}.`;
  return new ApiError("no_such_section", {
    message: `This item has no section "${cleanLine(asked, MAX_CHARS.section)}". ${there}`,
    field: "section",
  });
}

function pastEnd(offset: number, total: number): ApiError {
  return new ApiError("past_end", {
    message: `Offset ${offset} is past the end (${count(total)} characters).`,
    field: "offset",
  });
}

/** Joins the stored chunks to one text of exactly [from, to). */
function joinChunks(chunks: readonly { start: number; text: string }[], from: number, to: number): string {
  return chunks.map(({ start, text }) => text.slice(Math.max(0, from - start), Math.max(0, to - start))).join("");
}

function isLow(text: string, at: number): boolean {
  const unit = text.charCodeAt(at);
  const before = text.charCodeAt(at - 1);
  return unit >= 0xdc00 && unit <= 0xdfff && before >= 0xd800 && before <= 0xdbff;
}
