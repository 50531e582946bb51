import { DOCUMENT_ZIP_CAPS, looksLikeZip, openZip } from "#extract/zip.ts";
import { ZipError } from "#extract/zip-error.ts";
import { walkPart } from "./package.ts";
import { setProperty, type DocumentProperties } from "./properties.ts";
import { walkXml, xmlFromBytes, type XmlHandler } from "./xml.ts";

/** An OpenDocument file: parts in a ZIP archive, or everything in one XML document ("flat"). */
export interface OdfFile {
  /** Walks through content, styles or metadata; in a flat document, through the whole document. */
  walk(part: "content" | "styles" | "meta", handler: XmlHandler): boolean;
  /** Walks through the content of an object inside the document. */
  walkObject(href: string, handler: XmlHandler): boolean;
}

/**
 * Opens an OpenDocument file.
 *
 * @throws ZipError `encrypted` when its content is encrypted, and as `openZip`
 */
export function openOdf(bytes: Uint8Array): OdfFile {
  if (!looksLikeZip(bytes)) {
    const walk = (_: string, handler: XmlHandler) => {
      walkXml(xmlFromBytes(bytes), handler);
      return true;
    };
    return { walk, walkObject: () => false };
  }
  const zip = openZip(bytes, DOCUMENT_ZIP_CAPS);
  const walk = (name: string, handler: XmlHandler) => walkPart(zip, name, handler);
  if (isEncrypted((handler) => walk("META-INF/manifest.xml", handler)))
    throw new ZipError("encrypted", "its content is encrypted");
  return {
    walk: (part, handler) => walk(`${part}.xml`, handler),
    walkObject: (href, handler) => walk(`${href.replace(/^\.\//u, "").replace(/\/$/u, "")}/content.xml`, handler),
  };
}

/** Reads the document's metadata. */
export function readOdfProperties(file: OdfFile): DocumentProperties {
  const properties: DocumentProperties = {};
  const keywords: string[] = [];
  let text = "";
  let isInMeta = false;
  file.walk("meta", {
    open(name) {
      if (name === "office:meta") isInMeta = true;
      text = "";
    },
    text: (data) => void (isInMeta && text.length < 4_000 && (text += data)),
    close(name) {
      if (name === "office:meta") isInMeta = false;
      if (!isInMeta) return;
      const property = PROPERTIES.get(name);
      if (property !== undefined) setProperty(properties, property, text);
      if (name === "meta:keyword" && keywords.length < 100) keywords.push(text.trim());
      text = "";
    },
  });
  setProperty(properties, "keywords", keywords.join(", "));
  // A document that was never changed names its only author as the last author.
  if (properties["author"] === undefined && properties["lastModifiedBy"] !== undefined)
    properties["author"] = properties["lastModifiedBy"];
  return properties;
}

const PROPERTIES = new Map([
  ["dc:title", "title"],
  ["dc:subject", "subject"],
  ["dc:description", "description"],
  ["dc:language", "language"],
  ["dc:creator", "lastModifiedBy"],
  ["dc:date", "modified"],
  ["meta:initial-creator", "author"],
  ["meta:creation-date", "created"],
]);

function isEncrypted(walkManifest: (handler: XmlHandler) => void): boolean {
  let path = "";
  let isContentEncrypted = false;
  walkManifest({
    open(name, attributes) {
      if (name === "manifest:file-entry") path = attributes["manifest:full-path"] ?? "";
      // Newer programs encrypt everything as one package.
      if (name === "manifest:encryption-data" && (path === "content.xml" || path === "encrypted-package"))
        isContentEncrypted = true;
    },
  });
  return isContentEncrypted;
}
