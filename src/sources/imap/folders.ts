import { defined } from "#core/defined.ts";
import type { Scope } from "#core/scope.ts";
import type { ContainerRef, SourceContainer } from "#sources/item.ts";
import { readableName } from "#sources/file-scope/folders.ts";
import type { ImapConfig } from "./config.ts";
import type { Listed } from "./session.ts";
import { folderText } from "./text.ts";

export interface MailFolder extends Listed {
  /** The names of the folder's ancestors and of the folder itself, as the server writes them. */
  chain: string[];
}

/** Returns the folders that can be opened and named, ordered by name. */
export function toFolders(listed: readonly Listed[]): MailFolder[] {
  const folders = new Map<string, MailFolder>();
  for (const each of listed) {
    const { name, delimiter, attributes } = each;
    const isClosed = attributes.has("\\noselect") || attributes.has("\\nonexistent");
    // oxlint-disable-next-line no-control-regex -- a name with one would end a command
    if (isClosed || name === "" || name.length > 1_000 || /[\0-\x1f\x7f]/.test(name)) continue;
    folders.set(name, { ...each, chain: chainOf(name, delimiter) });
  }
  return [...folders.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The most levels of folders. No tree that people make is deeper. */
const MAX_FOLDERS_DEEP = 48;

function chainOf(name: string, delimiter: string): string[] {
  if (delimiter === "") return [name];
  const parts = name.split(delimiter);
  if (parts.length > MAX_FOLDERS_DEEP) return [name];
  // A name that begins with the delimiter doesn't have a parent with an empty name.
  return parts.map((_part, i) => parts.slice(0, i + 1).join(delimiter)).filter((id) => id !== "");
}

/** Attributes of folders that only show messages of other folders. */
const VIEWS = ["\\flagged", "\\important"];
const UNWANTED = ["\\junk", "\\trash", "\\drafts"];

/**
 * Returns the folders that a connector reads. If one folder contains all messages, as in Gmail, only that folder is
 * read, because the others show the same messages again. A scope that names folders is followed exactly.
 */
export function chooseFolders(
  folders: readonly MailFolder[],
  scope: Scope,
  { junkAndTrash }: ImapConfig,
): MailFolder[] {
  const isNamed = ({ chain }: MailFolder, entries: readonly string[]) => chain.some((name) => entries.includes(name));
  const has = ({ attributes }: MailFolder, names: readonly string[]) => names.some((name) => attributes.has(name));
  const wanted = folders.filter((folder) => !isNamed(folder, scope.exclude));
  if (scope.include.length > 0) return wanted.filter((folder) => isNamed(folder, scope.include));
  const all = wanted.filter((folder) => has(folder, ["\\all"]));
  const rest = all.length > 0 ? [] : wanted.filter((folder) => !has(folder, [...VIEWS, ...UNWANTED]));
  const unwanted = junkAndTrash ? wanted.filter((folder) => has(folder, UNWANTED)) : [];
  return [...all, ...rest, ...unwanted].sort((a, b) => (a.name < b.name ? -1 : 1));
}

export function folderRef(name: string): ContainerRef {
  return { type: "folder", id: name };
}

export function containersOf({ chain, delimiter }: MailFolder): SourceContainer[] {
  return chain.map((id, depth) => {
    const parentId = chain[depth - 1];
    return {
      type: "folder",
      id,
      name: nameOf(id, delimiter),
      isHome: true,
      ...defined({ parentId }),
    };
  });
}

/** Returns the displayed name of a folder, which is its last part. */
export function nameOf(id: string, delimiter: string): string {
  const last = delimiter === "" ? id : id.slice(id.lastIndexOf(delimiter) + delimiter.length);
  // Raw UTF-8 was read with one character for each byte.
  return readableName(/^[\0-\x7f]*$/.test(last) ? folderText(last) : Buffer.from(last, "latin1").toString("utf8"));
}

/** Returns a message's id. The same number with another UIDVALIDITY is another message. */
export function idOf(folder: string, uidValidity: number, uid: number): string {
  return `${folder}/${uidValidity}/${uid}`;
}

export interface MessagePlace {
  folder: string;
  uidValidity: number;
  uid: number;
}

export function parseId(externalId: string): MessagePlace | undefined {
  const [, folder, uidValidity, uid] = /^(.+)\/(\d{1,10})\/([1-9]\d{0,9})$/s.exec(externalId) ?? [];
  // oxlint-disable-next-line no-control-regex -- as in `toFolders`
  if (folder === undefined || folder.length > 1_000 || /[^\x20-\x7e\x80-\xff]/.test(folder)) return undefined;
  return { folder, uidValidity: Number(uidValidity), uid: Number(uid) };
}
