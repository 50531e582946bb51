import { createRoute, z } from "@hono/zod-openapi";
import { ProblemBody } from "./common.ts";

/** `application/json` content of a schema, for `request.body` and `responses`. */
export function json<T extends z.ZodType>(schema: T) {
  return { content: { "application/json": { schema } } } as const;
}

/** A JSON answer of a route. */
export function answer<T extends z.ZodType>(description: string, schema: T) {
  return { description, ...json(schema) } as const;
}

/** A JSON request body that must be there. */
export function body<T extends z.ZodType>(schema: T) {
  return { required: true, ...json(schema) } as const;
}

/** The problem answer that every `/api` route can give. */
export const problemAnswer = {
  description: "Problem (RFC 9457); `code` says which",
  content: { "application/problem+json": { schema: ProblemBody } },
} as const;

export { createRoute, z };
