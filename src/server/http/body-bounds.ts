import type { z } from "zod";
import { type JsonBounds, MAX_JSON_DEPTH } from "#core/json-bounds.ts";

/** Size limits of a JSON body, checked before it is parsed. */
export interface BodyBounds extends JsonBounds {
  maxBytes: number;
}

/** Maximum bytes of a body on a public route. The largest valid body of these routes has some 10,000. */
export const OPEN_BODY_BYTES = 16 * 1024;

/**
 * Maximum keys and list entries of a body whose route has no schema of its own, such as a registration or a decision.
 */
export const OPEN_JSON: JsonBounds = { maxDepth: MAX_JSON_DEPTH, maxMembers: 2_000 };

/** Bytes of the largest body. A scope of 2,000 entries of 1,000 letters, with titles of the same length, has 6.1 MB. */
const MOST_BYTES = 7 * 1024 * 1024;
/**
 * Every route accepts at least this many members, so that a mistake is reported with its field and not as a body that
 * is too large.
 */
const FEWEST_MEMBERS = 200;

/**
 * Computes the bounds of a route's body from the largest value of its schema; 16 KiB for a route without credentials.
 *
 * @throws Error if the schema contains a kind of unknown size, or a list of unlimited length
 */
export function boundsOfBody(schema: z.ZodType, { isOpen }: { isOpen: boolean }): BodyBounds {
  const { bytes, members } = sizeOf(schema);
  const kib = Math.ceil(Math.max(OPEN_BODY_BYTES, Math.min(MOST_BYTES, bytes)) / 1024);
  return {
    maxBytes: isOpen ? OPEN_BODY_BYTES : kib * 1024,
    maxMembers: Math.max(FEWEST_MEMBERS, members),
    maxDepth: MAX_JSON_DEPTH,
  };
}

interface Size {
  bytes: number;
  members: number;
}

/** A UTF-16 unit can be written as `\uXXXX`. Python writes every letter that isn't ASCII in this form. */
const BYTES_PER_CHAR = 6;
/** Bytes of a text with a pattern, such as an ID, the name of an app or a date. None is longer, and all are ASCII. */
const PATTERN_BYTES = 80;
/** Bytes of the punctuation, line break and indentation of one member. */
const BYTES_AROUND = 24;
const NUMBER_BYTES = 32;
/** The size of values whose shape depends on the source, such as the configuration of a connector. */
const ANYTHING: Size = { bytes: 256 * 1024, members: 5_000 };
/** Maximum names in a record, such as a title for each entry of a scope. */
const MOST_NAMES = 2_000;

/** Returns the size of the largest value of a schema. */
function sizeOf(schema: unknown): Size {
  if (!isSchema(schema)) throw new Error("The contract of a route must be made of zod schemas.");
  const { def } = schema;
  switch (def.type) {
    case "object":
      return sizeOfObject(def.shape ?? {});
    case "array":
      return times(sizeOf(def.element), mostOf(def));
    case "record":
      return sizeOfRecord(def);
    case "union":
      return largest((def.options ?? []).map(sizeOf));
    case "string":
      return { bytes: sizeOfString(schema), members: 0 };
    case "enum":
      return largest(Object.values(def.entries ?? {}).map(sizeOfValue));
    case "literal":
      return largest((def.values ?? []).map(sizeOfValue));
    case "number":
    case "boolean":
    case "null":
      return { bytes: NUMBER_BYTES, members: 0 };
    case "unknown":
      return ANYTHING;
    case "pipe":
      return sizeOf(def.in);
    case "optional":
    case "nullable":
    case "default":
    case "prefault":
    case "readonly":
      return sizeOf(def.innerType);
    default:
      throw new Error(`The size of a body with "${def.type}" is not known: say it in http/body-bounds.ts.`);
  }
}

function sizeOfObject(shape: Readonly<Record<string, unknown>>): Size {
  return sum(Object.entries(shape).map(([name, value]) => around(sizeOf(value), name.length)));
}

function sizeOfRecord({ keyType, valueType }: Def): Size {
  if (isSchema(valueType) && valueType.def.type === "unknown") return ANYTHING;
  return times(around(sizeOf(valueType), sizeOf(keyType).bytes), MOST_NAMES);
}

function sizeOfString({ maxLength }: Schema): number {
  return typeof maxLength === "number" ? maxLength * BYTES_PER_CHAR : PATTERN_BYTES;
}

function sizeOfValue(value: unknown): Size {
  return { bytes: JSON.stringify(value).length, members: 0 };
}

/** @throws Error for a list of unlimited length */
function mostOf({ checks = [] }: Def): number {
  // oxlint-disable-next-line no-underscore-dangle -- zod stores the parameters of a check only there
  const most = checks.flatMap((check) => check._zod?.def?.maximum ?? []);
  if (most.length === 0) throw new Error("A list in a body needs a maximum of entries.");
  return Math.min(...most);
}

function around({ bytes, members }: Size, nameBytes = 0): Size {
  return { bytes: bytes + nameBytes + BYTES_AROUND, members: members + 1 };
}

/** Adds up sizes. Each list entry adds a comma, and each object member also a colon. */
function sum(sizes: readonly Size[]): Size {
  return sizes.reduce((all, { bytes, members }) => ({ bytes: all.bytes + bytes, members: all.members + members + 1 }), {
    bytes: BYTES_AROUND,
    members: 0,
  });
}

function times(size: Size, count: number): Size {
  const { bytes, members } = around(size);
  return { bytes: bytes * count + BYTES_AROUND, members: members * count };
}

function largest(sizes: readonly Size[]): Size {
  return {
    bytes: Math.max(0, ...sizes.map(({ bytes }) => bytes)),
    members: Math.max(0, ...sizes.map(({ members }) => members)),
  };
}

/** The properties of a zod schema that this module reads. All zod kinds have them. */
interface Def {
  type: string;
  shape?: Readonly<Record<string, unknown>>;
  element?: unknown;
  keyType?: unknown;
  valueType?: unknown;
  options?: readonly unknown[];
  entries?: Readonly<Record<string, unknown>>;
  values?: readonly unknown[];
  in?: unknown;
  innerType?: unknown;
  checks?: readonly { _zod?: { def?: { maximum?: number } } }[];
}

interface Schema {
  def: Def;
  maxLength?: unknown;
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && "def" in value;
}
