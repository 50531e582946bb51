import { z } from "@hono/zod-openapi";
import { ProblemBody } from "./common.ts";
import type { ErrorCode } from "./errors.ts";

/** Makes a GET route for a path; see `makeRoute`. */
export const get = makeVerb("get");
/** Makes a POST route for a path; see `makeRoute`. */
export const post = makeVerb("post");
/** Makes a PUT route for a path; see `makeRoute`. */
export const put = makeVerb("put");
/** Makes a PATCH route for a path; see `makeRoute`. */
export const patch = makeVerb("patch");
/** Makes a DELETE route for a path; see `makeRoute`. */
export const del = makeVerb("delete");

/** Makes `application/json` content from a schema, for a body that can be omitted. */
export function json<T>(schema: T) {
  return { content: { "application/json": { schema } } } as const;
}

/** Makes a JSON answer of a route. `shape` is its schema, or the fields of an object. */
export function answer<T extends Shape>(description: string, shape: T) {
  return { description, ...json(schemaOf(shape)) } as const;
}

/** Makes a JSON answer that signs a person in. */
export function signedIn<T extends Shape>(description: string, shape: T) {
  return { ...answer(description, shape), headers: { "Set-Cookie": SESSION_COOKIE } } as const;
}

const SESSION_COOKIE = {
  description: "The session: `__Host-kb` on https, `kb_session` on plain http",
  schema: { type: "string" },
} as const;

/** The key under which a route's answer for failures stores the codes that are specific to the route. */
export const OWN_CODES = "x-codes";

/** The answer for failures of a route that has no specific codes. */
export const problemAnswer = {
  description: "Problem (RFC 9457); see `code`",
  content: { "application/problem+json": { schema: ProblemBody } },
} as const;

/** A schema, or the fields of an object. */
type Shape = Schema | Fields;
type Fields = Readonly<Record<string, z.ZodType>>;
type SchemaOf<G> = G extends Schema ? G : G extends Fields ? z.ZodObject<{ -readonly [K in keyof G]: G[K] }> : never;

/** One member is enough to identify a schema: comparing it with the whole type of schemas takes a fifth of the page's type check. */
type Schema = Pick<z.ZodType, "_zod">;

interface Content {
  content?: Readonly<Record<string, { schema: Schema }>>;
}

interface Answer extends Content {
  description: string;
  headers?: object;
}

/** The input and the answers of a route. */
interface Described {
  params?: Shape;
  query?: Shape;
  /** The schema of a required JSON body, or a body of another kind. */
  body?: Schema | (Content & { required?: boolean });
  /**
   * Failures specific to this route, in addition to those that any route of its kind has (credentials, body, ids, limits). The document lists each
   * status with its codes; `failuresOf` returns them.
   */
  problems?: readonly ErrorCode[];
  /** The answer for failures, if it isn't a problem. */
  default?: Answer;
  description?: string;
  operationId?: string;
  tags?: string[];
  [status: number]: Answer;
}

type Json<Body> = { required: true; content: { "application/json": { schema: Body } } };

/** The request and the responses, from which `paths.ts` and `mount.ts` derive the types of clients and handlers. */
type Route<Method, Path, D> = {
  method: Method;
  path: Path;
  request: (D extends { params: infer P } ? { params: SchemaOf<P> } : {}) &
    (D extends { query: infer Q } ? { query: SchemaOf<Q> } : {}) &
    (D extends { body: infer B } ? { body: B extends Schema ? Json<B> : B } : {});
  responses: { [Status in keyof D & number]: D[Status] };
};

/**
 * Makes a function for routes of this method. It makes routes whose types contain their own path and schemas: the input of a handler and of a
 * client's call are derived from them. A helper that makes routes has to be generic in the path and the schemas, or every path of the client becomes
 * `string`.
 */
function makeVerb<Method extends string>(method: Method) {
  return <Path extends string, D extends Described>(path: Path, summary: string, described: D) =>
    makeRoute(method, path, { summary, ...described }) as unknown as Route<Method, Path, D>; // the same keys as the values
}

function makeRoute(method: string, path: string, { params, query, body, ...rest }: Described & { summary: string }) {
  const { problems, summary, description, operationId, tags, default: failure, ...responses } = rest;
  const own = problems === undefined ? problemAnswer : { ...problemAnswer, [OWN_CODES]: problems };
  const request = {
    ...(params && { params: schemaOf(params) }),
    ...(query && { query: schemaOf(query) }),
    ...(body && { body: isSchema(body) ? { required: true, ...json(body) } : body }),
  };
  const answers = { ...responses, default: failure ?? own };
  return { operationId, method, path, tags, summary, description, request, responses: answers };
}

function schemaOf<G extends Shape>(shape: G): SchemaOf<G> {
  return (isSchema(shape) ? shape : z.object(shape as Fields)) as SchemaOf<G>; // the two cases of the type
}

function isSchema(shape: object): shape is z.ZodType {
  return "_zod" in shape;
}

export { z };
