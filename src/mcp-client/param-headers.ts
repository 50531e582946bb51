/**
 * Tool arguments that are also sent in headers, for gateways that route by them. Source: MCP specification, 2026-07-28
 * (SEP-2243).
 */

/** An argument and the header that repeats it. */
export interface ParamHeader {
  /** Names of properties, from the outermost to the innermost. */
  path: readonly string[];
  /** The name in `Mcp-Param-<name>`. */
  name: string;
}

/** The keyword that names a property's header in an input schema. */
const KEYWORD = "x-mcp-header";
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);
/** Keywords that contain values instead of schemas. */
const DATA: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"]);

/** Returns the headers that a tool requires; undefined when one of them isn't allowed, which means that the tool must not be called. */
export function paramHeadersOf(inputSchema: Readonly<Record<string, unknown>>): ParamHeader[] | undefined {
  const found: ParamHeader[] = [];
  if (!collect(inputSchema, [], found)) return undefined;
  const names = new Set(found.map(({ name }) => name.toLowerCase()));
  return names.size === found.length ? found : undefined;
}

/** Visits each property; returns false if a required header isn't allowed. */
function collect(schema: unknown, path: readonly string[], found: ParamHeader[]): boolean {
  if (!isRecord(schema)) return true;
  const { [KEYWORD]: name, properties, ...others } = schema;
  if (name !== undefined) {
    if (path.length === 0 || typeof name !== "string" || !TOKEN.test(name) || !TYPES.has(schema["type"])) return false;
    found.push({ path, name });
  }
  const isElsewhere = Object.entries(others).some(([keyword, value]) => !DATA.has(keyword) && isNamedIn(value));
  if (isElsewhere) return false;
  return !isRecord(properties) || Object.entries(properties).every(([key, one]) => collect(one, [...path, key], found));
}

/** Whether a header is required inside the value, for example in a schema for items, where no single value can be selected. */
function isNamedIn(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isNamedIn);
  if (!isRecord(value)) return false;
  return Object.entries(value).some(([key, inner]) => key === KEYWORD || (!DATA.has(key) && isNamedIn(inner)));
}

/** Returns the headers of a call. An argument that is missing or isn't a valid header value has no header. */
export function paramHeaders(
  wanted: readonly ParamHeader[],
  args: Readonly<Record<string, unknown>>,
): Record<string, string> {
  return Object.fromEntries(
    wanted.flatMap(({ path, name }) => {
      const value = path.reduce<unknown>((inner, key) => (isRecord(inner) ? inner[key] : undefined), args);
      const isWritable = typeof value === "string" || typeof value === "boolean" || Number.isSafeInteger(value);
      return isWritable ? [[`Mcp-Param-${name}`, headerValue(String(value))]] : [];
    }),
  );
}

/**
 * Returns visible ASCII with inner spaces unchanged. Everything else, and text that could be mistaken for the encoding, becomes Base64 of its UTF-8.
 */
function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/i.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}
import { isRecord } from "#core/json-record.ts";
