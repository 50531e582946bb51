import { notFound } from "#sources/errors.ts";
import { defined } from "#core/defined.ts";
import { createHash } from "node:crypto";
import { ApiError, isApiError } from "#api/errors.ts";
import type { FileContent } from "#sources/item.ts";
import { maxFileBytes } from "#sources/file-scope/file-size.ts";
import { readableName } from "#sources/file-scope/folders.ts";
import { isSecretFile } from "#sources/file-scope/secret-files.ts";
import type { DriveClient, DriveContext } from "./client.ts";
import { contentKeyOf, type ExportForm, exportOf, MAX_EXPORT_BYTES, versionOf } from "./map.ts";
import type { DriveFile } from "./records.ts";

const GOOGLE_TYPE = "application/vnd.google-apps.";
/** The size limit of an export, which may be a little larger than the size that Google reports. */
const EXPORT_BYTES = 2 * MAX_EXPORT_BYTES;

/** Reads a file unchanged, or exports a Google document in the format from which its text is extracted. */
export async function readDriveFile(
  ctx: DriveContext,
  client: DriveClient,
  { externalId, ref = "" }: { externalId: string; ref?: string },
): Promise<FileContent> {
  const file = await client.find(externalId);
  const form = file && exportOf(file.mimeType);
  const isReadable = file && (form || !file.mimeType.startsWith(GOOGLE_TYPE));
  if (!isReadable || file.trashed === true || (!ctx.config.secretFiles && isSecretFile(file.name))) throw gone();
  return form
    ? readForm(client, file, ref, form)
    : explained(client, file, undefined, () => readBytes(ctx, client, file, ref));
}

/** Exports the document in this format or, if that export is too large for Google, in the smaller one. */
async function readForm(client: DriveClient, file: DriveFile, ref: string, form: ExportForm): Promise<FileContent> {
  const { smaller } = form;
  try {
    return await explained(client, file, form, () => readExport(client, file, ref, form));
  } catch (error) {
    const isTooLarge = isApiError(error, "source_forbidden") && error.details?.["reason"] === TOO_LARGE;
    if (!isTooLarge || smaller === undefined) throw error;
    return readForm(client, file, ref, smaller);
  }
}

/** Adds Google's reason to a refusal. @throws ApiError the original error; for a refusal, with Google's reason */
async function explained(
  client: DriveClient,
  file: DriveFile,
  form: ExportForm | undefined,
  read: () => Promise<FileContent>,
): Promise<FileContent> {
  try {
    return await read();
  } catch (error) {
    if (!isApiError(error, "source_forbidden")) throw error;
    const reason = await client.refusalOf(file.id, form?.mimeType);
    throw new ApiError("source_forbidden", {
      message: (reason !== undefined && REASONS[reason]) || error.message,
      details: { ...error.details, ...defined({ reason }) },
    });
  }
}

const TOO_LARGE = "exportSizeLimitExceeded";
/** Source: https://developers.google.com/workspace/drive/api/guides/handle-errors */
const REASONS: Readonly<Record<string, string>> = {
  [TOO_LARGE]: "Google exports documents up to 10 MB. This one is larger.",
  cannotDownloadAbusiveFile: "Google marks this file as malware or spam.",
  cannotDownloadFile: "Google doesn't let this account download the file.",
  domainPolicy: "The organization's policy doesn't let apps read this file.",
  fileNotDownloadable: "Google can't export this kind of file.",
};

async function readExport(
  client: DriveClient,
  file: DriveFile,
  ref: string,
  { mimeType, extension }: ExportForm,
): Promise<FileContent> {
  const answer = await client.export(file.id, mimeType, EXPORT_BYTES);
  // The content is of this version or an older one. If the version is the listed one, nothing has changed in between.
  const after = await client.get(file.id);
  return {
    bytes: answer.bytes(),
    mimeType,
    fileName: `${readableName(file.name)}.${extension}`,
    version: versionOf(contentKeyOf(after), ref),
  };
}

async function readBytes(ctx: DriveContext, client: DriveClient, file: DriveFile, ref: string): Promise<FileContent> {
  const { body } = await client.download(file.id, maxFileBytes(ctx.config));
  const named = {
    fileName: readableName(file.name),
    mimeType: file.mimeType,
    version: versionOf(contentKeyOf(file), ref),
  };
  return { ...named, stream: checked(body, client, file) };
}

/** Yields the bytes if they belong to the reported version. */
async function* checked(
  body: AsyncIterable<Uint8Array>,
  client: DriveClient,
  file: DriveFile,
): AsyncGenerator<Uint8Array, void> {
  const hash = createHash("md5");
  for await (const piece of body) {
    hash.update(piece);
    yield piece;
  }
  const isSame =
    file.md5Checksum === undefined
      ? contentKeyOf(await client.get(file.id)) === contentKeyOf(file)
      : hash.digest("hex") === file.md5Checksum;
  if (isSame) return;
  throw new ApiError("source_changed", { message: "The file changed while kb read it." });
}

function gone(): ApiError {
  return notFound("Google Drive has no such file.");
}
