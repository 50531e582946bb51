/** Form fields for the settings and secrets of a source, from the server's JSON Schema. */
import type { SourceKind } from "#api/connector-records.ts";

/** A property in a JSON Schema. */
export interface SchemaField {
  /** The name of the control, which the server also uses in its errors: `config.root`. */
  name: string;
  key: string;
  title: string;
  description: string | undefined;
  isRequired: boolean;
  /**
   * `list`: texts, one per line. `some`: any of the choices. `lines`: a text whose line breaks are kept, such as a key
   * file.
   */
  type: "text" | "lines" | "number" | "yesNo" | "one" | "some" | "list";
  choices: readonly string[];
  /** The server's default. */
  fallback: unknown;
  /** The input is masked, so that others can't read it on the screen. */
  isSecret: boolean;
  /** An account provides the value. */
  isOfAccount: boolean;
}

interface Property {
  type?: string;
  title?: string;
  description?: string;
  default?: unknown;
  enum?: readonly string[];
  /** Set if the string is the content of a file. */
  contentMediaType?: string;
  /** `password` if the input is masked. */
  format?: string;
  /** Set if an account provides the value. */
  fromAccount?: string;
  items?: Property;
}

interface Schema {
  properties?: Readonly<Record<string, Property>>;
  required?: readonly string[];
}

/**
 * Returns the fields of a schema, required ones first. A key of any other type has no field. It is set with the command
 * line.
 */
export function fieldsIn(schema: unknown, prefix: "config" | "credentials"): SchemaField[] {
  const { properties = {}, required = [] } = (schema ?? {}) as Schema; // the server's own JSON Schema
  const fields = Object.entries(properties).flatMap(([key, property]): SchemaField[] => {
    const type = typeOf(property);
    if (type === undefined) return [];
    const { title = key, description, default: fallback, format, fromAccount } = property;
    const choices = property.enum ?? property.items?.enum ?? [];
    return [
      {
        name: `${prefix}.${key}`,
        key,
        title,
        description,
        isRequired: required.includes(key),
        type,
        choices,
        fallback,
        isSecret: format === "password",
        isOfAccount: fromAccount !== undefined,
      },
    ];
  });
  return fields.sort((a, b) => Number(b.isRequired) - Number(a.isRequired));
}

/** Returns the fields of a source's secrets. None is required if the source can be read without secrets. */
export function secretsOf({ authTypes, credentialsSchema }: Pick<SourceKind, "authTypes" | "credentialsSchema">) {
  const isOpen = authTypes.includes("none");
  return fieldsIn(credentialsSchema, "credentials").map((field) => (isOpen ? { ...field, isRequired: false } : field));
}

function typeOf({ type, enum: choices, items, contentMediaType }: Property): SchemaField["type"] | undefined {
  switch (type) {
    case "string":
      if (contentMediaType !== undefined) return "lines";
      return choices === undefined ? "text" : "one";
    case "number":
    case "integer":
      return "number";
    case "boolean":
      return "yesNo";
    case "array":
      if (items?.type !== "string") return undefined;
      return items.enum === undefined ? "list" : "some";
    default:
      return undefined;
  }
}

/** Returns the entered values by key. Empty values and the server's defaults are omitted. */
export function valuesOf(fields: readonly SchemaField[], form: FormData): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  for (const field of fields) {
    const value = valueOf(field, form);
    if (value !== undefined && JSON.stringify(value) !== JSON.stringify(field.fallback)) values[field.key] = value;
  }
  return values;
}

function valueOf({ name, type, fallback }: SchemaField, form: FormData): unknown {
  const texts = form.getAll(name).filter((value) => typeof value === "string");
  const text = (texts[0] ?? "").trim();
  switch (type) {
    case "yesNo":
      return text !== "";
    case "some":
      return texts.length === 0 && fallback === undefined ? undefined : texts;
    case "list": {
      const lines = linesOf(text);
      return lines.length === 0 ? undefined : lines;
    }
    case "number":
      return text === "" ? undefined : Number(text);
    case "lines":
      // A form sends Windows line endings, and a key file must end with a line feed.
      return text === "" ? undefined : `${text.replaceAll("\r\n", "\n")}\n`;
    case "text":
    case "one":
      return text === "" ? undefined : text;
  }
}

/** Returns the trimmed lines of a text that aren't empty. */
export function linesOf(text: string): string[] {
  return text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()]));
}
