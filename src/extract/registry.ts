import type { Format } from "./format.ts";

/** Loads the code of a format; each is a chunk of its own, so that a child holds only what its files need. */
export type FormatLoader = () => Promise<Format>;

const loadDocx: FormatLoader = async () => (await import("./formats/docx.ts")).docxFormat;
const loadPptx: FormatLoader = async () => (await import("./formats/pptx.ts")).pptxFormat;
const loadXlsx: FormatLoader = async () => (await import("./formats/xlsx.ts")).xlsxFormat;
const loadOdt: FormatLoader = async () => (await import("./formats/odt.ts")).odtFormat;
const loadOds: FormatLoader = async () => (await import("./formats/ods.ts")).odsFormat;
const loadOdp: FormatLoader = async () => (await import("./formats/odp.ts")).odpFormat;
const loadUnreadable: FormatLoader = async () =>
  (await import("./formats/unreadable-office.ts")).unreadableOfficeFormat;

/**
 * The formats by media type. A new one: a file in `formats/` that exports a `Format`, and its line here. Text types
 * that are not named are read as plain text.
 */
export const FORMATS: Readonly<Record<string, FormatLoader>> = {
  "text/plain": async () => (await import("./formats/plain.ts")).plainFormat,
  "text/markdown": async () => (await import("./formats/markdown.ts")).markdownFormat,
  "text/html": async () => (await import("./formats/html.ts")).htmlFormat,
  "application/xhtml+xml": async () => (await import("./formats/html.ts")).htmlFormat,
  "text/csv": async () => (await import("./formats/csv.ts")).csvFormat,
  "text/tab-separated-values": async () => (await import("./formats/csv.ts")).csvFormat,
  "application/json": async () => (await import("./formats/json.ts")).jsonFormat,
  "application/x-ndjson": async () => (await import("./formats/json.ts")).jsonFormat,
  "application/x-ipynb+json": async () => (await import("./formats/notebook.ts")).notebookFormat,
  "application/yaml": async () => (await import("./formats/yaml.ts")).yamlFormat,
  "application/toml": async () => (await import("./formats/toml.ts")).tomlFormat,
  "application/xml": async () => (await import("./formats/xml.ts")).xmlFormat,
  "text/x-log": async () => (await import("./formats/log.ts")).logFormat,
  "application/x-subrip": async () => (await import("./formats/subtitles.ts")).subtitlesFormat,
  "text/vtt": async () => (await import("./formats/subtitles.ts")).subtitlesFormat,
  "application/zip": async () => (await import("./formats/archive.ts")).zipFormat,
  "application/x-tar": async () => (await import("./formats/archive.ts")).tarFormat,
  "application/gzip": async () => (await import("./formats/archive.ts")).gzipFormat,
  "message/rfc822": async () => (await import("./formats/mail.ts")).mailFormat,
  "application/vnd.ms-outlook": async () => (await import("./formats/msg.ts")).msgFormat,
  "application/mbox": async () => (await import("./formats/mbox.ts")).mboxFormat,
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document": loadDocx,
  "application/vnd.openxmlformats-officedocument.wordprocessingml.template": loadDocx,
  "application/vnd.ms-word.document.macroenabled.12": loadDocx,
  "application/vnd.ms-word.template.macroenabled.12": loadDocx,
  "application/vnd.openxmlformats-officedocument.presentationml.presentation": loadPptx,
  "application/vnd.openxmlformats-officedocument.presentationml.slideshow": loadPptx,
  "application/vnd.openxmlformats-officedocument.presentationml.template": loadPptx,
  "application/vnd.ms-powerpoint.presentation.macroenabled.12": loadPptx,
  "application/vnd.ms-powerpoint.slideshow.macroenabled.12": loadPptx,
  "application/vnd.ms-powerpoint.template.macroenabled.12": loadPptx,
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": loadXlsx,
  "application/vnd.openxmlformats-officedocument.spreadsheetml.template": loadXlsx,
  "application/vnd.ms-excel.sheet.macroenabled.12": loadXlsx,
  "application/vnd.ms-excel.template.macroenabled.12": loadXlsx,
  "application/vnd.oasis.opendocument.text": loadOdt,
  "application/vnd.oasis.opendocument.text-template": loadOdt,
  "application/vnd.oasis.opendocument.text-master": loadOdt,
  "application/vnd.oasis.opendocument.text-web": loadOdt,
  "application/vnd.oasis.opendocument.text-flat-xml": loadOdt,
  "application/vnd.oasis.opendocument.spreadsheet": loadOds,
  "application/vnd.oasis.opendocument.spreadsheet-template": loadOds,
  "application/vnd.oasis.opendocument.spreadsheet-flat-xml": loadOds,
  "application/vnd.oasis.opendocument.presentation": loadOdp,
  "application/vnd.oasis.opendocument.presentation-template": loadOdp,
  "application/vnd.oasis.opendocument.presentation-flat-xml": loadOdp,
  "application/vnd.oasis.opendocument.graphics": loadOdp,
  "application/vnd.oasis.opendocument.graphics-template": loadOdp,
  "application/vnd.oasis.opendocument.graphics-flat-xml": loadOdp,
  "application/rtf": async () => (await import("./formats/rtf.ts")).rtfFormat,
  "text/rtf": async () => (await import("./formats/rtf.ts")).rtfFormat,
  "application/epub+zip": async () => (await import("./formats/epub.ts")).epubFormat,
  "application/msword": loadUnreadable,
  "application/vnd.ms-excel": loadUnreadable,
  "application/vnd.ms-powerpoint": loadUnreadable,
  "application/x-encrypted-office": loadUnreadable,
  "application/pdf": async () => (await import("./formats/pdf.ts")).pdfFormat,
};

/** Types of a family that are read by one format, whatever their name. */
const FAMILIES: readonly (readonly [RegExp, FormatLoader])[] = [
  [
    /^image\/(?:jpeg|png|apng|gif|webp|tiff|heic|heif|avif|x-(?:adobe-dng|canon-cr2|nikon-nef|sony-arw))/u,
    async () => (await import("./formats/image.ts")).imageFormat,
  ],
  [
    /^(?:audio|video)\/(?!midi|x-midi|amr|vnd\.dolby)|^application\/ogg$/u,
    async () => (await import("./formats/media.ts")).mediaFormat,
  ],
];

/** The loader for a detected type; undefined when its text can't be read. */
export function findFormat(
  mimeType: string,
  isText: boolean,
  formats: Readonly<Record<string, FormatLoader>> = FORMATS,
): FormatLoader | undefined {
  // The type may come from a source's own words: own keys only.
  if (Object.hasOwn(formats, mimeType)) return formats[mimeType];
  if (isText) return formats["text/plain"];
  return formats === FORMATS ? FAMILIES.find(([pattern]) => pattern.test(mimeType))?.[1] : undefined;
}
