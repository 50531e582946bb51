import type { Format } from "./format.ts";

/** Loads the code of a format. Each format is a separate chunk, so that a child loads only what its files need. */
export type FormatLoader = () => Promise<Format>;

/** The reader of a media type. */
export interface Reader {
  /**
   * Stored with each item that it has read. Increase it by one when the reader returns better text, or reads files that it refused before. Items that
   * an older version has read, or failed to read, are then read again automatically.
   */
  version: number;
  load: FormatLoader;
}

const PLAIN: Reader = { version: 6, load: async () => (await import("./formats/plain.ts")).plainFormat };
const DOCX: Reader = { version: 8, load: async () => (await import("./formats/docx.ts")).docxFormat };
const PPTX: Reader = { version: 5, load: async () => (await import("./formats/pptx.ts")).pptxFormat };
const XLSX: Reader = { version: 4, load: async () => (await import("./formats/xlsx.ts")).xlsxFormat };
const ODT: Reader = { version: 5, load: async () => (await import("./formats/odt.ts")).odtFormat };
const ODS: Reader = { version: 4, load: async () => (await import("./formats/ods.ts")).odsFormat };
const ODP: Reader = { version: 4, load: async () => (await import("./formats/odp.ts")).odpFormat };
const HTML: Reader = { version: 9, load: async () => (await import("./formats/html.ts")).htmlFormat };
const CSV: Reader = { version: 4, load: async () => (await import("./formats/csv.ts")).csvFormat };
const JSON_TEXT: Reader = { version: 4, load: async () => (await import("./formats/json.ts")).jsonFormat };
const SUBTITLES: Reader = { version: 3, load: async () => (await import("./formats/subtitles.ts")).subtitlesFormat };
const RTF: Reader = { version: 4, load: async () => (await import("./formats/rtf.ts")).rtfFormat };
const XML: Reader = { version: 10, load: async () => (await import("./formats/xml.ts")).xmlFormat };
const CALENDAR: Reader = { version: 4, load: async () => (await import("./formats/calendar.ts")).calendarFormat };
const TNEF: Reader = { version: 2, load: async () => (await import("./formats/tnef.ts")).tnefFormat };
const UNREADABLE: Reader = {
  version: 1,
  load: async () => (await import("./formats/unreadable-office.ts")).unreadableOfficeFormat,
};

/**
 * The formats by media type. To add one, add a file in `formats/` that exports a `Format`, and a line here. Text types that aren't listed are read as
 * plain text.
 */
export const FORMATS: Readonly<Record<string, Reader>> = {
  "text/plain": PLAIN,
  // TeX letters have been decoded since one version later than plain text's.
  "text/x-tex": { ...PLAIN, version: PLAIN.version + 1 },
  "text/x-asciidoc": { version: 3, load: async () => (await import("./formats/asciidoc.ts")).asciidocFormat },
  "text/x-rst": { version: 2, load: async () => (await import("./formats/rst.ts")).rstFormat },
  "text/x-org": { version: 3, load: async () => (await import("./formats/org.ts")).orgFormat },
  "text/markdown": { version: 5, load: async () => (await import("./formats/markdown.ts")).markdownFormat },
  "text/html": HTML,
  "application/xhtml+xml": HTML,
  "text/csv": CSV,
  "text/tab-separated-values": CSV,
  "application/json": JSON_TEXT,
  "application/x-ndjson": JSON_TEXT,
  "application/x-ipynb+json": { version: 4, load: async () => (await import("./formats/notebook.ts")).notebookFormat },
  "application/yaml": { version: 5, load: async () => (await import("./formats/yaml.ts")).yamlFormat },
  "application/toml": { version: 2, load: async () => (await import("./formats/toml.ts")).tomlFormat },
  "application/xml": XML,
  "text/xml": XML,
  "application/rss+xml": { version: 5, load: async () => (await import("./formats/feed.ts")).feedFormat },
  "application/vnd.ms-word.2003+xml": {
    version: 4,
    load: async () => (await import("./formats/word-2003.ts")).word2003Format,
  },
  "application/vnd.ms-excel.2003+xml": {
    version: 1,
    load: async () => (await import("./formats/excel-2003.ts")).excel2003Format,
  },
  "text/x-log": { version: 3, load: async () => (await import("./formats/log.ts")).logFormat },
  "application/x-subrip": SUBTITLES,
  "text/vtt": SUBTITLES,
  "text/x-ssa": SUBTITLES,
  "application/zip": { version: 2, load: async () => (await import("./formats/archive.ts")).zipFormat },
  "application/x-tar": { version: 2, load: async () => (await import("./formats/archive.ts")).tarFormat },
  "application/gzip": { version: 2, load: async () => (await import("./formats/archive.ts")).gzipFormat },
  "text/calendar": CALENDAR,
  "text/vcard": CALENDAR,
  "message/rfc822": { version: 9, load: async () => (await import("./formats/mail.ts")).mailFormat },
  "application/vnd.ms-outlook": { version: 6, load: async () => (await import("./formats/msg.ts")).msgFormat },
  "application/vnd.ms-tnef": TNEF,
  "application/ms-tnef": TNEF,
  "application/mbox": { version: 8, load: async () => (await import("./formats/mbox.ts")).mboxFormat },
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": DOCX,
  "application/vnd.openxmlformats-officedocument.wordprocessingml.template": DOCX,
  "application/vnd.ms-word.document.macroenabled.12": DOCX,
  "application/vnd.ms-word.template.macroenabled.12": DOCX,
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": PPTX,
  "application/vnd.openxmlformats-officedocument.presentationml.slideshow": PPTX,
  "application/vnd.openxmlformats-officedocument.presentationml.template": PPTX,
  "application/vnd.ms-powerpoint.presentation.macroenabled.12": PPTX,
  "application/vnd.ms-powerpoint.slideshow.macroenabled.12": PPTX,
  "application/vnd.ms-powerpoint.template.macroenabled.12": PPTX,
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": XLSX,
  "application/vnd.openxmlformats-officedocument.spreadsheetml.template": XLSX,
  "application/vnd.ms-excel.sheet.macroenabled.12": XLSX,
  "application/vnd.ms-excel.template.macroenabled.12": XLSX,
  "application/vnd.oasis.opendocument.text": ODT,
  "application/vnd.oasis.opendocument.text-template": ODT,
  "application/vnd.oasis.opendocument.text-master": ODT,
  "application/vnd.oasis.opendocument.text-web": ODT,
  "application/vnd.oasis.opendocument.text-flat-xml": ODT,
  "application/vnd.oasis.opendocument.spreadsheet": ODS,
  "application/vnd.oasis.opendocument.spreadsheet-template": ODS,
  "application/vnd.oasis.opendocument.spreadsheet-flat-xml": ODS,
  "application/vnd.oasis.opendocument.presentation": ODP,
  "application/vnd.oasis.opendocument.presentation-template": ODP,
  "application/vnd.oasis.opendocument.presentation-flat-xml": ODP,
  "application/vnd.oasis.opendocument.graphics": ODP,
  "application/vnd.oasis.opendocument.graphics-template": ODP,
  "application/vnd.oasis.opendocument.graphics-flat-xml": ODP,
  "application/rtf": RTF,
  "text/rtf": RTF,
  "application/epub+zip": { version: 6, load: async () => (await import("./formats/epub.ts")).epubFormat },
  "application/msword": UNREADABLE,
  "application/vnd.ms-excel": UNREADABLE,
  "application/vnd.ms-powerpoint": UNREADABLE,
  "application/x-encrypted-office": UNREADABLE,
  "application/pkcs7-mime": { version: 1, load: async () => (await import("./formats/signed.ts")).signedFormat },
  "application/pdf": { version: 8, load: async () => (await import("./formats/pdf.ts")).pdfFormat },
};

/** Families of types that one format reads, regardless of the exact name. */
const FAMILIES: readonly (readonly [RegExp, Reader])[] = [
  [
    /^image\/(?:jpeg|png|apng|gif|webp|tiff|heic|heif|avif|x-(?:adobe-dng|canon-cr2|nikon-nef|sony-arw))/u,
    { version: 1, load: async () => (await import("./formats/image.ts")).imageFormat },
  ],
  [
    /^(?:audio|video)\/(?!midi|x-midi|amr|vnd\.dolby)|^application\/ogg$/u,
    { version: 1, load: async () => (await import("./formats/media.ts")).mediaFormat },
  ],
];

/** Returns the reader of a detected type; undefined when its text can't be read. */
export function findFormat(
  mimeType: string,
  isText: boolean,
  formats: Readonly<Record<string, Reader>> = FORMATS,
): Reader | undefined {
  // The type may come from a source's own text, so only own keys are looked up.
  if (Object.hasOwn(formats, mimeType)) return formats[mimeType];
  if (isText) return formats["text/plain"];
  return formats === FORMATS ? FAMILIES.find(([pattern]) => pattern.test(mimeType))?.[1] : undefined;
}

/** The reader name of files of unknown type that ended the process that read them; it is used in place of a media type. */
export const UNKNOWN_READER = "*";
/** Increase it when a reader no longer ends its process. Files that ended it are then read again. */
const UNKNOWN_READER_VERSION = 1;

/** The media type of bytes that are neither in a known format nor text. */
export const UNKNOWN_BYTES = "application/octet-stream";
/** Increase it when more bytes are recognized as text. Files that weren't are then read again. */
const UNKNOWN_BYTES_VERSION = 2;

/** Returns the current version of this media type's reader; 0 when there is no reader, so that the first reader is newer. */
export function readerVersionOf(reader: string): number {
  if (reader === UNKNOWN_READER) return UNKNOWN_READER_VERSION;
  if (reader === UNKNOWN_BYTES) return UNKNOWN_BYTES_VERSION;
  return findFormat(reader, reader.startsWith("text/"))?.version ?? 0;
}
