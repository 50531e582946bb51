/** What each path takes and gives, by the route objects. Types alone: no route gets into the bundle of a client. */
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
  /** The values of the braces; never without any. */
  path: R extends { request: { params: infer S } } ? Input<S> : never;
  /** Never where no query is taken. */
  query: R extends { request: { query: infer S } } ? Input<S> : never;
  /** As an option of a call. JSON goes as `body`; lines and forms go as `content`, as they are. */
  sent: R extends { request: { body: infer B } } ? Sent<B> : {};
  /** What a successful answer holds; undefined where it holds no JSON. */
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

/** The same with lists that are only read, and `undefined` for what may be left out: it is not sent. */
type Sparse<T> = T extends readonly (infer E)[]
  ? readonly Sparse<E>[]
  : T extends object
    ? { [K in keyof T]: Sparse<T[K]> | ({} extends Pick<T, K> ? undefined : never) }
    : T;
