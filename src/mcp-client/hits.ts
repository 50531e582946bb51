import { asRecord, tryJson } from "#core/json-record.ts";
import { canParseUrl } from "#api/parse-url.ts";
import { cleanLine, cleanText } from "#api/clean.ts";
import { defined } from "#core/defined.ts";
import { isInstant } from "#core/instant.ts";
import { MCP_CAPS } from "./caps.ts";
import type { McpResourceContent, McpToolResult } from "./contract.ts";

import { makeJsonGuard } from "./json-guard.ts";

/** One entry that a tool lists or finds. */
export interface McpHit {
  /** The argument for `fetch`, as the tool returned it. */
  id: string;
  title: string;
  /** The whole text or an excerpt, if the result has it. As the server sent it. */
  text?: string;
  /** http(s) only. */
  url?: string;
  mimeType?: string;
  /** Epoch milliseconds. */
  updatedAt?: number;
}

const MAX_HITS = 5_000;
const MAX_ID_CHARS = 1_000;
const MAX_URL_CHARS = 2_000;
const MAX_TITLE_CHARS = 200;
const MAX_DATE_CHARS = 100;

/** Members that contain a list of entries, and the members of an entry, in order of preference. */
const LISTS = ["results", "items", "documents", "files", "entries", "pages", "data", "matches", "nodes"];
const IDS = ["id", "kbId", "uri", "path", "key", "url", "name"];
const TITLES = ["title", "name", "subject", "path", "id", "uri"];
const TEXTS = ["text", "content", "body", "snippet", "summary", "description"];
const URLS = ["url", "link", "webUrl", "html_url", "href"];
const DATES = ["updatedAt", "updated_at", "lastModified", "last_modified", "modified", "updated", "date"];
const CURSORS = ["nextCursor", "next_cursor", "nextPageToken", "next"];

/**
 * Reads the entries in a tool's result: from the structured form, from JSON in a text, from links and embedded resources, or from the lines of a
 * text. Leaves out entries whose ids can't be distinguished, and those that another kb has read through an MCP server. If two entries have the same
 * id, the first is kept.
 */
export function readHits(result: Pick<McpToolResult, "content" | "structured">): {
  hits: McpHit[];
  nextCursor?: string;
} {
  const bodies = [
    result.structured,
    ...result.content.map((block) => (block.type === "text" ? parseJson(block.text) : undefined)),
  ];
  for (const value of bodies) {
    const entries = entriesOf(value);
    if (entries === undefined) continue;
    const object = asObject(value);
    const cursor = firstText(object, CURSORS) ?? firstText(asObject(object["next"]), ["cursor"]);
    return {
      hits: distinct(entries.map(toHit)),
      ...(cursor !== undefined && cursor.length <= 4_000 && { nextCursor: cursor }),
    };
  }
  const linked = result.content.flatMap((block): (McpHit | undefined)[] => {
    if (block.type === "link") {
      const { uri, name, title, mimeType, lastModified } = block.resource;
      return [makeHit({ id: uri, title: title ?? name, ...defined({ mimeType, updatedAt: lastModified }) })];
    }
    if (block.type !== "resource" || block.content.type !== "text") return [];
    const { uri, text, mimeType } = block.content;
    return [makeHit({ id: uri, title: uri, text, ...defined({ mimeType }) })];
  });
  if (linked.length > 0) return { hits: distinct(linked) };
  // A structured form that isn't a plain text means that the text isn't a list of lines.
  if (result.structured !== undefined && lineTextOf(result.structured) === undefined) return { hits: [] };
  const text =
    lineTextOf(result.structured) ??
    result.content.map((block) => (block.type === "text" ? block.text : "")).join("\n");
  const lines = text.split(/\r?\n/, MAX_HITS * 2).map((line) => line.trim().replace(/^(?:[-*•]|\d+[.)]) +/, ""));
  return { hits: distinct(lines.filter((line) => line !== "").map((line) => makeHit({ id: line, title: line }))) };
}

/** Returns the text in a tool's result. */
export function readText({ content, structured }: Pick<McpToolResult, "content" | "structured">): {
  text: string;
  mimeType?: string;
} {
  const inline =
    textOf(structured) ??
    content.map((block) => (block.type === "text" ? textOf(parseJson(block.text)) : undefined)).find(Boolean);
  if (inline !== undefined) return { text: inline };
  const embedded = content.flatMap((block): McpResourceContent[] => (block.type === "resource" ? [block.content] : []));
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const [first] = embedded;
  if (texts.length === 0 && first?.type === "text")
    return { text: first.text, ...defined({ mimeType: first.mimeType }) };
  return { text: texts.join("\n\n") };
}

function textOf(value: unknown): string | undefined {
  return firstText(asObject(value), ["text", "content", "body"]);
}

/** Python's servers wrap a plain text in `{ "result": … }`, others in `{ "content": … }`. */
function lineTextOf(structured: unknown): string | undefined {
  const members = Object.entries(asObject(structured));
  const [only] = members;
  return members.length === 1 && only && typeof only[1] === "string" ? only[1] : undefined;
}

function entriesOf(value: unknown): unknown[] | undefined {
  if (Array.isArray(value)) return value;
  const object = asObject(value);
  for (const name of [...LISTS, "result"]) if (Array.isArray(object[name])) return object[name];
  return typeof object["result"] === "object" ? entriesOf(object["result"]) : undefined;
}

function toHit(entry: unknown): McpHit | undefined {
  if (typeof entry === "string") return makeHit({ id: entry, title: entry });
  const object = asObject(entry);
  const id = firstText(object, IDS);
  if (id === undefined || isSecondHand(object)) return undefined;
  const url = firstText(object, URLS);
  const date = Date.parse((firstText(object, DATES) ?? "").slice(0, MAX_DATE_CHARS));
  return makeHit({
    id,
    title: firstText(object, TITLES) ?? id,
    ...defined({ text: firstText(object, TEXTS), url }),
    ...(isInstant(date) && date > 0 && { updatedAt: date }),
  });
}

/**
 * Whether another kb has itself read the entry through an MCP server. Such an entry should be read from that server. Instances that index each other
 * would otherwise pass copies of copies back and forth for ever. Source: docs/decisions/0038-what-another-kb-has-read.md
 */
function isSecondHand(entry: Readonly<Record<string, unknown>>): boolean {
  return typeof entry["kbId"] === "string" && entry["providerId"] === "mcp";
}

function makeHit({ title, url, id, ...rest }: McpHit): McpHit | undefined {
  if (id === "" || id.length > MAX_ID_CHARS || cleanText(id) !== id || /[\p{Cc}\p{Cf}\u2028\u2029]/u.test(id))
    return undefined;
  const shown = cleanLine(title, MAX_TITLE_CHARS) || cleanLine(id, MAX_TITLE_CHARS);
  const isUrl =
    url !== undefined && url.length <= MAX_URL_CHARS && /^https?:\/\/[\x21-\x7e]+$/.test(url) && canParseUrl(url);
  return { id, title: shown, ...rest, ...(isUrl && { url }) };
}

function distinct(hits: readonly (McpHit | undefined)[]): McpHit[] {
  const byId = new Map<string, McpHit>();
  for (const hit of hits) {
    if (hit === undefined || byId.has(hit.id)) continue;
    byId.set(hit.id, hit);
    if (byId.size === MAX_HITS) break;
  }
  return [...byId.values()];
}

function firstText(object: Readonly<Record<string, unknown>>, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = Object.hasOwn(object, name) ? object[name] : undefined;
    if (typeof value === "number" && Number.isFinite(value)) return String(value);
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return asRecord(value) ?? {};
}

function parseJson(text: string): unknown {
  return !/^\s*[[{]/.test(text) || nestsTooDeep(text) ? undefined : tryJson(text);
}

/** JSON inside a text wasn't checked with the response, since the check treats a string as a single value. */
function nestsTooDeep(text: string): boolean {
  return makeJsonGuard(false, TEXT_LIMITS)(Buffer.from(text, "utf8")) !== undefined;
}

const TEXT_LIMITS = { depth: MCP_CAPS.depth, values: MCP_CAPS.values, events: 0, eventBytes: 0 };
