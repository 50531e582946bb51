import { createHash, hash } from "node:crypto";
import type { ExtractedChild } from "#extract/extractor.ts";
import { letGo, piecesOf } from "#core/spool.ts";
import { isChildId, MAX_CHILD_BYTES, childExternalId } from "#core/child-ids.ts";
import { defined } from "#core/defined.ts";
import type { ChildRules } from "#sources/contract.ts";
import type { SourceItem } from "#sources/item.ts";
import type { ItemOp } from "#storage/item-batch.ts";
import { prepare, type Prepared, type PrepareOptions } from "./prepare.ts";
import type { Reading } from "./read-text.ts";

/** Dependencies for preparing an item with the files inside it. */
export interface ChildrenOptions extends PrepareOptions, Pick<Reading, "fetchContent"> {
  /** Selects the files that are read. Absent = attachments of mails and similar files, but no files in archives. */
  rules?: ChildRules;
  /** The stored version of an item that isn't removed. A child item that has the same version isn't read again. */
  storedVersion(externalId: string): string | undefined;
  /** True when child items of this item are stored. Child items that no longer exist must then be removed. */
  hasChildren(externalId: string): boolean;
}

/** An item and its child items, ready to be stored in this order. */
export interface ItemWithChildren {
  ops: ItemOp[];
  bytes: number;
  /** The ids of all items that the ops write. */
  named: string[];
  /** Child items that stay as stored, with everything inside them. */
  unchanged: string[];
  /** Items that could not be read this time. Their previous version and its child items stay. */
  keepChildrenOf: string[];
}

/** The maximum number of child items of one item, including those inside its child items. */
const MAX_CHILDREN = 1_000;
/**
 * Deep enough for a mailbox, its mail, an attached mail and that mail's attachment, and for an archive in an archive.
 */
const MAX_DEPTH = 4;
const MAX_ARCHIVE_DEPTH = 2;

/**
 * Prepares an item and the files inside it, each as a separate item. The files name no access, so they have the
 * parent's access. Their ops are in the batch that stores the parent. Returns undefined if the item was gone when it
 * was read. Source: S20.
 *
 * @throws as `prepare`
 */
export async function prepareWithChildren(
  options: ChildrenOptions,
  item: SourceItem,
): Promise<ItemWithChildren | undefined> {
  const all: ItemWithChildren = { ops: [], bytes: 0, named: [], unchanged: [], keepChildrenOf: [] };
  if (isChildId(item.externalId)) return { ...all, ops: [refused(item.externalId)] };
  const { fetchContent, rules } = options;
  const prepared = await prepare(options, item, { fetchContent, readsArchives: rules?.archives === true });
  if (!prepared) return undefined;
  const budget = { children: MAX_CHILDREN, bytes: MAX_CHILD_BYTES, leftOut: 0 };
  await addItem({ options, budget, all }, item, prepared, 0);
  if (budget.leftOut > 0) all.ops.push(leftOut(item.externalId, budget.leftOut));
  return { ...all, bytes: prepared.bytes };
}

/** Returns the externalId of a child item inside the item that has this id. */
export function childIdIn(parentId: string, child: Pick<ExtractedChild, "id">): string {
  return childExternalId(parentId, child.id, (text) => digestOf(text).slice(0, 12));
}

interface Work {
  options: ChildrenOptions;
  budget: { children: number; bytes: number; leftOut: number };
  all: ItemWithChildren;
}

type Read = NonNullable<Prepared>;

/**
 * Adds the item first, so that its access exists for its child items. If it has child items, its version is written
 * only with the last op. A run that ends in between then reads the item again.
 *
 * @returns whether another try of this item, or of an item inside it, may find text
 */
async function addItem(work: Work, item: SourceItem, read: Read, depth: number): Promise<boolean> {
  const { item: prepared, children } = read;
  const { all, budget } = work;
  budget.leftOut += read.leftOut;
  all.named.push(item.externalId);
  if (prepared.text.state === "failed") {
    all.keepChildrenOf.push(item.externalId);
    all.ops.push({ type: "upsert", item: prepared });
    return prepared.text.retryAt !== null;
  }
  if ((children ?? []).length === 0) {
    const isChildless = work.options.hasChildren(item.externalId) && { isChildless: true as const };
    all.ops.push({ type: "upsert", item: prepared, ...isChildless });
    return false;
  }
  all.ops.push({ type: "upsert", item: { ...prepared, version: null }, version: prepared.version });
  const added = addChildren(work, item, children ?? [], depth + 1);
  const { keep, isRetryable } = await added.finally(() => children?.forEach(({ bytes }) => letGo(bytes)));
  all.ops.push({ type: "children", externalId: item.externalId, keep, version: isRetryable ? null : prepared.version });
  return isRetryable;
}

async function addChildren(
  work: Work,
  parent: SourceItem,
  children: readonly ExtractedChild[],
  depth: number,
): Promise<{ keep: string[]; isRetryable: boolean }> {
  const { budget, all, options } = work;
  const keep = new Set<string>();
  let isRetryable = false;
  for (const child of children) {
    const item = await toItem(parent, child);
    if (keep.has(item.externalId)) continue;
    const refusal = options.rules?.refuse?.(child.fileName);
    if (refusal !== undefined) {
      all.ops.push({ type: "skip", externalId: item.externalId, ...refusal, retryable: false });
    } else if (depth > MAX_DEPTH || budget.children <= 0 || child.bytes.length > budget.bytes) {
      budget.leftOut++;
    } else {
      budget.children--;
      budget.bytes -= child.bytes.length;
      keep.add(item.externalId);
      if (options.storedVersion(item.externalId) === item.version) all.unchanged.push(item.externalId);
      else isRetryable = (await addChild(work, item, child, depth)) || isRetryable;
    }
  }
  return { keep: [...keep], isRetryable };
}

async function addChild(work: Work, item: SourceItem, child: ExtractedChild, depth: number): Promise<boolean> {
  const { fileName, bytes, mimeType } = child;
  const content = { fileName: fileName.slice(fileName.lastIndexOf("/") + 1), bytes, ...(mimeType && { mimeType }) };
  const readsArchives = work.options.rules?.archives === true && depth < MAX_ARCHIVE_DEPTH;
  const prepared = await prepare(work.options, item, { readsArchives, fetchContent: async () => content });
  return prepared ? addItem(work, item, prepared, depth) : false;
}

async function toItem(parent: SourceItem, child: ExtractedChild): Promise<SourceItem> {
  const isMessage = child.mimeType === "message/rfc822";
  const folders = child.fileName.split("/").filter((name) => name !== "");
  const name = folders.pop() ?? "Untitled";
  const item: SourceItem = {
    externalId: childIdIn(parent.externalId, child),
    kind: isMessage ? "message" : "file",
    title: isMessage ? name.replace(/\.eml$/iu, "") : name,
    ...(!isMessage && { hasFileTitle: true }),
    partOf: parent.externalId,
    path: [...(parent.path ?? []), parent.title, ...folders],
    size: child.bytes.length,
    content: child.bytes.length === 0 ? { type: "none", reason: "empty" } : { type: "fetch" },
    // For a file of unknown type, a mail program states a generic type, which says less than the bytes.
    ...(child.mimeType !== undefined && child.mimeType !== "application/octet-stream" && { mimeType: child.mimeType }),
    ...defined({
      url: parent.url,
      place: parent.place,
      containers: parent.containers,
      createdAt: parent.createdAt,
      updatedAt: parent.updatedAt,
    }),
  };
  return { ...item, version: await versionOf(item, child.bytes) };
}

/**
 * Returns the same version for the same bytes under the same names. The parent's dates and access are left out: a new
 * date of the file doesn't change its contents, and access is updated in the store.
 */
async function versionOf(
  { title, path, url, place, containers, mimeType }: SourceItem,
  bytes: ExtractedChild["bytes"],
): Promise<string> {
  const shown = JSON.stringify([CHILDREN_VERSION, title, path, url, place, containers, mimeType]);
  const digest = createHash("sha256").update(shown);
  for await (const piece of piecesOf(bytes)) digest.update(piece);
  return digest.digest("base64url").slice(0, 22);
}

/** A change of this number causes every child item to be read again. */
const CHILDREN_VERSION = 1;

function digestOf(text: string): string {
  return hash("sha256", text, "base64url");
}

function refused(externalId: string): ItemOp {
  const message = `The ID contains "!//", which is reserved for files inside files.`;
  return { type: "skip", externalId, reason: "failed", message, retryable: false };
}

function leftOut(externalId: string, count: number): ItemOp {
  const message = `${count} of the files inside it were left out: kb reads at most ${MAX_CHILDREN} files, 64 MiB and ${MAX_DEPTH} levels, and nothing encrypted or broken.`;
  return { type: "skip", externalId, reason: "too_large", message, retryable: false };
}
