import createClient from "openapi-fetch";
import type { paths } from "./generated/openapi.d.ts";

/** A client by `fetch`, for browsers and tests. Answers are `{data, error, response}`; nothing is thrown for a failed answer. */
export interface ApiClient {
  GET: Asked<"get">;
  POST: Asked<"post">;
  PUT: Asked<"put">;
  PATCH: Asked<"patch">;
  DELETE: Asked<"delete">;
}

/** Makes the client. `fetch` and the credential's header come from the caller; nothing is sent yet. */
export function makeApiClient(options: {
  baseUrl: string;
  headers?: Record<string, string>;
  fetch?: (request: Request) => Promise<Response>;
}): ApiClient {
  // Its methods take and give the same, and more: there an object with one key too many passes.
  return createClient<paths>(options) as unknown as ApiClient;
}

export type Method = "get" | "post" | "put" | "patch" | "delete";

/** The paths that take a method. */
export type PathOf<M extends Method> = {
  [P in keyof paths]: paths[P] extends Record<M, object> ? P : never;
}[keyof paths];

/** What a successful answer holds; undefined where it holds no JSON. */
export type DataOf<M extends Method, P extends PathOf<M>> = Success<Operation<M, P>["responses"]>;

/** The JSON that a path takes. */
export type BodyOf<M extends Method, P extends PathOf<M>> = Sparse<Json<NonNullable<Operation<M, P>["requestBody"]>>>;

/** The query parameters that a path takes. */
export type QueryOf<M extends Method, P extends PathOf<M>> = Sparse<
  NonNullable<Operation<M, P>["parameters"]["query"]>
>;

/**
 * What a call takes in addition to its path. It is inferred from the path alone, and so a parameter or a field that the contract does
 * not have is an error of the compiler; in the client's own methods an object with one key too many passes. Keys that come
 * out of a spread are not checked against anything: give what is spread a type of the contract.
 */
export type InitOf<M extends Method, P extends PathOf<M>> = ParamsOf<Operation<M, P>> &
  ContentOf<Operation<M, P>["requestBody"]>;

/** A call of one method, with options of the caller's own. `P` is one path, or several that take and give the same. */
export type Call<M extends Method, More = unknown> = <P extends PathOf<M>>(
  path: P,
  ...init: Optional<InitOf<M, P> & More>
) => Promise<DataOf<M, P>>;

/** The same by `fetch`: `data` is there when the answer is a success. */
type Asked<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...init: Optional<InitOf<M, P> & { headers?: Record<string, string>; parseAs?: "text" }>
) => Promise<{ data?: DataOf<M, P>; error?: unknown; response: Response }>;

/** The same, giving the answer itself, whose JSON is the contract's. */
export type Open<M extends Method, More, Answer> = <P extends PathOf<M>>(
  path: P,
  ...init: Optional<InitOf<M, P> & More>
) => Promise<Answer & { json(): Promise<DataOf<M, P>> }>;

/** The paths that give a list page by page. */
export type ListPath = {
  [P in PathOf<"get">]: DataOf<"get", P> extends { nextCursor: string | null } ? Paged<P, QueryOf<"get", P>> : never;
}[PathOf<"get">];

/** `P` where its query takes pages. */
type Paged<P, Query> = [Query] extends [never] ? never : "limit" | "cursor" extends keyof Query ? P : never;

/** The plural that holds a list's records. */
export type ListKey<P extends ListPath> = {
  [K in keyof DataOf<"get", P> & string]: DataOf<"get", P>[K] extends readonly unknown[] ? K : never;
}[keyof DataOf<"get", P> & string];

/** What a list holds. */
export type RecordOf<P extends ListPath, K extends ListKey<P>> = DataOf<"get", P>[K] extends readonly (infer R)[]
  ? R
  : never;

interface Described {
  parameters: { query?: unknown; path?: unknown };
  requestBody?: unknown;
  responses: object;
}

type Operation<M extends Method, P extends PathOf<M>> = Extract<paths[P][M], Described>;

type Success<R> = { [S in keyof R]: S extends 200 | 201 | 202 | 204 ? Json<R[S]> : never }[keyof R];

type Json<T> = T extends { content: { "application/json": infer J } } ? J : undefined;

type ParamsOf<O extends Described> = {} extends O["parameters"] ? { params?: Params<O> } : { params: Params<O> };

type Params<O extends Described> = Sparse<Pick<O["parameters"], "query" | "path">>;

/** JSON goes as `body`; lines and forms go as `content`, as they are. */
type ContentOf<B> = [NonNullable<B>] extends [never]
  ? {}
  : [Json<NonNullable<B>>] extends [undefined]
    ? { content: string | Uint8Array }
    : undefined extends B
      ? { body?: Sparse<Json<NonNullable<B>>> }
      : { body: Sparse<Json<NonNullable<B>>> };

/** The same with `undefined` for what may be left out: it is not sent. */
export type Sparse<T> = T extends readonly (infer E)[]
  ? readonly Sparse<E>[]
  : T extends object
    ? { [K in keyof T]: Sparse<T[K]> | ({} extends Pick<T, K> ? undefined : never) }
    : T;

type Optional<Init> = {} extends Init ? [init?: Init] : [init: Init];
