/** Calls to the server according to its contract. Only this file knows addresses, credentials and redirects. */
import type { Call, Open } from "#api/client.ts";
import type { Method } from "#api/paths.ts";
import type { ServerUrl } from "#api/server-url.ts";
import { targetOf, toQuery, type Params } from "#api/target.ts";
import { VERSION } from "#api/version.ts";
import { brokenOff, failureOf, notKb, unreachable } from "./api-failures.ts";
import type { Input } from "#cli/line/command.ts";
import type { Deps } from "#cli/host/deps.ts";
import { usageFailure } from "#cli/host/failure.ts";
import type { Answer, FetchRequest } from "#cli/host/http.ts";
import { listPages, type List } from "./list-pages.ts";
import { getCredential, loadSettings, type Credential, type Settings } from "#cli/login/settings.ts";

/** Options of a call besides those in the contract. */
export interface CallOptions {
  headers?: Record<string, string>;
  /** Timeout of the whole call in milliseconds, 0 for no limit; default: the one passed to `makeApi`. */
  timeoutMs?: number;
}

/** The calls of the contract: paths, parameters, bodies and answers have the types of `#api`. */
export interface Api {
  settings: Settings;
  /** The credential of the calls. */
  credential: Credential | undefined;
  get: Call<"get", CallOptions>;
  post: Call<"post", CallOptions>;
  put: Call<"put", CallOptions>;
  patch: Call<"patch", CallOptions>;
  delete: Call<"delete", CallOptions>;
  /** Returns every record of a list, page by page. */
  list: List;
  /** The same calls, which return the successful answer itself: for streams, texts and cookies. */
  open: { get: Open<"get", CallOptions, Answer>; post: Open<"post", CallOptions, Answer> };
  /** Calls a route that the data of a command names. */
  call(method: Method, path: string, init?: Init): Promise<never>;
  /** Calls any path of the server, for `kb api`. */
  send(method: string, path: string, options?: AnyCall): Promise<Answer>;
}

/** A call that isn't checked by the contract. */
export interface AnyCall extends CallOptions {
  query?: Values;
  /** Sent as JSON. */
  body?: unknown;
}

type Values = Readonly<Record<string, unknown>>;

/** Returns the API of the server in the settings, with the person's credential. Throws with exit code 4 if there is none. */
export async function connect(input: Pick<Input, "options">, deps: Deps): Promise<Api> {
  const settings = await loadSettings(deps, input.options);
  const credential = await getCredential(deps, settings, "api");
  if (credential.warning !== undefined) deps.io.stderr.write(`Warning: ${credential.warning}\n`);
  return makeApi(deps, settings, credential);
}

/** Makes the API of a session, which its cookie identifies. */
export function sessionApi(deps: Pick<Deps, "fetch" | "platform" | "signal">, settings: Settings, value: string): Api {
  return makeApi(deps, settings, { kind: "session", value, from: "the sign-in", login: "password" });
}

/** One request in the form that is sent, for any kind of call. */
interface Outgoing extends CallOptions {
  /** The body in its final form. */
  content: string | Uint8Array;
  isJson: boolean;
}

/** The common form of the typed calls. */
interface Init extends CallOptions {
  params?: Params;
  body?: unknown;
  content?: string | Uint8Array;
}

/** Makes the API with a given credential, or without one for signing in. */
export function makeApi(
  deps: Pick<Deps, "fetch" | "platform" | "signal">,
  settings: Settings,
  credential?: Credential,
  defaultTimeoutMs = 60_000,
): Api {
  const { server } = settings;
  let current = credential;

  async function attempt(method: string, url: string, outgoing: Outgoing): Promise<Answer> {
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

  /** A rejected token is renewed only once. */
  async function isRenewed(answer: Answer): Promise<boolean> {
    if (answer.status !== 401) return false;
    const renewed = await current?.renew?.();
    if (renewed === undefined) return false;
    await answer.body?.cancel();
    current = renewed;
    return true;
  }

  async function exchange(method: string, url: string, request: Outgoing): Promise<Answer> {
    const outgoing = current === undefined ? request : withIdempotencyKey(method, request);
    let answer = await attempt(method, url, outgoing);
    if (await isRenewed(answer)) answer = await attempt(method, url, outgoing);
    if (answer.status >= 200 && answer.status < 300) return readable(answer);
    throw await failureOf(answer, settings, current);
  }

  /** Wraps the answer so that reading its text fails with a `CliFailure` when the answer breaks off. */
  function readable(answer: Answer): Answer {
    const { status, headers, body } = answer;
    const text = async (): Promise<string> => {
      try {
        return await answer.text();
      } catch (cause) {
        throw brokenOff(status, deps.signal, cause);
      }
    };
    return { status, headers, body, text };
  }

  async function open(method: Method, path: string, init: Init = {}): Promise<Answer & { json(): Promise<never> }> {
    const { params, body, content = body === undefined ? "" : JSON.stringify(body), ...options } = init;
    const url = `${server.baseUrl}${targetOf(path, params)}`;
    const answer = await exchange(method.toUpperCase(), url, {
      ...options,
      content,
      isJson: init.content === undefined,
    });
    const json = async (): Promise<never> => {
      const text = await answer.text();
      try {
        // The contract guarantees this type: the server checks its answers against the schemas that the type is derived from.
        return (text === "" ? undefined : JSON.parse(text)) as never;
      } catch (cause) {
        throw notKb(server, answer.status, cause);
      }
    };
    return { ...answer, json };
  }

  async function call(method: Method, path: string, init?: Init): Promise<never> {
    return await (await open(method, path, init)).json();
  }

  const by = (method: Method) => (path: string, init?: Init) => call(method, path, init);
  return {
    settings,
    credential,
    call,
    get: by("get"),
    post: by("post"),
    put: by("put"),
    patch: by("patch"),
    delete: by("delete"),
    list: async (path: string, key: string, options = {}) =>
      await listPages((params) => call("get", path, { params }), key, options),
    open: {
      get: async (path, init?: Init) => await open("get", path, init),
      post: async (path, init?: Init) => await open("post", path, init),
    },
    async send(method, path, { query, body, ...options } = {}) {
      const content = body === undefined ? "" : JSON.stringify(body);
      return await exchange(method, addressOf(server, path, query), { ...options, content, isJson: true });
    },
  };
}

/** Returns the URL of a path on this server, never on another server; `path` starts with one slash. */
export function addressOf(server: ServerUrl, path: string, query: Values = {}): string {
  const url = new URL(`${server.baseUrl}${path}`);
  if (url.origin !== server.origin || !path.startsWith("/") || path.startsWith("//")) {
    throw usageFailure(
      `"${path}" is not a path on this server.`,
      "Give a path such as /api/connectors; the server comes from --url, KB_URL or the profile.",
    );
  }
  const pairs = toQuery(query);
  // These values replace those in the path itself.
  for (const key of new Set(pairs.keys())) url.searchParams.delete(key);
  for (const [key, value] of pairs) url.searchParams.append(key, value);
  return url.href;
}

/** Adds an idempotency key that is the same for all attempts of a call, so that the server performs the call once. */
function withIdempotencyKey(method: string, outgoing: Outgoing): Outgoing {
  if (!outgoing.isJson || !["POST", "PUT", "PATCH", "DELETE"].includes(method)) return outgoing;
  return { ...outgoing, headers: { "idempotency-key": crypto.randomUUID(), ...outgoing.headers } };
}

/** Returns this program's user agent, which the lists of sessions and the audit show. */
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

function bodyOf(method: string, { content, isJson }: Outgoing): Pick<FetchRequest, "body"> {
  if (isRead(method)) return {};
  // With a session, the server accepts an unsafe request only if it has a JSON body.
  return { body: isJson && content === "" ? "{}" : content };
}

function isRead(method: string): boolean {
  return method === "GET" || method === "HEAD";
}
