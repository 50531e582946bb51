import { webAddress } from "#extract/link-addresses.ts";
import { DOCUMENT_ZIP_CAPS, looksLikeZip, openZip, type Zip } from "#extract/zip.ts";
import { type DocumentProperties, propertyReader } from "./properties.ts";
import { readFlatPackage } from "./flat-package.ts";
import { withoutControlEscapes } from "./xstring.ts";
import { walkXml, xmlFromBytes, type XmlHandler } from "./xml.ts";

export interface Relationship {
  id: string;
  /** The last word in the URL of the relationship's type: `styles`, `hyperlink`, `slide`. */
  type: string;
  /** The name of a part, or a URL when the target is external. */
  target: string;
  isExternal: boolean;
}

export type Relationships = ReadonlyMap<string, Relationship>;

/** An Office document: parts in a ZIP archive, linked by relationships. */
export interface OfficePackage {
  /** The name of the part with which the document begins; undefined when there is none. */
  mainPart: string | undefined;
  hasPart(name: string): boolean;
  /** Walks through a part; returns false when there is no part of that name. */
  walk(partName: string, handler: XmlHandler): boolean;
  /** Returns a part's bytes, up to 16 MiB; undefined when there is none. */
  read(partName: string): Uint8Array | undefined;
  relationshipsOf(partName: string): Relationships;
  properties(): DocumentProperties;
}

/**
 * Opens an Office document (the family of DOCX, PPTX, XLSX): a ZIP archive, or one XML file with all parts.
 *
 * @throws ZipError when its archive can't be read
 */
export function openPackage(bytes: Uint8Array): OfficePackage {
  return looksLikeZip(bytes) ? openZipped(bytes) : openFlat(readFlatPackage(bytes));
}

function openZipped(bytes: Uint8Array): OfficePackage {
  const zip = openZip(bytes, DOCUMENT_ZIP_CAPS);
  return packageOf({
    has: (name) => zip.find(name) !== undefined,
    read: (name) => readPart(zip, name, MAX_PART_BYTES),
    walk: (name, handler) => walkPart(zip, name, handler),
  });
}

function openFlat(parts: ReadonlyMap<string, Uint8Array>): OfficePackage {
  return packageOf({
    has: (name) => parts.has(name),
    read: (name) => parts.get(name),
    walk: (name, handler) => {
      const part = parts.get(name);
      if (part !== undefined) walkXml(xmlFromBytes(part), handler);
      return part !== undefined;
    },
  });
}

/** Where the parts are stored. */
interface Parts {
  has(name: string): boolean;
  read(name: string): Uint8Array | undefined;
  walk: Walk;
}

function packageOf({ has, read, walk }: Parts): OfficePackage {
  const relationshipsOf = (partName: string) => readRelationships(partName, walk);
  const roots = relationshipsOf("");
  return {
    mainPart: findType(roots, "officeDocument")?.target,
    hasPart: has,
    walk,
    read,
    relationshipsOf,
    properties: () => readProperties(roots, walk),
  };
}

/** Returns the first relationship of a type. */
export function findType(relationships: Relationships, type: string): Relationship | undefined {
  return listType(relationships, type)[0];
}

/** Returns the relationships of a type, in the order of the document. */
export function listType(relationships: Relationships, type: string): Relationship[] {
  return [...relationships.values()].filter((found) => found.type === type && !found.isExternal);
}

/** Returns the URL of a relationship if it is one for people: http, https, mailto. */
export function linkOf(relationships: Relationships, id: string | undefined): string | undefined {
  const found = id === undefined ? undefined : relationships.get(id);
  return found?.isExternal === true ? webAddress(found.target) : undefined;
}

/** Walks through the archive entry of that name; returns false when there is none. */
export function walkPart(zip: Zip, name: string, handler: XmlHandler): boolean {
  const entry = zip.find(name);
  if (entry !== undefined) walkXml((onPiece) => zip.stream(entry, onPiece), handler);
  return entry !== undefined;
}

/** Returns the bytes of the entry of that name; undefined when there is none. */
export function readPart(zip: Zip, name: string, maxBytes: number): Uint8Array | undefined {
  const entry = zip.find(name);
  return entry && zip.read(entry, maxBytes);
}

const MAX_PART_BYTES = 16 * 1_048_576;
/** Maximum number of relationships; a slide or a sheet has a few dozen. */
const MAX_RELATIONSHIPS = 100_000;

type Walk = (partName: string, handler: XmlHandler) => boolean;

function readRelationships(partName: string, walk: Walk): Relationships {
  const slash = partName.lastIndexOf("/");
  const folder = partName.slice(0, slash + 1);
  const found = new Map<string, Relationship>();
  walk(`${folder}_rels/${partName.slice(slash + 1)}.rels`, {
    open(name, attributes) {
      if (name !== "Relationship" || found.size >= MAX_RELATIONSHIPS) return;
      const { Id: id, Type: type = "", Target: target } = attributes;
      if (id === undefined || target === undefined) return;
      const isExternal = attributes["TargetMode"] === "External";
      const word = type.slice(type.lastIndexOf("/") + 1);
      found.set(id, { id, type: word, target: isExternal ? target : resolvePart(folder, target), isExternal });
    },
  });
  return found;
}

/** Returns the name of a part for a target that may be relative to a folder of the archive. */
export function resolvePart(folder: string, target: string): string {
  const path = target.split(/[?#]/u, 1)[0] ?? "";
  const names: string[] = [];
  const whole = path.startsWith("/") ? path.slice(1) : folder + path;
  for (const name of whole.replaceAll("\\", "/").split("/")) {
    if (name === "..") names.pop();
    else if (name !== "" && name !== ".") names.push(name);
  }
  return names.join("/");
}

function readProperties(roots: Relationships, walk: Walk): DocumentProperties {
  const properties: DocumentProperties = {};
  const parts = [findType(roots, "core-properties")?.target ?? "docProps/core.xml"];
  parts.push(findType(roots, "extended-properties")?.target ?? "docProps/app.xml");
  for (const part of parts) walk(part, propertyReader(properties, PROPERTIES, withoutControlEscapes));
  return properties;
}

const PROPERTIES = new Map([
  ["dc:title", "title"],
  ["dc:creator", "author"],
  ["dc:subject", "subject"],
  ["dc:description", "description"],
  ["dc:language", "language"],
  ["cp:keywords", "keywords"],
  ["cp:category", "category"],
  ["cp:lastModifiedBy", "lastModifiedBy"],
  ["dcterms:created", "created"],
  ["dcterms:modified", "modified"],
  ["Company", "company"],
]);
