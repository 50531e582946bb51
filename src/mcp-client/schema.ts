import { cleanLine } from "#api/clean.ts";
import { defined } from "#core/defined.ts";

/** An argument of a tool, as shown in a form. */
export interface McpField {
  name: string;
  /** The JSON Schema type, if there is one. */
  type?: string;
  description?: string;
  isRequired: boolean;
  /** The allowed values, if they are listed. */
  values?: string[];
}

const MAX_FIELDS = 50;
const MAX_VALUES = 50;
const MAX_REFERENCES = 8;
const MAX_CHARS = 200;
const TYPES: ReadonlySet<unknown> = new Set(["string", "number", "integer", "boolean", "array", "object"]);

/**
 * Returns the arguments of a tool from its schema, for a form. Reads one level: follows at most eight references to get there, only inside the
 * schema, and doesn't compile a `pattern`.
 */
export function readFields(schema: Readonly<Record<string, unknown>>): McpField[] {
  const properties = asObject(resolve(schema, schema)["properties"]);
  const required = resolve(schema, schema)["required"];
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  return Object.entries(properties)
    .filter(([name]) => cleanLine(name, MAX_CHARS) === name)
    .slice(0, MAX_FIELDS)
    .map(([name, given]) => {
      const field = resolve(asObject(given), schema);
      const { type, description, enum: values } = field;
      return {
        name,
        isRequired: isRequired(name),
        ...defined({
          type: typeof type === "string" && TYPES.has(type) ? type : undefined,
          description: line(description),
          values: Array.isArray(values) ? values.filter(isText).slice(0, MAX_VALUES) : undefined,
        }),
      };
    });
}

/** Returns the target of a schema's reference; an empty schema if the reference leads out of the schema, nowhere, or in a circle. */
function resolve(schema: Record<string, unknown>, root: Record<string, unknown>): Record<string, unknown> {
  let one = schema;
  for (let followed = 0; typeof one["$ref"] === "string"; followed++) {
    const [, where = "", name = ""] = /^#\/(\$defs|definitions)\/([^/~%]+)$/.exec(one["$ref"]) ?? [];
    const definitions = asObject(root[where]);
    if (followed === MAX_REFERENCES || !Object.hasOwn(definitions, name)) return {};
    one = asObject(definitions[name]);
  }
  return one;
}

function asObject(value: unknown): Record<string, unknown> {
  // A JSON object's members are read by name; arrays aren't used here.
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function line(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? cleanLine(value, MAX_CHARS) : undefined;
}

function isText(value: unknown): value is string {
  return typeof value === "string" && cleanLine(value, MAX_CHARS) === value;
}
