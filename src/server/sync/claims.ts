import type { FieldValue } from "#api/common.ts";
import type { SourceItem, SourcePerson } from "#server/ports/source.ts";

/** What a document says of itself, where its source says nothing. Shown as claims, never as proof. Source: S47. */
export interface Claims {
  author?: SourcePerson;
  people?: readonly SourcePerson[];
  createdAt?: Date;
  updatedAt?: Date;
}

const MAX_PEOPLE = 50;

/**
 * The claims in the properties of an item's document. A mail that is a part of a file has no other dates than its own; of
 * everything else the source's dates count.
 */
export function claimsOf(
  item: Pick<SourceItem, "author" | "people" | "kind" | "parentId" | "createdAt" | "updatedAt">,
  properties: Readonly<Record<string, FieldValue>>,
): Claims {
  const claims: Claims = {};
  const [first, ...coauthors] = readPeople(properties["author"]);
  const author = item.author ?? first;
  if (author) claims.author = author;
  const named = [...coauthors, ...readPeople(properties["to"]), ...readPeople(properties["cc"])];
  const others = item.people ?? named.slice(0, MAX_PEOPLE);
  if (others.length > 0) claims.people = others;
  const { created } = properties;
  const sent = typeof created === "string" ? Date.parse(created) : Number.NaN;
  if (item.kind === "message" && item.parentId !== undefined && !Number.isNaN(sent)) {
    claims.createdAt = new Date(sent);
    claims.updatedAt = new Date(sent);
  }
  return claims;
}

/** `Ana <ana@one.test>, bo@two.test` as people; a text without an address is one person, whatever is in it. */
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
