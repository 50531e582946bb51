import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const SOURCES = "src/sources";
const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((name) => name.endsWith(".ts"));
const texts = new Map(files.map((name) => [name, readFileSync(join(SOURCES, name), "utf8")]));

/** Lists that say something about one thing: without them it is still that thing. */
const FACTS: Readonly<Record<string, string>> = {
  "confluence/records.ts ancestors": "unknown ancestors make a page no one's",
  "google-drive/records.ts errors": "why a request was refused",
  "google-drive/records.ts owners": "who owns a file",
  "google-drive/records.ts permissionDetails": "where a permission comes from",
  "jira/records.ts labels": "labels of an issue",
  "jira/records.ts components": "components of an issue",
  "jira/records.ts fixVersions": "versions of an issue",
  "notion/records.ts RichText": "pieces of a text",
  "notion/records.ts properties": "properties of a page",
  "slack/client.ts channels": "where a file is shared",
  "slack/client.ts groups": "where a file is shared",
  "slack/client.ts ims": "where a file is shared",
};

/** What follows the beginning of a schema, to the end of its expression. */
function expressionAt(text: string, from: number): string {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const char = text[at] ?? "";
    if ("([{".includes(char)) depth++;
    else if (")]}".includes(char) && --depth < 0) return text.slice(from, at);
    else if (depth === 0 && (char === "," || char === ";")) return text.slice(from, at);
  }
  return text.slice(from);
}

/** Schemas of `lenient.ts`, and those that end in `.catch`. */
const CAUGHT = /^maybe\(|^(?:text|flag|count|mimeType)$|\.catch\([^()]*(?:\([^()]*\))?[^()]*\)\s*$/;

/** Keys, or constants, whose schema is this kind and is caught. */
function caught(pattern: RegExp): string[] {
  const found: string[] = [];
  for (const [file, text] of texts) {
    for (const match of text.matchAll(/(?:(\w+):|const (\w+) =)\s*/g)) {
      const schema = expressionAt(text, match.index + match[0].length);
      const name = match[1] ?? match[2] ?? "";
      if (pattern.test(`${name}: ${schema}`) && CAUGHT.test(schema)) found.push(`${file} ${name}`);
    }
  }
  return found;
}

test("a list of things that isn't understood is no empty list", () => {
  const lists = caught(/^\w+: (?:maybe\(\s*)?(?:z\s*\.(?:array|record)|many|listed)\(/);
  expect(lists.filter((name) => !(name in FACTS))).toEqual([]);
  expect(Object.keys(FACTS).filter((name) => !lists.includes(name))).toEqual([]);
});

test("a mark of the end that isn't understood is no end", () => {
  const marks =
    /^(?:has_more|hasMore|hasNextPage|next|next_cursor|nextCursor|nextPageToken|isLast|incompleteSearch|end|next_batch): (?:z|maybe|text|flag|count)\b/;
  expect(caught(marks)).toEqual([]);
  // The rule sees what it is for.
  expect(marks.test("next_batch: z.string()")).toBe(true);
});
