import { oneLine } from "./clean.ts";
import type { FormatText } from "./format.ts";
import { isRecord } from "#core/json-record.ts";
import { type Json, membersOf } from "./json-record.ts";
import { TextBuilder } from "./text-builder.ts";

/** Whether the value is a parsed OpenAPI or Swagger description. */
export function looksLikeApi(value: unknown): value is Json {
  const api = membersOf(value);
  return (
    (typeof api["openapi"] === "string" || typeof api["swagger"] === "string") && isRecord(api["paths"] ?? api["info"])
  );
}

/** True for a parsed JSON Schema that identifies itself as one. */
export function looksLikeSchema(value: unknown): value is Json {
  const schema = membersOf(value);
  const names = ["properties", "$defs", "definitions", "type", "oneOf", "anyOf", "allOf"];
  return /json-schema\.org/u.test(wordsOf(schema["$schema"])) && names.some((name) => name in schema);
}

/** Reads a description of an API. Each operation is a section named by its method and path; each schema is a section with its name. */
export function readApi(api: Json, maxTextLength: number): FormatText {
  const out = new TextBuilder(maxTextLength);
  const info = membersOf(api["info"]);
  const title = oneLine(wordsOf(info["title"]), 300);
  out.add(`# ${title || "API"}\n`);
  paragraph(out, wordsOf(info["description"]));
  for (const server of listOf(api["servers"])) out.add(`Server: ${oneLine(wordsOf(server["url"]), 300)}\n`);
  for (const [path, item] of Object.entries(membersOf(api["paths"]))) {
    for (const [method, operation] of Object.entries(membersOf(item))) {
      if (METHODS.has(method)) writeOperation(out, `${method.toUpperCase()} ${path}`, membersOf(operation));
    }
  }
  const schemas = membersOf(membersOf(api["components"])["schemas"] ?? api["definitions"]);
  for (const [name, schema] of Object.entries(schemas)) writeNamedSchema(out, name, membersOf(schema));
  const version = oneLine(wordsOf(info["version"]), 60);
  return out.result({ properties: version === "" ? {} : { version }, title });
}

/** Reads a JSON Schema: its fields with types and descriptions. Each definition is a section. */
export function readSchema(schema: Json, maxTextLength: number): FormatText {
  const out = new TextBuilder(maxTextLength);
  const title = oneLine(wordsOf(schema["title"]), 300);
  writeNamedSchema(out, title || "Schema", schema);
  for (const [name, part] of Object.entries(membersOf(schema["$defs"] ?? schema["definitions"])))
    writeNamedSchema(out, name, membersOf(part));
  return out.result({ title });
}

const METHODS: ReadonlySet<string> = new Set("get put post delete options head patch trace query".split(" "));
const MAX_DEPTH = 6;

function writeOperation(out: TextBuilder, name: string, operation: Json): void {
  if (out.isFull) return;
  out.add("\n");
  out.section(name, 2, out.offset);
  out.add(`## ${name}\n`);
  paragraph(out, wordsOf(operation["summary"]));
  paragraph(out, wordsOf(operation["description"]));
  const id = wordsOf(operation["operationId"]);
  if (id !== "") out.add(`Operation: ${oneLine(id, 200)}\n`);
  const tags = Array.isArray(operation["tags"]) ? operation["tags"].map(wordsOf).join(", ") : "";
  if (tags !== "") out.add(`Tags: ${oneLine(tags, 300)}\n`);
  for (const parameter of listOf(operation["parameters"])) {
    const schema = membersOf(parameter["schema"]);
    field(out, 0, `${wordsOf(parameter["name"])} (${wordsOf(parameter["in"])})`, { ...schema, ...parameter });
  }
  writeContent(out, "Body", membersOf(operation["requestBody"]));
  for (const [status, response] of Object.entries(membersOf(operation["responses"])))
    writeContent(out, `Answer ${status}`, membersOf(response));
}

function writeContent(out: TextBuilder, label: string, body: Json): void {
  if (Object.keys(body).length === 0) return;
  out.add(`${label}: ${oneLine(wordsOf(body["description"]) || typeOf(body), 1_000)}\n`);
  const contents = Object.values(membersOf(body["content"]));
  const schema = membersOf(membersOf(contents[0] ?? body)["schema"]);
  if (Object.keys(schema).length > 0) writeFields(out, schema, 1);
}

function writeNamedSchema(out: TextBuilder, name: string, schema: Json): void {
  if (out.isFull) return;
  if (out.offset > 0) out.add("\n");
  out.section(name, 2, out.offset);
  out.add(`## ${oneLine(name, 200)}\n`);
  paragraph(out, wordsOf(schema["description"]));
  writeFields(out, schema, 0);
}

/** Writes the fields of an object, of the items of a list, and of a composed schema. References aren't resolved; only their names are written. */
function writeFields(out: TextBuilder, schema: Json, depth: number): void {
  if (out.isFull || depth > MAX_DEPTH) return;
  if (Array.isArray(schema["enum"]))
    out.add(`${indent(depth)}One of: ${oneLine(schema["enum"].map(wordsOf).join(", "), 2_000)}\n`);
  if (typeof schema["$ref"] === "string") out.add(`${indent(depth)}${typeOf(schema)}\n`);
  for (const [name, part] of Object.entries(membersOf(schema["properties"]))) {
    field(out, depth, name, membersOf(part));
    writeFields(out, membersOf(part), depth + 1);
  }
  for (const key of ["allOf", "oneOf", "anyOf"]) for (const part of listOf(schema[key])) writeFields(out, part, depth);
  if (isRecord(schema["items"])) writeFields(out, membersOf(schema["items"]), depth + 1);
  if (isRecord(schema["additionalProperties"])) writeFields(out, membersOf(schema["additionalProperties"]), depth + 1);
}

function field(out: TextBuilder, depth: number, name: string, part: Json): void {
  const type = typeOf(part);
  const about = oneLine(wordsOf(part["description"]) || wordsOf(part["title"]), 2_000);
  out.add(
    `${indent(depth)}- ${oneLine(name, 200)}${type === "" ? "" : ` [${type}]`}${about === "" ? "" : `: ${about}`}\n`,
  );
}

function typeOf(schema: Json): string {
  const reference = wordsOf(schema["$ref"]);
  if (reference !== "") return oneLine(reference.slice(reference.lastIndexOf("/") + 1), 200);
  const type = Array.isArray(schema["type"]) ? schema["type"].map(wordsOf).join(" or ") : wordsOf(schema["type"]);
  const format = wordsOf(schema["format"]);
  const items = isRecord(schema["items"])
    ? ` of ${typeOf(membersOf(schema["items"]["$ref"] ? schema["items"] : {})) || wordsOf(membersOf(schema["items"])["type"])}`
    : "";
  return oneLine(`${type}${format === "" ? "" : ` ${format}`}${items}`, 200);
}

function paragraph(out: TextBuilder, text: string): void {
  if (text.trim() !== "") out.add(`${text.trim()}\n`);
}

function indent(depth: number): string {
  return "  ".repeat(depth);
}

function wordsOf(value: unknown): string {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

function listOf(value: unknown): Json[] {
  return Array.isArray(value) ? value.map(membersOf) : [];
}
