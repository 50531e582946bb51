import { singleSpaced } from "#extract/clean.ts";
import { DOCUMENT_ZIP_CAPS, openZip, type Zip } from "#extract/zip.ts";
import { ZipError } from "#extract/zip-error.ts";
import { readPart, resolvePart, walkPart } from "./package.ts";
import { setProperty, type DocumentProperties } from "./properties.ts";
import type { Attributes, XmlHandler } from "./xml.ts";

/** A book: its chapters in reading order, their titles from the table of contents, and its metadata. */
export type EpubBook = ReturnType<typeof openEpub>;

/**
 * Opens an EPUB, version 2 or 3.
 *
 * @throws ZipError `encrypted` when its chapters are encrypted, as with copy protection; Error when it has no package file
 */
export function openEpub(bytes: Uint8Array) {
  const zip = openZip(bytes, DOCUMENT_ZIP_CAPS);
  const walk = (name: string, handler: XmlHandler) => walkPart(zip, name, handler);
  const packageName = findPackage(zip, walk);
  if (packageName === undefined) throw new Error("the book has no package file");
  const book = readPackage(packageName, walk);
  const encrypted = readEncrypted(walk);
  if (book.chapters.length > 0 && book.chapters.every((name) => encrypted.has(name)))
    throw new ZipError("encrypted", "its chapters are encrypted");
  const titles = new Map<string, string>();
  for (const name of book.contents) readContents(name, walk, titles);
  return {
    chapters: [...new Set(book.chapters)]
      .filter((name) => !encrypted.has(name))
      .map((name) => ({ name, title: titles.get(name) })),
    properties: book.properties,
    /** Returns a chapter's bytes; undefined when there is no chapter of that name. */
    read: (name: string) => readPart(zip, name, MAX_CHAPTER_BYTES),
  };
}

type Walk = (name: string, handler: XmlHandler) => boolean;

const MAX_CHAPTER_BYTES = 32 * 1_048_576;
const MAX_ITEMS = 50_000;
const MAX_TITLE_LENGTH = 1_000;
const CHAPTER_TYPES = new Set(["application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/xml"]);

function findPackage(zip: Zip, walk: Walk): string | undefined {
  const found: string[] = [];
  walk("META-INF/container.xml", {
    open(name, attributes) {
      const path = name === "rootfile" ? attributes["full-path"] : undefined;
      if (path !== undefined) found.push(resolvePart("", decodePath(path)));
    },
  });
  const named = found.find((name) => zip.find(name) !== undefined);
  return named ?? zip.entries.find((entry) => entry.name.toLowerCase().endsWith(".opf"))?.name;
}

interface PackageFile {
  chapters: string[];
  /** The table of contents in its new and old form. */
  contents: string[];
  properties: DocumentProperties;
}

function readPackage(packageName: string, walk: Walk): PackageFile {
  const folder = packageName.slice(0, packageName.lastIndexOf("/") + 1);
  const book: PackageFile = { chapters: [], contents: [], properties: {} };
  const items = new Map<string, { name: string; type: string }>();
  const authors: string[] = [];
  const subjects: string[] = [];
  let text = "";
  walk(packageName, {
    open(name, attributes) {
      text = "";
      if (name === "item") addItem(book, items, folder, attributes);
      const item = name === "itemref" ? items.get(attributes["idref"] ?? "") : undefined;
      if (item !== undefined && CHAPTER_TYPES.has(item.type) && book.chapters.length < MAX_ITEMS)
        book.chapters.push(item.name);
    },
    text: (data) => void (text.length < 4_000 && (text += data)),
    close(name) {
      if (name === "dc:creator" && authors.length < 50) authors.push(text.trim());
      else if (name === "dc:subject" && subjects.length < 100) subjects.push(text.trim());
      else if (PROPERTIES.has(name)) setProperty(book.properties, PROPERTIES.get(name) ?? "", text);
      text = "";
    },
  });
  setProperty(book.properties, "author", authors.join(", "));
  setProperty(book.properties, "keywords", subjects.join(", "));
  return book;
}

const PROPERTIES = new Map([
  ["dc:title", "title"],
  ["dc:language", "language"],
  ["dc:publisher", "publisher"],
  ["dc:description", "description"],
  ["dc:date", "date"],
]);

function addItem(
  book: PackageFile,
  items: Map<string, { name: string; type: string }>,
  folder: string,
  attributes: Attributes,
): void {
  const { id, href, "media-type": type = "", properties = "" } = attributes;
  if (id === undefined || href === undefined || items.size >= MAX_ITEMS) return;
  const name = resolvePart(folder, decodePath(href));
  items.set(id, { name, type });
  if (properties.split(/\s/u).includes("nav") || type === "application/x-dtbncx+xml") book.contents.push(name);
}

/** Reads the titles of chapters by their file. If several entries lead to a file, the first is used. */
function readContents(contentsName: string, walk: Walk, titles: Map<string, string>): void {
  const folder = contentsName.slice(0, contentsName.lastIndexOf("/") + 1);
  const add = (href: string | undefined, words: string) => {
    const title = singleSpaced(words);
    if (href === undefined || title === "" || titles.size >= MAX_ITEMS) return;
    const name = resolvePart(folder, decodePath(href));
    if (!titles.has(name)) titles.set(name, title);
  };
  let label = "";
  let href: string | undefined;
  let isLabel = false;
  walk(contentsName, {
    open(name, attributes) {
      if (name === "navLabel" || name === "a") {
        label = "";
        isLabel = true;
        if (name === "a") href = attributes["href"];
      } else if (name === "content") add(attributes["src"], label);
    },
    text: (data) => void (isLabel && label.length < MAX_TITLE_LENGTH && (label += data)),
    close(name) {
      if (name === "navLabel") isLabel = false;
      if (name !== "a") return;
      isLabel = false;
      add(href, label);
    },
  });
}

/** Finds encrypted files. Fonts are often only obfuscated, and aren't needed. */
function readEncrypted(walk: Walk): Set<string> {
  const names = new Set<string>();
  walk("META-INF/encryption.xml", {
    open(name, attributes) {
      const uri = name.endsWith("CipherReference") ? attributes["URI"] : undefined;
      if (uri !== undefined && names.size < MAX_ITEMS) names.add(resolvePart("", decodePath(uri)));
    },
  });
  return names;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    // The name contains an unescaped percent sign.
    return path;
  }
}
