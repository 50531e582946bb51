/** Calls to the server, by its contract: one place that knows addresses, credentials and redirects. */
import { makeApiClient, type Call, type Method, type Open } from "#api/client.ts";
import type { ServerUrl } from "#api/server-url.ts";
import { VERSION } from "#api/version.ts";
import { brokenOff, failureOf, notKb, unreachable } from "./api-failures.ts";
import type { CommandInput } from "./command.ts";
import type { Deps } from "./deps.ts";
import { EXIT } from "./exit-codes.ts";
import { CliFailure, usageFailure } from "./failure.ts";
import { getCredential, loadSettings, type Credential, type Settings } from "./settings.ts";

/** What a call may say beside what the contract has for it. */
export interface CallOptions {
  headers?: Record<string, string>;
  /** Milliseconds for the whole call, 0 for no end; as `makeApi` was told unless given. */
  timeoutMs?: number;
}

/** The calls of the contract: their paths, parameters, bodies and answers are those of `#api`. */
export interface Api {
  settings: Settings;
  /** What the calls are made with. */
  credential: Credential | undefined;
  get: Call<"get", CallOptions>;
  post: Call<"post", CallOptions>;
  patch: Call<"patch", CallOptions>;
  delete: Call<"delete", CallOptions>;
  /** The same calls, giving the successful answer itself: for streams, texts and cookies. */
  open: { get: Open<"get", CallOptions>; post: Open<"post", CallOptions> };
  /** The text of an answer. @throws CliFailure when it breaks off */
  read(answer: Response): Promise<string>;
  /** A call on any path of the server, for `kb api`. */
  send(method: string, path: string, options?: AnyCall): Promise<Response>;
}

/** A call that no contract checks. */
export interface AnyCall extends CallOptions {
  query?: Query;
  /** Sent as JSON. */
  body?: unknown;
}

export type Query = Readonly<Record<string, unknown>>;

/** The API of the server that the settings name, with the person's credential. Throws with exit code 4 without one. */
export async function connect(input: CommandInput, deps: Deps): Promise<Api> {
  const settings = await loadSettings(deps, input.options);
  return makeApi(deps, settings, await getCredential(deps, settings, "api"));
}

/** One request as it is sent, whatever made it. */
interface Outgoing extends CallOptions {
  /** Already in its final form. */
  content: string | Uint8Array;
  isJson: boolean;
}

/** What the typed calls come down to. */
interface Init extends CallOptions {
  params?: object;
  body?: unknown;
  content?: string | Uint8Array;
}

/** The API with a given credential, or none: for signing in. */
export function makeApi(
  deps: Pick<Deps, "fetch" | "platform" | "signal">,
  settings: Settings,
  credential?: Credential,
  defaultTimeoutMs = 60_000,
): Api {
  const { server } = settings;
  const client = makeApiClient({ baseUrl: server.baseUrl, pathSerializer: fillPath, querySerializer: formatQuery });
  // Which path takes what is checked where the call stands: `Call` is narrower than the client's own methods.
  const request = client.request as unknown as (
    method: Method,
    path: string,
    init: object,
  ) => Promise<{ response: Response }>;
  let current = credential;

  async function attempt(method: string, url: string, outgoing: Outgoing): Promise<Response> {
    const timeoutMs = outgoing.timeoutMs ?? defaultTimeoutMs;
    const signals = [deps.signal, ...(timeoutMs > 0 ? [AbortSignal.timeout(timeoutMs)] : [])];
    try {
      return await deps.fetch(url, {
        method,
        headers: {
          "user-agent": userAgentOf(deps.platform),
          ...headersOf(method, outgoing.isJson, current),
          ...outgoing.headers,
        },
        ...bodyOf(method, outgoing),
        redirect: "manual",
        signal: AbortSignal.any(signals),
      });
    } catch (error) {
      throw unreachable(error, server, deps.signal, timeoutMs);
    }
  }

  /** A refused token is renewed once. */
  async function isRenewed(response: Response): Promise<boolean> {
    if (response.status !== 401) return false;
    const renewed = await current?.renew?.();
    if (renewed === undefined) return false;
    await response.body?.cancel();
    current = renewed;
    return true;
  }

  async function exchange(method: string, url: string, given: Outgoing): Promise<Response> {
    const outgoing = current === undefined ? given : withIdempotencyKey(method, given);
    let response = await attempt(method, url, outgoing);
    if (await isRenewed(response)) response = await attempt(method, url, outgoing);
    if (response.status >= 200 && response.status < 300) return response;
    throw await failureOf(response, settings, current);
  }

  async function open(method: Method, path: string, init: Init = {}): Promise<Response> {
    const { params, body, content, ...options } = init;
    const fetch = async (made: Request): Promise<Response> =>
      await exchange(made.method, made.url, {
        ...options,
        content: content ?? (await made.text()),
        isJson: content === undefined,
      });
    return (await request(method, path, { params, body, fetch, parseAs: "stream" })).response;
  }

  async function read(answer: Response): Promise<string> {
    try {
      return await answer.text();
    } catch (cause) {
      throw brokenOff(answer.status, deps.signal, cause);
    }
  }

  async function call(method: Method, path: string, init?: Init): Promise<never> {
    const response = await open(method, path, init);
    const text = await read(response);
    try {
      // The contract's promise: the server checks its answers against the schemas that their types are made from.
      return (text === "" ? undefined : JSON.parse(text)) as never;
    } catch (cause) {
      throw notKb(server, response.status, cause);
    }
  }

  return {
    settings,
    credential,
    get: async (path, init?: Init) => await call("get", path, init),
    post: async (path, init?: Init) => await call("post", path, init),
    patch: async (path, init?: Init) => await call("patch", path, init),
    delete: async (path, init?: Init) => await call("delete", path, init),
    open: {
      get: async (path, init?: Init) => await open("get", path, init),
      post: async (path, init?: Init) => await open("post", path, init),
    },
    read,
    async send(method, path, { query, body, ...options } = {}) {
      const content = body === undefined ? "" : JSON.stringify(body);
      return await exchange(method, addressOf(server, path, query), { ...options, content, isJson: true });
    },
  };
}

/** Whether a body says nothing: every key is left out. */
export function isEmpty(body: object): boolean {
  return Object.values(body).every((value) => value === undefined);
}

/** The address of a path on this server, never on another: `path` starts with one slash. */
export function addressOf(server: ServerUrl, path: string, query: Query = {}): string {
  const url = new URL(`${server.baseUrl}${path}`);
  if (url.origin !== server.origin || !path.startsWith("/") || path.startsWith("//")) {
    throw new CliFailure({
      code: "usage",
      exit: EXIT.usage,
      message: `"${path}" is not a path on this server.`,
      hint: "Give a path such as /api/connectors; the server comes from --url, KB_URL or the profile.",
    });
  }
  const pairs = pairsOf(query);
  // In place of what the path itself says.
  for (const [key] of pairs) url.searchParams.delete(key);
  for (const [key, value] of pairs) url.searchParams.append(key, value);
  return url.href;
}

/** A path with its values in the braces. Whatever an id holds, it stays inside its segment; dots would climb, even encoded. */
function fillPath(path: string, values: Query): string {
  return path.replaceAll(/\{(\w+)\}/g, (_match, name: string) => {
    const id = String(values[name]);
    if (/^\.{0,2}$/.test(id)) throw usageFailure(`"${id}" is not an id.`);
    return encodeURIComponent(id);
  });
}

function formatQuery(values: Query): string {
  return new URLSearchParams(pairsOf(values)).toString();
}

/** Lists are repeated, and what is undefined is left out. */
function pairsOf(query: Query): [string, string][] {
  return Object.entries(query).flatMap(([key, value]) =>
    [value].flat().flatMap((one): [string, string][] => (one === undefined ? [] : [[key, String(one)]])),
  );
}

/** One key for all attempts of one call, so that the server does it once. */
function withIdempotencyKey(method: string, outgoing: Outgoing): Outgoing {
  if (!outgoing.isJson || !["POST", "PUT", "PATCH", "DELETE"].includes(method)) return outgoing;
  return { ...outgoing, headers: { "idempotency-key": crypto.randomUUID(), ...outgoing.headers } };
}

/** What this program calls itself: sessions and the audit show it. */
function userAgentOf(platform: NodeJS.Platform): string {
  return `kb/${VERSION} (${SYSTEMS[platform] ?? platform})`;
}

const SYSTEMS: Partial<Record<NodeJS.Platform, string>> = { darwin: "Mac OS X", linux: "Linux", win32: "Windows" };

function headersOf(method: string, isJson: boolean, credential: Credential | undefined): Record<string, string> {
  return {
    accept: "application/json, application/problem+json",
    ...(isJson && !isRead(method) ? { "content-type": "application/json" } : {}),
    ...(credential === undefined
      ? {}
      : credential.kind === "token"
        ? { authorization: `Bearer ${credential.value}` }
        : { cookie: credential.value }),
  };
}

function bodyOf(method: string, { content, isJson }: Outgoing): RequestInit {
  if (isRead(method)) return {};
  // An unsafe request with a session is accepted with a JSON body only.
  return { body: isJson && content === "" ? "{}" : content };
}

function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}
