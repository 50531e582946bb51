import { personOf } from "#sources/atlassian/people.ts";
import { textContent, none } from "#sources/contents.ts";
import { fileContent } from "#sources/file-scope/file-content.ts";
import { defined } from "#core/defined.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { Names } from "#sources/atlassian/names.ts";
import { digestOf, readable } from "#sources/atlassian/report.ts";
import type { SourceItem } from "#sources/item.ts";
import type { ConfluenceContext } from "./client.ts";
import { formatId, spaceRef } from "./ids.ts";
import type { Content, PageRecord, SpaceRecord, UserRecord } from "./records.ts";
import { textOfStorage } from "./storage.ts";

/** Values shared by all items of a run. */
export interface Mapping {
  names: Names;
  config: Pick<ConfluenceContext["config"], "maxFileMb" | "openFolders">;
  base: string;
}

/** Increase this number when the same records produce different items. */
const MAPPING_VERSION = 2;

const MOST_TITLE = 2_000;

/** Names of mentioned people, if they were requested. */
interface Named {
  people: (userId: string) => string | undefined;
}

export function nameOf({ key, name }: SpaceRecord): string {
  const shown = readable(name);
  return shown === "" ? key : shown;
}

/** Computes a page's version without its text, since the text doesn't change unless the page's version number does. */
export function versionOf(page: PageRecord, space: SpaceRecord): string {
  const { id, type, title, parent, version, updatedAt } = page;
  return digestOf(MAPPING_VERSION, id, type, title, parent?.id, version, updatedAt, space.id, nameOf(space));
}

export async function toPage(
  { names, base }: Mapping,
  page: PageRecord,
  {
    space,
    access,
    author,
    people,
  }: { space: SpaceRecord; access: SourceAccess; author: UserRecord | undefined } & Named,
): Promise<SourceItem> {
  const { id, type, title, body, authorId, createdAt, updatedAt } = page;
  const shown = readable(title).slice(0, MOST_TITLE);
  return {
    externalId: formatId({ type: "page", id }),
    kind: "page",
    ...(type === "blogpost" && { subkind: "blog post" }),
    title: shown === "" ? `Page ${id}` : shown,
    url: urlOf(base, id),
    ...placeOf(space),
    mimeType: "text/markdown",
    ...(authorId !== undefined && { author: personOf(author, authorId, names) }),
    ...defined({ createdAt, updatedAt }),
    content: page.isTooLarge ? none("too_large") : textContent(await textOfStorage(body ?? "", people)),
    access,
    version: versionOf(page, space),
  };
}

/** Returns the item of a comment or an attachment; undefined if the content doesn't belong to a page. */
export async function toPart(
  mapping: Mapping,
  record: Content,
  { space, people }: { space: SpaceRecord } & Named,
): Promise<SourceItem | undefined> {
  const { names } = mapping;
  const { id, container, history, version } = record;
  if (!container || !version) return undefined;
  const author = history?.createdBy;
  const shared = {
    partOf: formatId({ type: "page", id: container.id }),
    ...placeOf(space),
    ...(author && { author: personOf(author, author.id, names) }),
    ...defined({ createdAt: history?.createdDate, updatedAt: version.when ?? history?.createdDate }),
  };
  const item =
    record.type === "comment"
      ? { ...shared, ...(await commentOf(mapping, record, container, people)) }
      : record.type === "attachment"
        ? { ...shared, ...fileOf(mapping, record, container.id, version.number) }
        : undefined;
  return item && { ...item, version: digestOf(MAPPING_VERSION, id, version.number, item) };
}

type Part = Pick<SourceItem, "externalId" | "kind" | "subkind" | "title" | "url" | "content"> & Partial<SourceItem>;

async function commentOf(
  { base }: Mapping,
  { id, body, extensions, history }: Content,
  container: NonNullable<Content["container"]>,
  people: Named["people"],
): Promise<Part> {
  const author = readable(history?.createdBy?.displayName ?? "");
  const page = readable(container.title ?? "");
  const selection = readable(extensions?.inlineProperties?.originalSelection ?? "").slice(0, MOST_TITLE);
  const pageText = await textOfStorage(body?.storage?.value ?? "", people);
  return {
    externalId: formatId({ type: "comment", id }),
    kind: "message",
    subkind: "comment",
    title: `Comment${author === "" ? "" : ` by ${author}`}${page === "" ? "" : ` on ${page}`}`.slice(0, MOST_TITLE),
    url: `${urlOf(base, container.id)}&focusedCommentId=${id}`,
    // The text that an inline comment refers to precedes the comment.
    content: textContent(selection === "" ? pageText : `> ${selection}\n\n${pageText}`),
  };
}

function fileOf({ base, config }: Mapping, record: Content, page: string, version: number): Part {
  const { id, extensions, metadata } = record;
  const size = extensions?.fileSize;
  const mimeType = (extensions?.mediaType ?? metadata?.mediaType)?.slice(0, 200);
  const name = fileNameOf(record);
  return {
    externalId: formatId({ type: "attachment", id }),
    kind: "file",
    subkind: "attachment",
    title: name,
    hasFileTitle: true,
    url: `${base}/pages/viewpageattachments.action?pageId=${page}`,
    ...defined({ mimeType, size }),
    content: fileContent(config, { mimeType, size }, `${page}.${version}`),
  };
}

export function fileNameOf({ title, id }: Pick<Content, "title" | "id">): string {
  const name = readable(title).slice(0, MOST_TITLE);
  return name === "" ? `Attachment ${id}` : name;
}

/** Returns a URL that leads to a page under any name, in any space. */
function urlOf(base: string, pageId: string): string {
  return `${base}/pages/viewpage.action?pageId=${pageId}`;
}

function placeOf(space: SpaceRecord): Pick<SourceItem, "place" | "containers"> {
  const name = nameOf(space);
  return { place: name, containers: [{ ...spaceRef(space.id), type: "space", name, isHome: true }] };
}
