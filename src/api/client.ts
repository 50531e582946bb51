/** The typed client of a server: its paths, parameters, bodies and answers have the types of the routes (`paths.ts`). */
import type { Method, Operations } from "./paths.ts";
import { targetOf, type Params } from "./target.ts";

/** A client with `fetch`, for browsers and tests. Answers are `{data, error, response}`; a failed answer throws nothing. */
export interface ApiClient {
  GET: Asked<"get">;
  POST: Asked<"post">;
  PUT: Asked<"put">;
  PATCH: Asked<"patch">;
  DELETE: Asked<"delete">;
}

/** Makes the client. The caller provides `fetch` and the credential's header; nothing is sent yet. */
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
    // The contract guarantees this type: the server checks its answers against the schemas that the type is derived from.
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

/** The paths that have a method. */
export type PathOf<M extends Method> = keyof Operations[M] & string;

/** The JSON of a successful answer; undefined if it has none. */
export type DataOf<M extends Method, P extends PathOf<M>> = Operation<M, P>["answer"];

/** The JSON body of a path. */
export type BodyOf<M extends Method, P extends PathOf<M>> = Operation<M, P>["sent"] extends { body?: infer B }
  ? NonNullable<B>
  : never;

/** The query parameters of a path. */
export type QueryOf<M extends Method, P extends PathOf<M>> = Operation<M, P>["query"];

/**
 * Arguments of a call besides its path. They are inferred from the path alone, so that a parameter or a field that isn't in the contract is a
 * compiler error. TypeScript doesn't check the keys of a spread value: declare it with a type of the contract.
 */
export type InitOf<M extends Method, P extends PathOf<M>> = ParamsOf<
  Part<"path", Operation<M, P>["path"]> & Part<"query", Operation<M, P>["query"]>
> &
  Operation<M, P>["sent"];

/** A call of one method, with further options of the caller. `P` is one path, or several with the same parameters and results. */
export type Call<M extends Method, More = unknown> = <P extends PathOf<M>>(
  path: P,
  ...init: Optional<InitOf<M, P> & More>
) => Promise<DataOf<M, P>>;

/** The same call with `fetch`: a successful answer contains `data`. */
type Asked<M extends Method> = <P extends PathOf<M>>(
  path: P,
  ...init: Optional<InitOf<M, P> & { headers?: Record<string, string>; parseAs?: "text" }>
) => Promise<{ data?: DataOf<M, P>; error?: unknown; response: Response }>;

/** The same call, which returns the answer itself; its JSON has the contract's type. */
export type Open<M extends Method, More, Answer> = <P extends PathOf<M>>(
  path: P,
  ...init: Optional<InitOf<M, P> & More>
) => Promise<Answer & { json(): Promise<DataOf<M, P>> }>;

/** The paths that return a list page by page. */
export type ListPath = {
  [P in PathOf<"get">]: DataOf<"get", P> extends { nextCursor: string | null } ? Paged<P, QueryOf<"get", P>> : never;
}[PathOf<"get">];

/** `P` if its query has page parameters. */
type Paged<P, Query> = [Query] extends [never] ? never : "limit" | "cursor" extends keyof Query ? P : never;

/** The plural key that contains a list's records. */
export type ListKey<P extends ListPath> = {
  [K in keyof DataOf<"get", P> & string]: DataOf<"get", P>[K] extends readonly unknown[] ? K : never;
}[keyof DataOf<"get", P> & string];

/** The records of a list. */
export type RecordOf<P extends ListPath, K extends ListKey<P>> = DataOf<"get", P>[K] extends readonly (infer R)[]
  ? R
  : never;

type Described = { path: unknown; query: unknown; sent: object; answer: unknown };

type Operation<M extends Method, P extends PathOf<M>> = Extract<Operations[M][P], Described>;

/** Omitted when there are no parameters: an empty `params` would accept any key. */
type ParamsOf<Params> = [keyof Params] extends [never]
  ? {}
  : {} extends Params
    ? { params?: Params }
    : { params: Params };

/** Part of the URL; required when one of its values is. */
type Part<Name extends string, Values> = [Values] extends [never]
  ? {}
  : {} extends Values
    ? { [N in Name]?: Values | undefined }
    : { [N in Name]: Values };

/** The arguments after the path: omitted if nothing in them is required. */
export type Optional<Init> = {} extends Init ? [init?: Init] : [init: Init];

/** The common form of the typed calls. */
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

/** Parses a failure's JSON. Returns the text itself if a proxy between client and server answered with a text of its own. */
function readJson(text: string): unknown {
  try {
    return parseIfAny(text);
  } catch {
    return text;
  }
}
