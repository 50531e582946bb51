import { digestOf } from "#sources/digest.ts";
import { principalsOf } from "#sources/principals.ts";
import { none } from "#sources/contents.ts";
import { defined } from "#core/defined.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { SourceContainer, SourceItem, SourcePerson } from "#sources/item.ts";
import { readableName } from "#sources/file-scope/folders.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";
import { hasNoText, mimeHintOf } from "#sources/file-scope/mime-hints.ts";
import type { GoogleDriveConfig } from "./config.ts";
import type { DriveContext } from "./client.ts";
import type { DriveFile } from "./records.ts";
import { type Folder, folderRef } from "./tree.ts";

const GOOGLE_TYPE = "application/vnd.google-apps.";
export const SHORTCUT_TYPE = `${GOOGLE_TYPE}shortcut`;
/**
 * Google's size limit for an export. Source:
 * https://developers.google.com/workspace/drive/api/reference/rest/v3/files/export
 */
export const MAX_EXPORT_BYTES = 10 * 1024 * 1024;

const OFFICE = "application/vnd.openxmlformats-officedocument";

/** A format in which Google exports a document. */
export interface ExportForm {
  mimeType: string;
  extension: string;
  /** A format without pictures, which is used if the export with pictures is too large. */
  smaller?: ExportForm;
}

const PLAIN: ExportForm = { mimeType: "text/plain", extension: "txt" };

/**
 * The format in which each kind of document is read: text if one format contains all of the text, an Office format for
 * sheets and slides.
 */
const EXPORTS: Readonly<Record<string, ExportForm>> = {
  document: { mimeType: "text/markdown", extension: "md", smaller: PLAIN },
  spreadsheet: {
    mimeType: `${OFFICE}.spreadsheetml.sheet`,
    extension: "xlsx",
    // This format contains only the first sheet.
    smaller: { mimeType: "text/csv", extension: "csv" },
  },
  presentation: { mimeType: `${OFFICE}.presentationml.presentation`, extension: "pptx", smaller: PLAIN },
};

export function exportOf(mimeType: string): ExportForm | undefined {
  return mimeType.startsWith(GOOGLE_TYPE) ? EXPORTS[mimeType.slice(GOOGLE_TYPE.length)] : undefined;
}

/** Returns the id of a content: a checksum, or the time when a Google document was last edited. */
export function contentKeyOf({ id, md5Checksum, modifiedTime, mimeType, size }: DriveFile): string {
  return digest([id, mimeType, md5Checksum ?? [modifiedTime ?? null, size ?? null]]);
}

/**
 * Builds the item of a file. Of its location it contains only the folder's name, and only if its readers can read that
 * folder.
 */
export function toItem(
  { config, connector }: Pick<DriveContext, "config" | "connector">,
  file: DriveFile,
  { chain, access, follows }: { chain: readonly Folder[]; access: SourceAccess; follows: boolean },
): SourceItem {
  const title = readableName(file.name);
  const isGoogle = file.mimeType.startsWith(GOOGLE_TYPE);
  const parent = chain.at(-1);
  const mimeType = isGoogle ? file.mimeType : usefulType(file);
  const [author] = [file.owners ?? file.lastModifyingUser].flatMap((person) => toPerson(connector, person));
  const item: SourceItem = {
    externalId: file.id,
    kind: "file",
    title,
    ...(!isGoogle && { hasFileTitle: true as const }),
    ...(/^https:\/\/[^\s]+$/.test(file.webViewLink ?? "") && { url: file.webViewLink as string }),
    place: chain[0]?.name ?? "Google Drive",
    ...(follows && parent && chain.length > 1 && { path: [parent.name] }),
    containers: chain.map((folder, depth) => toContainer(chain, folder, depth, follows)),
    ...(author && { author }),
    ...(file.createdTime !== undefined && { createdAt: Date.parse(file.createdTime) }),
    ...(file.modifiedTime !== undefined && { updatedAt: Date.parse(file.modifiedTime) }),
    mimeType,
    ...(file.size !== undefined && !isGoogle && { size: Number(file.size) }),
    content: contentOf(config, file),
  };
  const meta = digest([item, config.archives, config.maxFileMb]);
  const content: SourceItem["content"] = item.content.type === "fetch" ? { type: "fetch", ref: meta } : item.content;
  return { ...item, content, access, version: versionOf(contentKeyOf(file), meta) };
}

/** Returns the version of a content, in the form that was listed with this `ref`. */
export function versionOf(contentKey: string, ref: string): string {
  return `${contentKey}.${ref}`;
}

function toContainer(chain: readonly Folder[], { id, name }: Folder, depth: number, follows: boolean): SourceContainer {
  const parentId = chain[depth - 1]?.id;
  const isShown = depth === 0 || (follows && depth === chain.length - 1);
  return {
    ...folderRef(id),
    name: isShown ? name : "Folder",
    isHome: true,
    ...defined({ parentId }),
  };
}

function toPerson(connector: DriveContext["connector"], person: DriveFile["lastModifyingUser"]): SourcePerson[] {
  const name = person?.displayName ?? person?.emailAddress;
  if (!person || name === undefined || name.trim() === "") return [];
  return [
    {
      name,
      ...(person.permissionId !== undefined && {
        principal: principalsOf({ connector }, "google-drive").user(person.permissionId),
      }),
      ...defined({ email: person.emailAddress }),
      claimed: false,
    },
  ];
}

function contentOf(config: GoogleDriveConfig, file: DriveFile): SourceItem["content"] {
  const { mimeType, size, capabilities, clientEncryptionDetails } = file;
  if (clientEncryptionDetails?.encryptionState === "encrypted") return none("encrypted");
  if (capabilities?.canDownload === false) return { type: "none" };
  if (mimeType.startsWith(GOOGLE_TYPE)) {
    return exportOf(mimeType) ? { type: "fetch" } : none("unsupported_type");
  }
  if (hasNoText(usefulType(file), config.archives)) return none("unsupported_type");
  if (size === "0") return none("empty");
  if (size !== undefined && Number(size) > maxFileBytes(config)) return none("too_large");
  return { type: "fetch" };
}

function usefulType({ mimeType, name }: DriveFile): string {
  return mimeType === "application/octet-stream" ? (mimeHintOf(name) ?? mimeType) : mimeType;
}

export function digest(value: unknown): string {
  return digestOf(value, 16);
}
