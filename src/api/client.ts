/** The typed client of a server: its paths, parameters, bodies and answers are those of the routes (`paths.ts`). */
import type { Method, Operations } from "./paths.ts";
import { targetOf, type Params } from "./target.ts";

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
  const { baseUrl, headers, fetch = globalThis.fetch } = options;
  const ask = async (method: string, path: string, init: Init = {}): Promise<Answer> => {
    const content = init.body === undefined ? init.content : JSON.stringify(init.body);
    const request = new Request(`${baseUrl}${targetOf(path, init.params)}`, {
      method,
      headers: {
        ...(init.body === undefined ? {} : { "Content-Type": "application/json" }),
        ...headers,
        ...init.headers,
      },
      ...(content === undefined ? {} : { body: content }),
    });
    const response = await fetch(request);
    const text = await response.text();
    if (!response.ok) return { error: readJson(text), response };
    // The contract's promise: the server checks its answers against the schemas that their types are made from.
    return { data: (init.parseAs === "text" ? text : parseIfAny(text)) as never, response };
  };
  return {
    GET: async (path, init?: Init) => await ask("GET", path, init),
    POST: async (path, init?: Init) => await ask("POST", path, init),
    PUT: async (path, init?: Init) => await ask("PUT", path, init),
    PATCH: async (path, init?: Init) => await ask("PATCH", path, init),
    DELETE: async (path, init?: Init) => await ask("DELETE", path, init),
  };
}

/** The paths that take a method. */
export type PathOf<M extends Method> = keyof Operations[M] & string;

/** What a successful answer holds; undefined where it holds no JSON. */
export type DataOf<M extends Method, P extends PathOf<M>> = Operation<M, P>["answer"];

/** The JSON that a path takes. */
export type BodyOf<M extends Method, P extends PathOf<M>> = Operation<M, P>["sent"] extends { body?: infer B }
  ? NonNullable<B>
  : never;

/** The query parameters that a path takes. */
export type QueryOf<M extends Method, P extends PathOf<M>> = Operation<M, P>["query"];

/**
 * What a call takes in addition to its path. It is inferred from the path alone, and so a parameter or a field that the
 * contract does not have is an error of the compiler. Keys that come out of a spread are not checked against anything: give
 * what is spread a type of the contract.
 */
export type InitOf<M extends Method, P extends PathOf<M>> = ParamsOf<
  Part<"path", Operation<M, P>["path"]> & Part<"query", Operation<M, P>["query"]>
> &
  Operation<M, P>["sent"];

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

type Described = { path: unknown; query: unknown; sent: object; answer: unknown };

type Operation<M extends Method, P extends PathOf<M>> = Extract<Operations[M][P], Described>;

/** Nothing where nothing is taken: an empty `params` would take any key. */
type ParamsOf<Params> = [keyof Params] extends [never]
  ? {}
  : {} extends Params
    ? { params?: Params }
    : { params: Params };

/** A part of the address; needed when one of its values is. */
type Part<Name extends string, Values> = [Values] extends [never]
  ? {}
  : {} extends Values
    ? { [N in Name]?: Values | undefined }
    : { [N in Name]: Values };

type Optional<Init> = {} extends Init ? [init?: Init] : [init: Init];

/** What the typed calls come down to. */
interface Init {
  params?: Params;
  body?: unknown;
  content?: string | Uint8Array<ArrayBuffer>;
  headers?: Record<string, string>;
  parseAs?: "text";
}

interface Answer {
  data?: never;
  error?: unknown;
  response: Response;
}

function parseIfAny(text: string): unknown {
  return text === "" ? undefined : JSON.parse(text);
}

/** A failure's JSON; the text itself where something between us and the server answers in its own words. */
function readJson(text: string): unknown {
  try {
    return parseIfAny(text);
  } catch {
    return text;
  }
}
