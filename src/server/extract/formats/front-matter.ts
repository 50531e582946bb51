import { oneLine } from "../clean.ts";

export interface FrontMatter {
  /** Where the body starts, in UTF-16 code units; 0 without front matter. */
  end: number;
  title?: string;
  language?: string;
  /** Scalars and lists of scalars by their key; what a document says of itself is a claim, never proof. Source: S47. */
  properties: Record<string, string>;
}

const MAX_FRONT_MATTER_LENGTH = 16_384;
const MAX_PROPERTIES = 40;
const MAX_VALUE_LENGTH = 500;

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
    const words = scalarText(value);
    if (name === "" || words === "" || Object.keys(front.properties).length >= MAX_PROPERTIES) continue;
    if (name.toLowerCase() === "title") front.title = words;
    else if (/^(?:lang|language)$/iu.test(name) && /^[a-z]{2}\b/iu.test(words))
      front.language = words.slice(0, 2).toLowerCase();
    // Keys come from the document: `__proto__` must become a plain key.
    else
      Object.defineProperty(front.properties, name, {
        value: words,
        enumerable: true,
        configurable: true,
        writable: true,
      });
  }
  return front;
}

async function parseMap(source: string): Promise<[string, unknown][] | undefined> {
  const { parseDocument } = await import("yaml");
  const document = parseDocument(source, { logLevel: "silent", stringKeys: true });
  if (document.errors.length > 0) return undefined;
  try {
    // Few aliases: a document of nested ones unfolds to gigabytes.
    const value: unknown = document.toJS({ maxAliasCount: 20, mapAsMap: true });
    return value instanceof Map ? [...value].map(([key, item]) => [String(key), item]) : undefined;
  } catch {
    // Too many aliases: not worth reading, so it stays text.
    return undefined;
  }
}

/** A scalar as one line, a list of scalars joined by ", ", anything else as nothing. */
function scalarText(value: unknown): string {
  if (Array.isArray(value))
    return oneLine(
      value
        .map(scalarText)
        .filter((item) => item !== "")
        .join(", "),
      MAX_VALUE_LENGTH,
    );
  if (value instanceof Date) return value.toISOString();
  const isScalar = typeof value === "string" || typeof value === "number" || typeof value === "boolean";
  return isScalar ? oneLine(String(value), MAX_VALUE_LENGTH) : "";
}
