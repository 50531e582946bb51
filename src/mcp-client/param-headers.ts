/** Arguments of tools that travel in headers as well, where gateways route by them. Source: MCP specification, 2026-07-28 (SEP-2243). */

/** An argument and the header that repeats it. */
export interface ParamHeader {
  /** Names of properties, from the arguments inwards. */
  path: readonly string[];
  /** As in `Mcp-Param-<name>`. */
  name: string;
}

/** What a property of an input schema names its header with. */
const KEYWORD = "x-mcp-header";
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;
const TYPES: ReadonlySet<unknown> = new Set(["string", "integer", "boolean"]);
/** Keywords with values, not schemas. */
const DATA: ReadonlySet<string> = new Set(["const", "default", "enum", "examples"]);

/** The headers that a tool wishes for; undefined when one of them is none that may be: then nobody may call the tool. */
export function paramHeadersOf(inputSchema: Readonly<Record<string, unknown>>): ParamHeader[] | undefined {
  const found: ParamHeader[] = [];
  if (!collect(inputSchema, [], found)) return undefined;
  const names = new Set(found.map(({ name }) => name.toLowerCase()));
  return names.size === found.length ? found : undefined;
}

/** Goes from property to property; gives false where a header is wished for that may not be. */
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

/** Whether a header is wished for inside: in a schema for items, say, of which no one value could be told. */
function isNamedIn(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(isNamedIn);
  if (!isRecord(value)) return false;
  return Object.entries(value).some(([key, inner]) => key === KEYWORD || (!DATA.has(key) && isNamedIn(inner)));
}

/** The headers of a call; what is not given, or is no value for a header, has none. */
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

/** Visible ASCII with spaces inside goes as it is; all else, and what could pass for it, as Base64 of its UTF-8. */
function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/i.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
