import { z } from "@hono/zod-openapi";
import { ProblemBody } from "./common.ts";
import type { ErrorCode } from "./errors.ts";

/**
 * A route whose type contains its own path and schemas: the input of a handler and of a client's call are derived from
 * it. A helper that makes routes has to be generic in the path and the schemas, or every path of the client becomes
 * `string`.
 */
export function createRoute<P extends string, R extends RouteShape<P>>(route: R & { path: P }): R {
  return route;
}

/** `application/json` content of a schema, for `request.body` and `responses`. */
export function json<T extends z.ZodType>(schema: T) {
  return { content: { "application/json": { schema } } } as const;
}

/** A JSON answer of a route. */
export function answer<T extends z.ZodType>(description: string, schema: T) {
  return { description, ...json(schema) } as const;
}

/** A required JSON request body. */
export function body<T extends z.ZodType>(schema: T) {
  return { required: true, ...json(schema) } as const;
}

/** A JSON answer that signs a person in. */
export function signedIn<T extends z.ZodType>(description: string, schema: T) {
  return { ...answer(description, schema), headers: { "Set-Cookie": SESSION_COOKIE } } as const;
}

const SESSION_COOKIE = {
  description: "The session: `__Host-kb` on https, `kb_session` on plain http",
  schema: { type: "string" },
} as const;

/**
 * The failures of a route: those that any route of its kind has (credentials, body, ids, limits) and these of its own.
 * The document lists each status with its codes; `failuresOf` returns them.
 */
export function problems(...codes: ErrorCode[]) {
  return { ...problemAnswer, [OWN_CODES]: codes } as const;
}

/** Key under which `problems` stores the codes. */
export const OWN_CODES = "x-codes";

/** The failures of a route that has none of its own. */
export const problemAnswer = {
  description: "Problem (RFC 9457); see `code`",
  content: { "application/problem+json": { schema: ProblemBody } },
} as const;

/**
 * The configuration of a route. The library's own `createRoute` compares each schema with the whole type of schemas,
 * which takes a fifth of the page's type check; one member identifies them as well.
 */
interface RouteShape<P> {
  method: "get" | "post" | "put" | "patch" | "delete";
  path: P;
  summary?: string;
  description?: string;
  request?: { params?: Schema; query?: Schema; body?: Content & { required?: boolean } };
  responses: Record<number, Answer> & { default?: Answer };
}

interface Answer extends Content {
  description: string;
  headers?: object;
}

interface Content {
  content?: Readonly<Record<string, { schema: Schema }>>;
}

type Schema = Pick<z.ZodType, "_zod">;

export { z };
