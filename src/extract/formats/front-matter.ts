import type { FieldValue } from "#api/common.ts";
import { oneLine } from "#extract/clean.ts";
import { loadPart } from "#extract/load.ts";
import { rfc3339 } from "#extract/office/properties.ts";

export interface FrontMatter {
  /** Where the body starts, in UTF-16 code units; 0 without front matter. */
  end: number;
  title?: string;
  language?: string;
  /**
   * Scalars and lists of scalars by their key, as YAML types them; dates as RFC 3339. What a document says of itself is a
   * claim, never proof. Source: S47.
   */
  properties: Record<string, FieldValue>;
}

const MAX_FRONT_MATTER_LENGTH = 16_384;
const MAX_PROPERTIES = 40;
const MAX_VALUE_LENGTH = 500;
const MAX_LIST_LENGTH = 100;

/** Reads YAML front matter between `---` lines at the very beginning. What is no YAML map stays part of the body. */
export async function readFrontMatter(text: string): Promise<FrontMatter> {
  const none: FrontMatter = { end: 0, properties: {} };
  if (!text.startsWith("---")) return none;
  const block = /^---[ \t]*\r?\n([\s\S]*?)\r?\n(?:---|\.\.\.)[ \t]*(?:\r?\n|$)/u.exec(
    text.slice(0, MAX_FRONT_MATTER_LENGTH),
  );
  if (block?.[1] === undefined) return none;
  const fields = await parseMap(block[1]);
  if (fields === undefined) return none;

  const front: FrontMatter = { end: block[0].length, properties: {} };
  for (const [key, value] of fields) {
    const name = oneLine(key, 60);
    const typed = typedValue(value);
    if (name === "" || typed === undefined || Object.keys(front.properties).length >= MAX_PROPERTIES) continue;
    const words = typeof typed === "object" ? typed.join(", ") : String(typed);
    if (name.toLowerCase() === "title") front.title = words;
    else if (/^(?:lang|language)$/iu.test(name) && /^[a-z]{2}\b/iu.test(words))
      front.language = words.slice(0, 2).toLowerCase();
    // Keys come from the document: `__proto__` must become a plain key.
    else
      Object.defineProperty(front.properties, name, {
        value: typed,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return front;
}

async function parseMap(source: string): Promise<[string, unknown][] | undefined> {
  const { valueOfYaml } = await loadPart(() => import("#extract/yaml-document.ts"));
  // Few aliases: front matter has none.
  const value = valueOfYaml(source, { maxAliasCount: 20, mapAsMap: true, isStrict: true });
  return value instanceof Map ? [...value].map(([key, item]) => [String(key), item]) : undefined;
}

/** A scalar by its type, a list of scalars as texts, anything else as nothing. */
function typedValue(value: unknown): FieldValue | undefined {
  if (typeof value === "boolean") return value;
  if (typeof value === "number") return Number.isFinite(value) ? value : undefined;
  if (!Array.isArray(value)) return scalarText(value) || undefined;
  const texts = value
    .slice(0, MAX_LIST_LENGTH)
    .map(scalarText)
    .filter((text) => text !== "");
  return texts.length > 0 ? texts : undefined;
}

/** A scalar as one line; a date in the one form that dates have; anything else is nothing. */
function scalarText(value: unknown): string {
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? "" : value.toISOString();
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return "";
  const line = oneLine(value, MAX_VALUE_LENGTH);
  return rfc3339(line) ?? line;
}
