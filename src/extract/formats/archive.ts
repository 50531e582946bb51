import { archiveText, MAX_MEMBER_BYTES, MAX_MEMBERS, type Member, memberPath } from "#extract/archive/member.ts";
import { gunzipUpTo } from "#extract/archive/gunzip.ts";
import { looksLikeTar, readTar } from "#extract/archive/tar.ts";
import { type Format, type FormatInput, type FormatResult, noText } from "#extract/format.ts";
import { openZip, type Zip, type ZipEntry } from "#extract/zip.ts";
import { ZipError } from "#extract/zip-error.ts";
import { asBuffer } from "#core/as-buffer.ts";

/** ZIP archives. The text is the list of members; the members become child items if the connector includes them. */
export const zipFormat: Format = {
  extract(input) {
    if (!input.readsArchives) return notWanted("ZIP archive");
    const zip = openZip(input.bytes, ZIP_CAPS);
    const members: Member[] = [];
    const state = { room: MAX_MEMBER_BYTES, read: 0, encrypted: 0 };
    for (const entry of zip.entries) {
      const path = memberPath(entry.name);
      if (path === undefined) continue;
      const bytes = input.hasTime() ? readMember(zip, entry, state) : undefined;
      members.push(bytes === undefined ? { path } : { path, bytes });
    }
    if (members.length > 0 && state.encrypted === members.length)
      return noText("encrypted", "The archive is password-protected.");
    return archiveText(members, input.maxTextLength, false);
  },
};

/** Tar archives, gzipped or not, and gzipped files. */
export const tarFormat: Format = {
  extract(input) {
    if (!input.readsArchives) return notWanted("tar archive");
    return tarText(asBuffer(input.bytes), input, false);
  },
};

export const gzipFormat: Format = {
  extract(input) {
    if (!input.readsArchives) return notWanted("file packed by gzip");
    const { bytes, isCut } = gunzipUpTo(input.bytes, MAX_MEMBER_BYTES);
    if (looksLikeTar(bytes)) return tarText(bytes, input, isCut);
    if (isCut) return noText("too_large", "The file unpacks to more than 64 MiB, which is the limit.");
    const path = memberPath(input.fileName.replace(/\.(?:gz|gzip|z)$/iu, "")) ?? "content";
    return archiveText([{ path, bytes }], input.maxTextLength, false);
  },
};

const ZIP_CAPS = { maxEntries: 20_000, maxUnpackedBytes: MAX_MEMBER_BYTES, maxRatio: 300 };

function tarText(bytes: Buffer, input: FormatInput, isCut: boolean): FormatResult {
  const tar = readTar(bytes);
  return archiveText(tar.members, input.maxTextLength, isCut || tar.isCut);
}

/** Reads a member. An unreadable member is only listed, so that the others can still be read. */
function readMember(zip: Zip, entry: ZipEntry, state: { room: number; read: number; encrypted: number }) {
  if (entry.isEncrypted) state.encrypted++;
  if (entry.isEncrypted || state.read >= MAX_MEMBERS || entry.size > state.room) return undefined;
  try {
    const bytes = zip.read(entry, state.room);
    state.room -= bytes.length;
    state.read++;
    return bytes;
  } catch (error) {
    if (!(error instanceof ZipError)) throw error;
    if (error.reason === "too_large") state.room = 0;
    return undefined;
  }
}

function notWanted(what: string): FormatResult {
  return noText(
    "unsupported_type",
    `This is a ${what}. To read the files in it, turn on the connector's "archives" setting.`,
  );
}
