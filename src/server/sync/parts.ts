import { createHash } from "node:crypto";
import type { ExtractedPart } from "#extract/extractor.ts";
import { isPartId, MAX_PART_BYTES, partExternalId } from "#core/child-ids.ts";
import type { PartRules, SourceItem } from "#sources/contract.ts";
import type { ItemOp } from "#storage/batch/item-batch.ts";
import { prepare, type Prepared, type PrepareOptions } from "./prepare.ts";

/** What preparing an item with the files inside it takes. */
export interface PartsOptions extends PrepareOptions {
  /** Absent = attachments of mails and the like, no members of archives. */
  rules?: PartRules;
  /** The version stored of a living item; a part that has it already is not read again. */
  storedVersion(externalId: string): string | undefined;
  /** True when parts of this item are stored: then those that are gone have to go. */
  hasParts(externalId: string): boolean;
}

/** An item and its parts, ready to be stored in this order. */
export interface ItemWithParts {
  ops: ItemOp[];
  bytes: number;
  /** Every id that the ops write. */
  named: string[];
  /** Parts that are stored as they are: alive, with all that is in them. */
  unchanged: string[];
  /** Items that could not be read this time: their former version stays, and what is in that. */
  keepPartsOf: string[];
}

/** Most parts of one item, those of its parts included. */
const MAX_PARTS = 1_000;
/** Mailbox, mail, attached mail, its attachment; and an archive in an archive. */
const MAX_DEPTH = 4;
const MAX_ARCHIVE_DEPTH = 2;
const ARCHIVE = /\.(?:zip|tar|tgz|gz|tbz2?|txz)$/iu;

/**
 * Prepares an item and, as items of their own, the files inside it. They name no access, so that they have the parent's, and
 * come with the ops that store it. Undefined = the item was gone when it was to be read. Source: S20.
 *
 * @throws as `prepare`
 */
export async function prepareWithParts(options: PartsOptions, item: SourceItem): Promise<ItemWithParts | undefined> {
  const all: ItemWithParts = { ops: [], bytes: 0, named: [], unchanged: [], keepPartsOf: [] };
  if (isPartId(item.externalId)) return { ...all, ops: [refused(item.externalId)] };
  const prepared = await prepare({ ...options, readsArchives: options.rules?.archives === true }, item);
  if (!prepared) return undefined;
  const budget = { parts: MAX_PARTS, bytes: MAX_PART_BYTES, leftOut: 0 };
  await addItem({ ...options, budget, all }, item, prepared, 0);
  if (budget.leftOut > 0) all.ops.push(leftOut(item.externalId, budget.leftOut));
  return { ...all, bytes: prepared.bytes };
}

/** The externalId of a part in the item with this one. */
export function partIdIn(parentId: string, part: Pick<ExtractedPart, "id">): string {
  return partExternalId(parentId, part.id, (text) => digestOf(text).slice(0, 12));
}

/** Bytes that reading the item holds in memory until it is stored, as far as its name and size tell. */
export function bytesHeld(item: Pick<SourceItem, "size" | "title">, unknown: number, rules?: PartRules): number {
  const size = item.size ?? unknown;
  return rules?.archives === true && ARCHIVE.test(item.title) ? size + MAX_PART_BYTES : size;
}

interface Work extends PartsOptions {
  budget: { parts: number; bytes: number; leftOut: number };
  all: ItemWithParts;
}

type Read = NonNullable<Prepared>;

/**
 * The item comes first, so that its access is there for its parts, and without its version when it has parts: that comes
 * with the last op, so that a run that ends in between reads the item again.
 *
 * @returns whether another try of it, or of something in it, may give text
 */
async function addItem(work: Work, item: SourceItem, read: Read, depth: number): Promise<boolean> {
  const { item: prepared, parts } = read;
  const { all, budget } = work;
  budget.leftOut += read.leftOut;
  all.named.push(item.externalId);
  if (prepared.text.state === "failed") {
    all.keepPartsOf.push(item.externalId);
    all.ops.push({ op: "upsert", item: prepared });
    return prepared.text.retryAt !== null;
  }
  if ((parts ?? []).length === 0 && !work.hasParts(item.externalId)) {
    all.ops.push({ op: "upsert", item: prepared });
    return false;
  }
  all.ops.push({ op: "upsert", item: { ...prepared, version: null } });
  const { keep, isRetryable } = await addParts(work, item, parts ?? [], depth + 1);
  all.ops.push({ op: "parts", externalId: item.externalId, keep, version: isRetryable ? null : prepared.version });
  return isRetryable;
}

async function addParts(
  work: Work,
  parent: SourceItem,
  parts: readonly ExtractedPart[],
  depth: number,
): Promise<{ keep: string[]; isRetryable: boolean }> {
  const { budget, all, rules } = work;
  const keep = new Set<string>();
  let isRetryable = false;
  for (const part of parts) {
    const item = toItem(parent, part);
    if (keep.has(item.externalId)) continue;
    const refusal = rules?.refuse?.(part.fileName);
    if (refusal !== undefined) {
      all.ops.push({ op: "skip", externalId: item.externalId, ...refusal, retryable: false });
    } else if (depth > MAX_DEPTH || budget.parts <= 0 || part.bytes.length > budget.bytes) {
      budget.leftOut++;
    } else {
      budget.parts--;
      budget.bytes -= part.bytes.length;
      keep.add(item.externalId);
      if (work.storedVersion(item.externalId) === item.version) all.unchanged.push(item.externalId);
      else isRetryable = (await addPart(work, item, part, depth)) || isRetryable;
    }
  }
  return { keep: [...keep], isRetryable };
}

async function addPart(work: Work, item: SourceItem, part: ExtractedPart, depth: number): Promise<boolean> {
  const { fileName, bytes, mimeType } = part;
  const content = { fileName: fileName.slice(fileName.lastIndexOf("/") + 1), bytes, ...(mimeType && { mimeType }) };
  const readsArchives = work.rules?.archives === true && depth < MAX_ARCHIVE_DEPTH;
  const prepared = await prepare({ ...work, readsArchives, fetchContent: async () => content }, item);
  return prepared ? addItem(work, item, prepared, depth) : false;
}

function toItem(parent: SourceItem, part: ExtractedPart): SourceItem {
  const isMessage = part.mimeType === "message/rfc822";
  const folders = part.fileName.split("/").filter((name) => name !== "");
  const name = folders.pop() ?? "Untitled";
  const item: SourceItem = {
    externalId: partIdIn(parent.externalId, part),
    kind: isMessage ? "message" : "file",
    title: isMessage ? name.replace(/\.eml$/iu, "") : name,
    ...(!isMessage && { hasFileTitle: true }),
    parentId: parent.externalId,
    path: [...(parent.path ?? []), parent.title, ...folders],
    size: part.bytes.length,
    content: part.bytes.length === 0 ? { type: "none", reason: "empty" } : { type: "fetch" },
    // What a mail program says of a file it does not know tells less than the bytes.
    ...(part.mimeType !== undefined && part.mimeType !== "application/octet-stream" && { mimeType: part.mimeType }),
    ...(parent.url !== undefined && { url: parent.url }),
    ...(parent.place !== undefined && { place: parent.place }),
    ...(parent.containers !== undefined && { containers: parent.containers }),
    ...(parent.createdAt !== undefined && { createdAt: parent.createdAt }),
    ...(parent.updatedAt !== undefined && { updatedAt: parent.updatedAt }),
  };
  return { ...item, version: versionOf(item, part.bytes) };
}

/**
 * The same for the same bytes under the same names. The parent's dates and access are left out: a new date of the file
 * does not make all that is in it new, and the access follows in the store.
 */
function versionOf({ title, path, url, place, containers, mimeType }: SourceItem, bytes: Uint8Array): string {
  const shown = JSON.stringify([PARTS_VERSION, title, path, url, place, containers, mimeType]);
  return createHash("sha256").update(shown).update(bytes).digest("base64url").slice(0, 22);
}

/** Another one reads every part again. */
const PARTS_VERSION = 1;

function digestOf(text: string): string {
  return createHash("sha256").update(text).digest("base64url");
}

function refused(externalId: string): ItemOp {
  const message = `The ID contains "!//", which is reserved for files inside files.`;
  return { op: "skip", externalId, reason: "failed", message, retryable: false };
}

function leftOut(externalId: string, count: number): ItemOp {
  const message = `${count} of the files inside it were left out: kb reads at most ${MAX_PARTS} files, 64 MiB and ${MAX_DEPTH} levels, and nothing encrypted or broken.`;
  return { op: "skip", externalId, reason: "too_large", message, retryable: false };
}
