import type { z } from "zod";
import { isNoCursor } from "#api/common.ts";
import type { RouteConfig } from "@hono/zod-openapi";
import { ApiError, noSuchThing } from "#api/errors.ts";
import { findJsonFault, type JsonBounds } from "#core/json-bounds.ts";
import { readInPace } from "./body.ts";
import { type BodyBounds, boundsOfBody } from "./body-bounds.ts";
import { defined } from "#core/defined.ts";
import type { AppContext } from "./env.ts";

/** The parts of a request, parsed by the contract. */
export interface ParsedRequest {
  params: unknown;
  query: unknown;
  body: unknown;
}

/**
 * Reads the path, query and JSON body of a request and validates them against the route's contract. Unknown keys are
 * errors (A2).
 *
 * @param bounds of the JSON body; undefined for a route without one
 * @throws ApiError `invalid_request`, which names the invalid fields; `not_found` for a malformed id in the path;
 *   `unsupported_media_type`, `payload_too_large`, `request_timeout`
 */
export async function parseRequest(
  route: RouteConfig,
  c: AppContext,
  bounds: BodyBounds | undefined,
): Promise<ParsedRequest> {
  const { params, query } = route.request ?? {};
  return {
    params: params === undefined ? {} : parsePath(toZod(params), c.req.param()),
    query: parsePart(query === undefined ? undefined : toZod(query), queryRecord(query, c.req.queries())),
    body: bounds === undefined ? undefined : await parseBody(route, c, bounds),
  };
}

function parsePath(schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  // A malformed id gets the same response as an id that doesn't exist.
  throw noSuchThing();
}

function parsePart(schema: z.ZodType | undefined, value: Record<string, unknown>): unknown {
  if (schema === undefined) {
    const [unknown] = Object.keys(value);
    if (unknown === undefined) return {};
    throw invalid([{ path: unknown, message: `Unknown argument "${unknown}"` }]);
  }
  return parseWith(schema, value);
}

/**
 * The bounds of the route's JSON body. Undefined for a route without one: handlers read other media types as streams.
 */
export function bodyBoundsOf(route: RouteConfig, { isOpen }: { isOpen: boolean }): BodyBounds | undefined {
  const schema = bodySchemaOf(route);
  return schema === undefined ? undefined : boundsOfBody(toZod(schema), { isOpen });
}

function bodySchemaOf(route: RouteConfig): unknown {
  const media = route.request?.body?.content["application/json"];
  return media && "schema" in media ? media.schema : undefined;
}

async function parseBody(route: RouteConfig, c: AppContext, bounds: BodyBounds): Promise<unknown> {
  const text = await readText(c, bounds.maxBytes);
  if (text === "" && route.request?.body?.required !== true) return undefined;
  if (!isJson(c.req.header("content-type"))) {
    throw new ApiError("unsupported_media_type", { message: "Send the body as Content-Type: application/json." });
  }
  return parseWith(toZod(bodySchemaOf(route)), parseJson(text, bounds));
}

/**
 * @throws ApiError `invalid_request` for invalid JSON; also, before the text is parsed, if it has too much nesting or
 *   too many entries
 */
export function parseJson(text: string, bounds: JsonBounds, details?: Record<string, unknown>): unknown {
  const refuse = (message: string, cause?: unknown) =>
    new ApiError("invalid_request", { message, ...defined({ details, cause }) });
  const fault = findJsonFault(text, bounds);
  if (fault === "depth") throw refuse(`The body nests deeper than ${bounds.maxDepth} levels. Send a flatter one.`);
  if (fault === "members") {
    throw refuse(`The body has more than ${bounds.maxMembers} keys and list entries. Send fewer.`);
  }
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw refuse("The body is not valid JSON.", cause);
  }
}

function parseWith(schema: z.ZodType, value: unknown): unknown {
  const result = strictly(schema).safeParse(value);
  if (result.success) return result.data;
  throw invalid(result.error.issues.flatMap(describeIssue));
}

/** Reads the body as text of at most `maxBytes` of UTF-8. @throws as `readBytes` */
export async function readText(c: AppContext, maxBytes: number): Promise<string> {
  return (await readBytes(c, maxBytes)).toString("utf8");
}

/**
 * Reads the raw body, and stops at the first byte beyond the limit.
 *
 * @param take gets the number of bytes of each chunk, and may refuse them
 * @throws ApiError `payload_too_large`, `request_timeout`; the errors of `take`
 */
export async function readBytes(
  c: AppContext,
  maxBytes: number,
  take: (bytes: number) => void = () => undefined,
): Promise<Buffer> {
  const declared = Number(c.req.header("content-length") ?? 0);
  if (declared > maxBytes) throw tooLarge(maxBytes);
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of bodyOf(c) ?? []) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes) throw tooLarge(maxBytes);
    take(chunk.byteLength);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/**
 * Yields the body's bytes as they arrive, for a handler that reads the body itself. Null if there is no body. If the
 * caller returns early, the body ends.
 */
export function bodyOf(c: AppContext): AsyncGenerator<Uint8Array, void> | null {
  const { body } = c.req.raw;
  return body === null ? null : readInPace(body);
}

/**
 * Repeated parameters become arrays, and so does a single one whose schema is an array. An empty cursor is treated as
 * absent.
 */
function queryRecord(schema: unknown, queries: Record<string, string[]>): Record<string, unknown> {
  const shape = shapeOf(schema);
  const entries = Object.entries(queries).filter(([key, values]) => key !== "cursor" || !values.every(isNoCursor));
  return Object.fromEntries(
    entries.map(([key, values]) => [key, values.length === 1 && !isArraySchema(shape?.[key]) ? values[0] : values]),
  );
}

function isArraySchema(schema: unknown): boolean {
  if (!hasDef(schema)) return false;
  if (schema.def.type === "array") return true;
  return isArraySchema(schema.def.innerType);
}

/** The members of an object schema; undefined for any other schema. */
export function shapeOf(schema: unknown): Record<string, unknown> | undefined {
  if (typeof schema !== "object" || schema === null || !("shape" in schema)) return undefined;
  // A zod object's `shape` is a record of schemas.
  return schema.shape as Record<string, unknown>;
}

/** Makes an object schema reject unknown keys unless it says otherwise. Other schemas are unchanged. */
export function strictly(schema: z.ZodType): z.ZodType {
  const { def }: { def: { type: string; catchall?: unknown } } = schema;
  if (def.type !== "object" || def.catchall !== undefined) return schema;
  if ("strict" in schema && typeof schema.strict === "function") return schema.strict() as z.ZodType;
  return schema;
}

function hasDef(schema: unknown): schema is { def: { type: string; innerType?: unknown } } {
  return typeof schema === "object" && schema !== null && "def" in schema;
}

/** Contracts in this project contain only zod schemas, never raw OpenAPI objects. */
function toZod(schema: unknown): z.ZodType {
  if (typeof schema === "object" && schema !== null && "safeParse" in schema) return schema as z.ZodType;
  throw new Error("The contract of a route must be made of zod schemas.");
}

function describeIssue(issue: z.core.$ZodIssue): { path: string; message: string }[] {
  const path = issue.path.map(String).join(".");
  if (issue.code !== "unrecognized_keys") return [{ path, message: issue.message }];
  return issue.keys.map((key) => ({
    path: path === "" ? key : `${path}.${key}`,
    message: `Unknown key "${key.slice(0, 100)}"`,
  }));
}

/**
 * Maximum number of fields that an error names. More would help no one, and a response must not be longer than its
 * request.
 */
const MOST_ERRORS = 50;

function invalid(faults: { path: string; message: string }[]): ApiError {
  const errors = faults.slice(0, MOST_ERRORS);
  const [first] = errors;
  const more = faults.length > 1 ? ` (and ${faults.length - 1} more)` : "";
  return new ApiError("invalid_request", {
    message: first
      ? `${first.path === "" ? "The request" : `"${first.path}"`}: ${first.message}${more}.`
      : "The request is not valid.",
    errors,
    ...(first && first.path !== "" && { field: first.path }),
  });
}

function isJson(contentType: string | undefined): boolean {
  return contentType !== undefined && /^application\/(?:json|[\w.+-]+\+json)\s*(?:;|$)/i.test(contentType.trim());
}

function tooLarge(maxBytes: number): ApiError {
  const KIB = 1024;
  const size = maxBytes < KIB * KIB ? `${maxBytes / KIB} KiB` : `${Math.round((maxBytes / KIB / KIB) * 10) / 10} MiB`;
  return new ApiError("payload_too_large", { message: `The body is larger than ${size}.` });
}
