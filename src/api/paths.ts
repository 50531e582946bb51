/** Parameters and results of each path, from the route objects. Types only: no route gets into a client's bundle. */
import type { z } from "@hono/zod-openapi";
import type { ROUTE_GROUPS } from "./index.ts";
import type { PROTOCOL_ROUTES } from "./protocol-routes.ts";

/** The operations of the document by method and path. */
export type Operations = {
  [M in Method]: { [R in Extract<Route, { method: M }> as R["path"]]: Operation<R> };
};

export type Method = "get" | "post" | "put" | "patch" | "delete";

type Route = InGroups<typeof ROUTE_GROUPS> | InGroups<typeof PROTOCOL_ROUTES>;

type InGroups<Groups> = { [G in keyof Groups]: Groups[G][keyof Groups[G]] }[keyof Groups];

interface Operation<R> {
  /** The values of the braces; `never` if there are none. */
  path: R extends { request: { params: infer S } } ? Input<S> : never;
  /** `never` if there is no query. */
  query: R extends { request: { query: infer S } } ? Input<S> : never;
  /** The body as an option of a call. JSON is sent as `body`; lines and forms are sent unchanged as `content`. */
  sent: R extends { request: { body: infer B } } ? Sent<B> : {};
  /** The JSON of a successful answer; undefined if it has none. */
  answer: R extends { responses: infer A } ? Answer<A, keyof A & Success> : never;
}

type Success = 200 | 201 | 202 | 204;

type Answer<A, Status extends keyof A> = {
  [S in Status]: A[S] extends Json<infer Schema> ? z.output<Schema> : undefined;
}[Status];

type Sent<B> =
  B extends Json<infer Schema>
    ? B extends { required: true }
      ? { body: Input<Schema> }
      : { body?: Input<Schema> }
    : { content: string | Uint8Array };

type Json<Schema> = { content: { "application/json": { schema: Schema } } };

type Input<S> = Sparse<z.input<S>>;

/** The same type with readonly lists, and with `undefined` allowed for optional members; `undefined` isn't sent. */
type Sparse<T> = T extends readonly (infer E)[]
  ? readonly Sparse<E>[]
  : T extends object
    ? { [K in keyof T]: Sparse<T[K]> | ({} extends Pick<T, K> ? undefined : never) }
    : T;
