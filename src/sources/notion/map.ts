import { none } from "#sources/contents.ts";
import type { Principal } from "#core/principals.ts";
import type { ContainerRef, SourceContainer, SourceItem, SourcePerson } from "#sources/item.ts";
import { hasNoText, mimeHintOf } from "#sources/file-scope/mime-hints.ts";
import { readersGroup } from "#sources/file-scope/readers.ts";
import type { FileBlock } from "./blocks.ts";
import type { NotionContext } from "./client.ts";
import { digest } from "./names.ts";
import { propertyLines, titleOf } from "./properties.ts";
import { type CommentRecord, type PageRecord, parseNotionId } from "./records.ts";
import type { Place } from "./tree.ts";

/** Values shared by all items of a run. */
export interface Facts {
  readers: Principal;
  workspace: string;
  names: ReadonlyMap<string, string>;
  maxFileMb: number;
}

export function factsOf(
  { config, connector }: Pick<NotionContext, "config" | "connector">,
  { workspace, names }: Pick<Facts, "workspace" | "names">,
): Facts {
  return { readers: readersGroup(connector.id), workspace, names, maxFileMb: config.maxFileMb };
}

/** The container of all items. */
export const ROOT: ContainerRef = { type: "space", id: "workspace" };
export const filesRef = (pageId: string): ContainerRef => ({ type: "folder", id: `${pageId}.files` });
export const commentsRef = (pageId: string): ContainerRef => ({ type: "folder", id: `${pageId}.comments` });
const placeRef = (id: string): ContainerRef => ({ type: "folder", id });

export interface PartId {
  page: string;
  part?: { type: "file" | "comment"; id: string };
}

/** Parses an external id. Undefined for an id that this source didn't create. */
export function parseItemId(externalId: string): PartId | undefined {
  const [, page = "", kind, id = ""] = /^([0-9a-f-]{36})(?:\.([fc])([0-9a-f-]{36}))?$/.exec(externalId) ?? [];
  if (parseNotionId(page) !== page) return undefined;
  if (kind === undefined) return { page };
  return parseNotionId(id) === id ? { page, part: { type: kind === "f" ? "file" : "comment", id } } : undefined;
}

/** A page with its ancestors. */
export interface Placed {
  page: PageRecord;
  chain: readonly Place[];
}

/**
 * Returns the beginning of a page's version: the time of the last edit, which Notion reports in minutes, and the parts
 * of the item that are known without the page's blocks.
 */
export function headOf({ page, chain }: Placed, facts: Facts): string {
  const author = page.created_by === undefined ? undefined : facts.names.get(page.created_by.id);
  const shape = [titleOf(page), propertyLines(page), chain, facts.workspace, page.url, author, facts.maxFileMb];
  return `${page.last_edited_time} ${digest(shape)} `;
}

export function toPage(placed: Placed, text: string, facts: Facts): SourceItem {
  const { page } = placed;
  const properties = propertyLines(page);
  const whole = [properties.join("\n"), text].filter((part) => part.trim() !== "").join("\n\n");
  return {
    ...common(placed, facts),
    externalId: page.id,
    kind: "page",
    title: titleOf(page),
    ...authorOf(page.created_by, facts),
    createdAt: Date.parse(page.created_time),
    updatedAt: Date.parse(page.last_edited_time),
    mimeType: "text/markdown",
    version: headOf(placed, facts) + digest(whole),
    content: whole === "" ? none("empty") : { type: "inline", text: whole },
  };
}

/** Returns the item of a file; undefined for a file without text. */
export function toFile(placed: Placed, file: FileBlock, facts: Facts): SourceItem | undefined {
  const { page } = placed;
  const mimeType = mimeHintOf(file.name);
  const hasText = mimeType !== undefined && !hasNoText(mimeType, false) && !/^(?:image|audio|video)\//.test(mimeType);
  if (!hasText) return undefined;
  const item: SourceItem = {
    ...common(placed, facts, filesRef(page.id)),
    externalId: `${page.id}.f${file.blockId}`,
    partOf: page.id,
    kind: "file",
    title: file.name,
    hasFileTitle: true,
    mimeType,
    content: { type: "fetch" },
  };
  return { ...item, version: versionOfFile(file, digest([item, facts.maxFileMb])) };
}

/** Returns the version of a file's content, in the form that was listed. */
export function versionOfFile({ key, editedAt }: FileBlock, shape: string): string {
  return `${digest([key, editedAt])} ${shape}`;
}

export function toComment(placed: Placed, comment: CommentRecord, facts: Facts): SourceItem {
  const { page } = placed;
  const text = comment.rich_text.slice(0, 200_000);
  const item: SourceItem = {
    ...common(placed, facts, commentsRef(page.id)),
    externalId: `${page.id}.c${comment.id}`,
    partOf: page.id,
    kind: "message",
    title: `Comment on ${titleOf(page)}`.slice(0, 500),
    ...authorOf(comment.created_by, facts),
    createdAt: Date.parse(comment.created_time),
    updatedAt: Date.parse(comment.last_edited_time),
    content: text.trim() === "" ? none("empty") : { type: "inline", text },
  };
  return { ...item, version: digest(item) };
}

function common({ page, chain }: Placed, { readers, workspace }: Facts, leaf?: ContainerRef) {
  const root: SourceContainer = { ...ROOT, name: workspace, isHome: true };
  const places = chain.map(({ id, name }, depth): SourceContainer => ({
    ...placeRef(id),
    name,
    parentId: chain[depth - 1]?.id ?? ROOT.id,
    isHome: true,
  }));
  const last: SourceContainer[] = leaf
    ? [{ ...leaf, name: titleOf(page), parentId: chain.at(-1)?.id ?? ROOT.id, isHome: true }]
    : [];
  return {
    ...(/^https:\/\/[^\s]{1,2000}$/.test(page.url ?? "") && { url: page.url as string }),
    place: workspace,
    path: [...chain.map(({ name }) => name), ...last.map(({ name }) => name)],
    containers: [root, ...places, ...last],
    access: { known: true as const, all: [[readers]] },
  };
}

function authorOf(by: { id: string } | undefined, { names }: Facts): { author?: SourcePerson } {
  const name = by === undefined ? undefined : names.get(by.id)?.trim();
  return name ? { author: { name, claimed: false } } : {};
}
