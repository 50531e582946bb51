/** The table of all commands, made from the files of the nouns and the contract's document. */
import type { Route, ListedCommand } from "#cli/line/command.ts";
import { namedCommands } from "#cli/line/names.ts";
import { SECTIONS } from "#cli/start/nouns.ts";

export interface CliTable {
  sections: { title: string; nouns: { name: string; summary: string }[] }[];
  commands: ListedCommand[];
}

/** Loads every noun. Fields come from the answers that the document has; one that it does not have throws. */
export async function makeCliTable(document: unknown): Promise<CliTable> {
  const table: CliTable = { sections: [], commands: [] };
  for (const { title, nouns } of SECTIONS) {
    const section: CliTable["sections"][number] = { title, nouns: [] };
    for (const [name, load] of Object.entries(nouns)) {
      const loaded = await load();
      section.nouns.push({ name, summary: loaded.summary });
      for (const { run: _run, fields, ...data } of namedCommands(name, loaded)) {
        const names = fields?.flatMap((field) => (typeof field === "string" ? [field] : fieldNames(document, field)));
        table.commands.push({ ...data, ...(names !== undefined && { fields: [...new Set(names)] }) });
      }
    }
    table.sections.push(section);
  }
  return table;
}

/** The table as the module that help and completion load. */
export function formatCliTable({ sections, commands }: CliTable): string {
  return [
    "// Made by `npm run gen` from src/cli/commands and src/api. Do not edit.",
    "",
    'import type { ListedCommand } from "#cli/line/command.ts";',
    "",
    `export const SECTIONS: readonly { title: string; nouns: readonly { name: string; summary: string }[] }[] = ${format(sections)};`,
    "",
    `export const COMMANDS: readonly ListedCommand[] = ${format(commands)};`,
    "",
  ].join("\n");
}

/** A line for each. */
function format(list: readonly unknown[]): string {
  return `[\n${list.map((each) => `  ${JSON.stringify(each)},\n`).join("")}]`;
}

/** The names of the fields of an answer, or of the records under its `key`, in the document's order. */
function fieldNames(document: unknown, { method, path, key }: Route): string[] {
  const operation = at(at(at(document, "paths"), path), method);
  const answer = Object.entries(asObject(at(operation, "responses")))
    .filter(([status]) => /^20[012]$/.test(status))
    .map(([, each]) => at(at(at(each, "content"), "application/json"), "schema"));
  const [schema] = answer;
  if (schema === undefined) throw new Error(`${method} ${path} has no answer in JSON.`);
  const properties = propertiesOf(document, schema);
  if (key === undefined) return [...properties.keys()];
  const held = properties.get(key);
  if (held === undefined) throw new Error(`The answer of ${method} ${path} has no "${key}".`);
  const names = [...propertiesOf(document, resolve(document, held)["items"] ?? held).keys()];
  if (names.length === 0) throw new Error(`"${key}" in the answer of ${method} ${path} holds no records.`);
  return names;
}

/** The properties of a schema, of every variant that it has. */
function propertiesOf(document: unknown, schema: unknown): Map<string, unknown> {
  const { properties = {}, anyOf, oneOf, allOf } = resolve(document, schema);
  const found = new Map<string, unknown>(Object.entries(asObject(properties)));
  for (const variant of [anyOf, oneOf, allOf].flatMap((list) => (Array.isArray(list) ? list : []))) {
    for (const [name, value] of propertiesOf(document, variant)) if (!found.has(name)) found.set(name, value);
  }
  return found;
}

function resolve(document: unknown, schema: unknown): Record<string, unknown> {
  const { $ref } = asObject(schema);
  if (typeof $ref !== "string") return asObject(schema);
  let target = document;
  for (const part of $ref.replace("#/", "").split("/")) target = at(target, part);
  return resolve(document, target);
}

function at(value: unknown, key: string): unknown {
  return asObject(value)[key];
}

function asObject(value: unknown): Record<string, unknown> {
  // An object that is not null has string keys.
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
