/** Records and fields that many routes share. Source: docs/glossary.md. */
import { z } from "@hono/zod-openapi";
import { ERROR_CODES, type ErrorCode } from "./errors.ts";
import { ITEM_KINDS, TASK_STATUSES } from "./item-kinds.ts";
import { TEXT_REASONS } from "./text-reasons.ts";

/** The type prefixes of identifiers. */
export const ID_PREFIXES = {
  token: "tok",
  server: "srv",
  connection: "cnx",
  connector: "con",
  sync: "syn",
  item: "kbi",
  entity: "ent",
  user: "usr",
  workspace: "wsp",
  account: "acc",
  invitation: "inv",
  group: "grp",
  session: "ses",
  root: "rot",
  upload: "upl",
  grant: "gra",
  eventTarget: "whk",
  event: "evt",
  delivery: "dlv",
  intent: "int",
} as const;

export type IdKind = keyof typeof ID_PREFIXES;

/** Base32 without look-alikes (no 0, o, 1, l): 16 characters are 80 random bits. */
export const ID_ALPHABET = "23456789abcdefghijkmnpqrstuvwxyz";

const ID_LENGTH = 16;

/** Makes a new identifier: the kind's prefix, `_`, 16 random base32 characters. `randomBytes` returns `n` random bytes. */
export function makeId(kind: IdKind, randomBytes: (n: number) => Uint8Array): string {
  let text = "";
  for (const byte of randomBytes(ID_LENGTH)) text += ID_ALPHABET[byte & 31];
  return `${ID_PREFIXES[kind]}_${text}`;
}

/** The schema of an identifier of this kind. */
export function idSchema(kind: IdKind) {
  return z
    .string()
    .regex(
      new RegExp(`^${ID_PREFIXES[kind]}_[${ID_ALPHABET}]{${ID_LENGTH}}$`),
      `Expected an id like ${ID_PREFIXES[kind]}_…`,
    );
}

/** RFC 3339 in UTC with milliseconds. */
export const Timestamp = z.iso.datetime({ precision: 3 }).openapi({ example: "2026-11-21T09:30:00.000Z" });

export const Role = z.enum(["owner", "admin", "member"]).openapi("Role");
export type Role = z.infer<typeof Role>;

export const Scope = z.enum(["mcp:read", "kb:api", "kb:admin"]).openapi("Scope");
export type Scope = z.infer<typeof Scope>;

export const ItemKind = z.enum(ITEM_KINDS).openapi("ItemKind");
export type ItemKind = z.infer<typeof ItemKind>;

export const TaskStatus = z.enum(TASK_STATUSES);
export type TaskStatus = z.infer<typeof TaskStatus>;

export const IndexState = z.enum(["indexed", "unsearchable", "pending", "failed", "held"]).openapi("IndexState");
export type IndexState = z.infer<typeof IndexState>;

export const TextReason = z.enum(TEXT_REASONS);
export type TextReason = z.infer<typeof TextReason>;

export const EntityType = z.enum(["person", "project", "repository", "channel", "label", "team", "space", "folder"]);
export type EntityType = z.infer<typeof EntityType>;

/**
 * A field of an item: a fact from its source or its document besides the text. A text in RFC 3339 format (`2024-03-05`,
 * `2024-03-05T10:00:00Z`) is a date.
 */
export const FieldValue = z
  .union([z.string(), z.number(), z.boolean(), z.array(z.string()).readonly()])
  .openapi("FieldValue");
export type FieldValue = z.infer<typeof FieldValue>;

/** `limit` of a list: 1–200, default 50. Accepts the text form of a query string. */
const PageLimit = z.coerce.number<number>().int().min(1).max(200).default(50);

/** A position in a list, as printed in `nextCursor`; at most 28 characters. */
const PageCursor = z.string().max(64);

/** The query of a list that can't be filtered. */
export const PageQuery = z.object({ limit: PageLimit, cursor: PageCursor.optional() });
export type PageQuery = z.infer<typeof PageQuery>;

/** The cursor of the page after this one; null on the last. */
export const nextCursor = z.string().nullable();

/** A number of things. */
export const Count = z.number().int();

/** A path on this server to continue at; `safeReturnTo` validates it. */
export const ReturnTo = z.string().max(2_000);

/** Parameters that a provider adds to the address that a person returns to. */
export const ProviderReturn = z.looseObject({
  state: z.string().max(500).optional(),
  code: z.string().max(4_000).optional(),
});

/** A member by ID and name. */
export const MemberRef = z.object({ id: idSchema("user"), name: z.string() });

/** The path parameters of a route with the ID of one record. */
export function byId(kind: IdKind) {
  return { id: idSchema(kind) };
}

/** Values that programs send to mean "from the start". An unset variable is neither a cursor nor a damaged cursor. */
const NO_CURSOR = new Set(["", "null", "none", "undefined", "nil", "n/a", "na", "false", "*", "any", "all", "0"]);

/** True for a text that means "no cursor". Any other value that a list didn't return is `invalid_cursor`. */
export function isNoCursor(text: string): boolean {
  return NO_CURSOR.has(text.trim().toLowerCase());
}

/** The body of every failed `/api` answer: RFC 9457 with our fields. */
export const ProblemBody = z
  .object({
    type: z.string(),
    title: z.string(),
    status: z.number().int(),
    detail: z.string(),
    code: z.string(),
    requestId: z.string(),
    hint: z.string().optional(),
    field: z.string().optional(),
    errors: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
  })
  .openapi("Problem");
export type ProblemBody = z.infer<typeof ProblemBody>;

/** Codes for problems that ended a run or made it skip something, in addition to the error codes. */
const RUN_PROBLEM_CODES = [
  "auth_required",
  "config",
  "names_nobody",
  "names_strangers",
  "quota_reached",
  "source_error",
  "unreachable",
] as const;

const SourceProblemCode = z.enum([...RUN_PROBLEM_CODES, ...(Object.keys(ERROR_CODES) as ErrorCode[])]);
export type SourceProblemCode = z.infer<typeof SourceProblemCode>;

/** A problem reported by a source or a check. */
export const SourceProblem = z
  .object({
    code: SourceProblemCode,
    message: z.string(),
    /** The next step to take. */
    hint: z.string().optional(),
    field: z.string().optional(),
    retryAfterMs: z.number().int().optional(),
  })
  .openapi("SourceProblem");
export type SourceProblem = z.infer<typeof SourceProblem>;
