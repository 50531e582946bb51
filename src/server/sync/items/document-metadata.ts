import type { FieldValue } from "#api/common.ts";
import { isMail } from "#text/mail.ts";
import type { SourceItem, SourcePerson } from "#sources/item.ts";

/**
 * Metadata that a document states about itself. It is used where the source gives none, and shown as claims, never as
 * proof. Source: S47.
 */
export interface DocumentMetadata {
  author?: SourcePerson;
  people?: readonly SourcePerson[];
  createdAt?: number;
  updatedAt?: number;
}

const MAX_PEOPLE = 50;

/**
 * Returns the claims in the properties of an item's document. A mail's dates come from the mail wherever it is stored,
 * because the date of its file is when it was saved. For all other documents, the source's dates are used.
 */
export function metadataOf(
  item: Pick<SourceItem, "author" | "people" | "kind" | "title">,
  mimeType: string | null,
  properties: Readonly<Record<string, FieldValue>>,
): DocumentMetadata {
  const metadata: DocumentMetadata = {};
  const ofMail = item.kind === "message" && isMail(mimeType, item.title);
  const [first, ...coauthors] = readPeople(properties[ofMail ? "from" : "author"]);
  const author = item.author ?? first;
  if (author) metadata.author = author;
  const named = [...coauthors, ...readPeople(properties["to"]), ...readPeople(properties["cc"])];
  const others = item.people ?? named.slice(0, MAX_PEOPLE);
  if (others.length > 0) metadata.people = others;
  const { date } = properties;
  const sent = ofMail && typeof date === "string" ? Date.parse(date) : Number.NaN;
  if (!Number.isNaN(sent)) {
    metadata.createdAt = sent;
    metadata.updatedAt = sent;
  }
  return metadata;
}

/** Parses `Ana <ana@one.test>, bo@two.test` into people. A text without an address becomes one person. */
function readPeople(value: FieldValue | undefined): SourcePerson[] {
  if (typeof value === "object") return value.slice(0, MAX_PEOPLE).flatMap(readPeople);
  const line = typeof value === "string" ? value.trim() : "";
  if (line === "") return [];
  if (!line.includes("@")) return [{ name: line, claimed: true }];
  return line.split(",").flatMap((each): SourcePerson[] => {
    const [, words = "", angle] = /^([^<]*)(?:<([^<>]*)>)?/u.exec(each.trim()) ?? [];
    const email = (angle ?? (words.includes("@") ? words : "")).trim();
    const name = (words.trim() === "" ? email : words).trim();
    if (name === "") return [];
    return [{ name, claimed: true, ...(email !== "" && { email }) }];
  });
}
