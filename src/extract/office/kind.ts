import { otherDocumentKind } from "./other-documents.ts";
import { looksLikeZip, openZip, type Zip } from "#extract/zip.ts";
import { asBuffer } from "#core/as-buffer.ts";

export interface OfficeKind {
  mimeType: string;
  /** The kind in a word or two. */
  label: string;
}

/**
 * Detects a document in a ZIP archive or in an OLE file; undefined for an unknown type. The kind is detected by the parts, because file names, and a
 * library's guess from the first entry, are wrong too often.
 */
export function officeKindOf(bytes: Uint8Array, fileName: string): OfficeKind | undefined {
  if (looksLikeZip(bytes)) return zipKind(bytes, fileName);
  return Buffer.from(bytes.subarray(0, 8)).equals(OLE_MARK) ? oleKind(bytes) : undefined;
}

const OLE_MARK = Buffer.from("d0cf11e0a1b11ae1", "hex");
const OPEN_XML = "application/vnd.openxmlformats-officedocument.";
export const OPEN_DOCUMENT = "application/vnd.oasis.opendocument.";
export const ENCRYPTED_OFFICE = "application/x-encrypted-office";

/** Types of main parts, without the prefix and `.main+xml`, and the type of the whole file. */
const MAIN_TYPES: readonly (readonly [string, string, string])[] = [
  [`${OPEN_XML}wordprocessingml.document`, `${OPEN_XML}wordprocessingml.document`, "DOCX"],
  [`${OPEN_XML}wordprocessingml.template`, `${OPEN_XML}wordprocessingml.template`, "DOTX"],
  ["application/vnd.ms-word.document.macroEnabled", "application/vnd.ms-word.document.macroenabled.12", "DOCM"],
  ["application/vnd.ms-word.template.macroEnabledTemplate", "application/vnd.ms-word.template.macroenabled.12", "DOTM"],
  [`${OPEN_XML}presentationml.presentation`, `${OPEN_XML}presentationml.presentation`, "PPTX"],
  [`${OPEN_XML}presentationml.slideshow`, `${OPEN_XML}presentationml.slideshow`, "PPSX"],
  [`${OPEN_XML}presentationml.template`, `${OPEN_XML}presentationml.template`, "POTX"],
  [
    "application/vnd.ms-powerpoint.presentation.macroEnabled",
    "application/vnd.ms-powerpoint.presentation.macroenabled.12",
    "PPTM",
  ],
  [
    "application/vnd.ms-powerpoint.slideshow.macroEnabled",
    "application/vnd.ms-powerpoint.slideshow.macroenabled.12",
    "PPSM",
  ],
  [
    "application/vnd.ms-powerpoint.template.macroEnabled",
    "application/vnd.ms-powerpoint.template.macroenabled.12",
    "POTM",
  ],
  [`${OPEN_XML}spreadsheetml.sheet`, `${OPEN_XML}spreadsheetml.sheet`, "XLSX"],
  [`${OPEN_XML}spreadsheetml.template`, `${OPEN_XML}spreadsheetml.template`, "XLTX"],
  ["application/vnd.ms-excel.sheet.macroEnabled", "application/vnd.ms-excel.sheet.macroenabled.12", "XLSM"],
  ["application/vnd.ms-excel.template.macroEnabled", "application/vnd.ms-excel.template.macroenabled.12", "XLTM"],
  [
    "application/vnd.ms-excel.sheet.binary.macroEnabled",
    "application/vnd.ms-excel.sheet.binary.macroenabled.12",
    "XLSB",
  ],
];

const KIND_CAPS = { maxEntries: 100_000, maxUnpackedBytes: 4 * 1_048_576, maxRatio: 1_032 };

function zipKind(bytes: Uint8Array, fileName: string): OfficeKind | undefined {
  try {
    const zip = openZip(bytes, KIND_CAPS);
    return declaredKind(zip) ?? openXmlKind(zip) ?? kindByParts(zip) ?? otherKind(zip, fileName);
  } catch {
    // The bytes can't be read as an archive; the reader of the type reports why.
    return undefined;
  }
}

/** Detects the kind by the entry `mimetype`, with which OpenDocument and EPUB begin. */
function declaredKind(zip: Zip): OfficeKind | undefined {
  const entry = zip.find("mimetype");
  if (entry === undefined || entry.isEncrypted || entry.size > 200) return undefined;
  const type = Buffer.from(zip.read(entry, 200)).toString("latin1").trim();
  if (type === "application/epub+zip") return EPUB;
  return type.startsWith(OPEN_DOCUMENT) ? openDocumentKind(type) : undefined;
}

/** Returns the kind for an OpenDocument media type. */
export function openDocumentKind(mimeType: string): OfficeKind {
  return { mimeType, label: `OpenDocument ${mimeType.slice(OPEN_DOCUMENT.length).replaceAll("-", " ")}` };
}

const EPUB: OfficeKind = { mimeType: "application/epub+zip", label: "EPUB" };

/** Detects the kind by the types of the parts that the package declares. */
function openXmlKind(zip: Zip): OfficeKind | undefined {
  const entry = zip.find("[Content_Types].xml");
  if (entry === undefined || entry.isEncrypted) return undefined;
  const types = Buffer.from(zip.read(entry, KIND_CAPS.maxUnpackedBytes)).toString("latin1").replaceAll("\0", "");
  for (const [main, mimeType, label] of MAIN_TYPES) {
    if (types.includes(`"${main}.main+xml"`) || types.includes(`'${main}.main+xml'`)) return { mimeType, label };
  }
  return types.includes(".sheet.binary.macroEnabled.main") ? find("XLSB") : undefined;
}

/** Detects the kind by the existing parts, for packages without the declaration. */
function kindByParts(zip: Zip): OfficeKind | undefined {
  if (zip.find("word/document.xml") !== undefined) return find("DOCX");
  if (zip.find("ppt/presentation.xml") !== undefined) return find("PPTX");
  if (zip.find("xl/workbook.xml") !== undefined) return find("XLSX");
  if (zip.find("META-INF/container.xml") === undefined) return undefined;
  return zip.entries.some((entry) => entry.name.endsWith(".opf")) ? EPUB : undefined;
}

function otherKind(zip: Zip, fileName: string): OfficeKind | undefined {
  return otherDocumentKind(
    zip.entries.map(({ name }) => name),
    fileName,
  );
}

function find(label: string): OfficeKind | undefined {
  const found = MAIN_TYPES.find((type) => type[2] === label);
  return found === undefined ? undefined : { mimeType: found[1], label };
}

/** Streams of OLE files that reveal their content; the first one that exists is used. */
const OLE_STREAMS: readonly (readonly [string, OfficeKind])[] = [
  ["EncryptedPackage", { mimeType: ENCRYPTED_OFFICE, label: "encrypted Office" }],
  ["__properties_version1.0", { mimeType: "application/vnd.ms-outlook", label: "Outlook" }],
  ["WordDocument", { mimeType: "application/msword", label: "Word 97–2003" }],
  ["PowerPoint Document", { mimeType: "application/vnd.ms-powerpoint", label: "PowerPoint 97–2003" }],
  ["Workbook", { mimeType: "application/vnd.ms-excel", label: "Excel 97–2003" }],
  ["Book", { mimeType: "application/vnd.ms-excel", label: "Excel 5.0/95" }],
];

function oleKind(bytes: Uint8Array): OfficeKind | undefined {
  const buffer = asBuffer(bytes);
  return OLE_STREAMS.find(([name]) => hasOleEntry(buffer, name))?.[1];
}

/** Searches the OLE directory, whose entries have 128 bytes, begin with their name in UTF-16, and are in whole sectors. */
function hasOleEntry(buffer: Buffer, name: string): boolean {
  const wanted = Buffer.from(`${name}\0`, "utf16le");
  for (let at = buffer.indexOf(wanted); at >= 0; at = buffer.indexOf(wanted, at + 1)) {
    if (at % 128 === 0 && buffer.length >= at + 128 && buffer.readUInt16LE(at + 64) === wanted.length) return true;
  }
  return false;
}
