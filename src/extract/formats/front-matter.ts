import type { FieldValue } from "#api/common.ts";
import { isRecord, tryJson } from "#core/json-record.ts";
import { oneLine } from "#extract/clean.ts";
import { loadPart } from "#extract/load.ts";
import { rfc3339 } from "#extract/office/properties.ts";

export interface FrontMatter {
  /** Where the body starts, in UTF-16 code units; 0 without front matter. */
  end: number;
  title?: string;
  language?: string;
  /**
   * Scalars and lists of scalars by key, with the types of YAML; dates as RFC 3339. What a document says about itself is a claim, never proof.
   * Source: S47.
   */
  properties: Record<string, FieldValue>;
}

const MAX_FRONT_MATTER_LENGTH = 16_384;
const MAX_PROPERTIES = 40;
const MAX_VALUE_LENGTH = 500;
const MAX_LIST_LENGTH = 100;

/**
 * Reads front matter at the very beginning: YAML between `---` lines, TOML between `+++` lines, or JSON whose braces have their own lines. YAML and
 * TOML with mistakes are read line by line. A block that isn't a map remains part of the body.
 */
export async function readFrontMatter(text: string): Promise<FrontMatter> {
  const none: FrontMatter = { end: 0, properties: {} };
  const block = findBlock(text);
  const fields = block === undefined ? undefined : await parseFields(block.kind, block.source);
  if (block === undefined || fields === undefined) return none;

  const front: FrontMatter = { end: block.end, properties: {} };
  for (const [key, value] of fields) {
    const name = oneLine(key, 60);
    const typed = typedValue(value);
    if (name === "" || typed === undefined || Object.keys(front.properties).length >= MAX_PROPERTIES) continue;
    const words = typeof typed === "object" ? typed.join(", ") : String(typed);
    if (name.toLowerCase() === "title") front.title = words;
    else if (/^(?:lang|language)$/iu.test(name) && /^[a-z]{2}\b/iu.test(words))
      front.language = words.slice(0, 2).toLowerCase();
    // Keys come from the document, so `__proto__` must become a plain key.
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

type Fields = [string, unknown][];
type Kind = "yaml" | "toml" | "json";

/** Finds the block, its kind, and where the body after it begins. */
function findBlock(text: string): { kind: Kind; source: string; end: number } | undefined {
  if (!/^(?:---|\+\+\+|\{)/u.test(text)) return undefined;
  const start = text.slice(0, MAX_FRONT_MATTER_LENGTH);
  const json = /^\{[ \t]*\r?\n[\s\S]*?\r?\n\}[ \t]*(?:\r?\n|$)/u.exec(start)?.[0];
  if (json !== undefined) return { kind: "json", source: json, end: json.length };
  const [whole, , named, source] =
    /^(---|\+\+\+)[ \t]*(yaml|toml|json)?[ \t]*\r?\n([\s\S]*?)\r?\n(?:\1|\.\.\.)[ \t]*(?:\r?\n|$)/u.exec(start) ?? [];
  if (whole === undefined || source === undefined) return undefined;
  const kind = named ?? (whole.startsWith("+") ? "toml" : "yaml");
  return { kind: kind === "toml" || kind === "json" ? kind : "yaml", source, end: whole.length };
}

async function parseFields(kind: Kind, source: string): Promise<Fields | undefined> {
  if (kind === "json") return fieldsOfJson(source);
  if (kind === "toml") return fieldsOfToml(source);
  const { isBrokenYaml, valueOfYaml } = await loadPart(() => import("#extract/yaml-document.ts"));
  // Allows few aliases, because real front matter has none.
  const parse = (part: string) => valueOfYaml(part, { maxAliasCount: 20, mapAsMap: true, isStrict: true });
  const value = parse(source);
  if (value instanceof Map) return [...value].map(([key, item]) => [String(key), item]);
  return value === undefined && isBrokenYaml(source) ? fieldsByLine(source, ":", parse) : undefined;
}

function fieldsOfJson(source: string): Fields | undefined {
  const value = tryJson(source);
  return isRecord(value) ? Object.entries(value) : undefined;
}

async function fieldsOfToml(source: string): Promise<Fields | undefined> {
  const { parse } = await loadPart(() => import("smol-toml"));
  const tryParse = (part: string): Record<string, unknown> | undefined => {
    try {
      return parse(part);
    } catch {
      return undefined;
    }
  };
  const value = tryParse(source);
  if (value !== undefined) return Object.entries(value);
  return fieldsByLine(source, "=", (part) => {
    const table = tryParse(part);
    return table === undefined ? undefined : new Map(Object.entries(table));
  });
}

/** Reads `key: rest` line by line, with the lines below it that belong to it; undefined if the text doesn't consist of such lines. */
function fieldsByLine(source: string, separator: ":" | "=", parse: (part: string) => unknown): Fields | undefined {
  const head =
    separator === ":"
      ? /^([\p{L}_][\p{L}\p{N}_.-]{0,59})[ \t]*:(?:[ \t]+(.*))?$/u
      : /^([\p{L}_][\p{L}\p{N}_.-]{0,59})[ \t]*=[ \t]*(.*)$/u;
  const parts: { key: string; rest: string; lines: string[] }[] = [];
  for (const line of source.split(/\r?\n/u)) {
    const [, key, rest = ""] = head.exec(line) ?? [];
    if (key !== undefined) parts.push({ key, rest, lines: [line] });
    else if (/^(?:[ \t]|- |#|\]|$)/u.test(line)) parts.at(-1)?.lines.push(line);
    // The block is prose between two rules.
    else return undefined;
  }
  if (parts.length === 0) return undefined;
  return parts.map(({ key, rest, lines }): [string, unknown] => {
    const value = parse(lines.join("\n"));
    const own: unknown = value instanceof Map && value.size === 1 ? value.get(key) : undefined;
    return [key, own === undefined || own instanceof Map ? rest.replace(/^(["'])(.*)\1$/u, "$2") : own];
  });
}

/** Returns a scalar with its type, a list of scalars as texts, undefined for anything else. */
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

/** Formats a scalar as one line; a date in canonical form; empty for anything else. */
function scalarText(value: unknown): string {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) return "";
    const iso = value.toISOString();
    return rfc3339(iso) ?? iso;
  }
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  if (typeof value !== "string") return "";
  const line = oneLine(value, MAX_VALUE_LENGTH);
  return rfc3339(line) ?? line;
}
