/** Calls to the server: one place that knows addresses, credentials, redirects and what a failure means. */
import { ERROR_CLASSES, ERROR_CODES, type ErrorCode } from "#api/errors.ts";
import { readNetworkFailure } from "#api/network-failure.ts";
import type { ServerUrl } from "#api/server-url.ts";
import { VERSION } from "#api/version.ts";
import type { CommandInput } from "./command.ts";
import type { Deps } from "./deps.ts";
import { EXIT } from "./exit-codes.ts";
import { CliFailure, interrupted, usageFailure } from "./failure.ts";
import { getCredential, loadSettings, type Credential, type Settings } from "./settings.ts";
import { parseObject, textOf } from "./state-file.ts";

export type Query = Record<string, string | number | boolean | readonly string[] | undefined>;

export interface CallOptions {
  query?: Query;
  /** Sent as JSON. */
  body?: unknown;
  headers?: Record<string, string>;
  /** A body that is no JSON; its type goes into `headers`. */
  content?: string | Uint8Array | ReadableStream<Uint8Array>;
  /** Milliseconds for the whole call; 60,000 unless told, 0 for no end. */
  timeoutMs?: number;
}

export interface Api {
  settings: Settings;
  /** What the calls are made with. */
  credential: Credential | undefined;
  /** The JSON of an answer. The caller names its type from the contract (`#api`); it is not checked again here. */
  call<T>(method: string, path: string, options?: CallOptions): Promise<T>;
  /** The answer itself, when it is a success. */
  send(method: string, path: string, options?: CallOptions): Promise<Response>;
}

/** The API of the server that the settings name, with the person's credential. Throws with exit code 4 without one. */
export async function connect(input: CommandInput, deps: Deps): Promise<Api> {
  const settings = await loadSettings(deps, input.options);
  return makeApi(deps, settings, await getCredential(deps, settings, "api"));
}

/** The API with a given credential, or none: for signing in. */
export function makeApi(
  deps: Pick<Deps, "fetch" | "platform" | "signal">,
  settings: Settings,
  credential?: Credential,
): Api {
  let current = credential;

  async function attempt(method: string, path: string, options: CallOptions): Promise<Response> {
    const url = addressOf(settings.server, path, options.query);
    const timeoutMs = options.timeoutMs ?? 60_000;
    const signals = [deps.signal, ...(timeoutMs > 0 ? [AbortSignal.timeout(timeoutMs)] : [])];
    try {
      return await deps.fetch(url, {
        method,
        headers: {
          "user-agent": userAgentOf(deps.platform),
          ...headersOf(method, options, current),
          ...options.headers,
        },
        ...bodyOf(method, options),
        redirect: "manual",
        signal: AbortSignal.any(signals),
      });
    } catch (error) {
      throw unreachable(error, settings.server, deps.signal, timeoutMs);
    }
  }

  /** A refused token is renewed once; what was sent as a stream can't be sent again. */
  async function isRenewed(response: Response, options: CallOptions): Promise<boolean> {
    if (response.status !== 401 || options.content instanceof ReadableStream) return false;
    const renewed = await current?.renew?.();
    if (renewed === undefined) return false;
    await response.body?.cancel();
    current = renewed;
    return true;
  }

  async function send(method: string, path: string, given: CallOptions = {}): Promise<Response> {
    const options = current === undefined ? given : withIdempotencyKey(method, given);
    let response = await attempt(method, path, options);
    if (await isRenewed(response, options)) response = await attempt(method, path, options);
    if (response.status >= 200 && response.status < 300) return response;
    throw await failureOf(response, settings, current);
  }

  return {
    settings,
    credential,
    send,
    async call<T>(method: string, path: string, options?: CallOptions): Promise<T> {
      const response = await send(method, path, options);
      const text = await response.text();
      if (text === "") return undefinedAs<T>();
      try {
        // The contract's promise: the server checks its answers against the schema that T is inferred from.
        return JSON.parse(text) as T;
      } catch (cause) {
        throw notKb(settings.server, response.status, cause);
      }
    },
  };
}

/** Every record of a list, page by page, at most `max`. `key` is the plural that holds them. */
export async function listAll<T>(
  api: Api,
  path: string,
  key: string,
  query: Query = {},
  max = 10_000,
  onPage: (page: Readonly<Record<string, unknown>>) => void = () => undefined,
): Promise<T[]> {
  const all: T[] = [];
  let cursor: string | undefined;
  do {
    const page: Record<string, unknown> = await api.call("GET", path, { query: { limit: 200, ...query, cursor } });
    onPage(page);
    // The contract's list envelope: {<plural>: [...], nextCursor}.
    all.push(...((page[key] ?? []) as T[]));
    cursor = textOf(page["nextCursor"]);
  } while (cursor !== undefined && all.length < max);
  return all.slice(0, max);
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
  for (const [key, value] of Object.entries(query)) {
    if (typeof value === "object") for (const one of value) url.searchParams.append(key, one);
    else if (value !== undefined) url.searchParams.set(key, String(value));
  }
  return url.href;
}

/** One segment of a path: whatever an id holds, it stays inside its segment. Dots would climb, even when encoded. */
export function segment(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw usageFailure(`"${id}" is not an id.`);
  return encodeURIComponent(id);
}

/** One key for all attempts of one call, so that the server does it once. */
function withIdempotencyKey(method: string, options: CallOptions): CallOptions {
  const isJson = options.content === undefined;
  if (!isJson || !["POST", "PUT", "PATCH", "DELETE"].includes(method)) return options;
  return { ...options, headers: { "idempotency-key": crypto.randomUUID(), ...options.headers } };
}

function undefinedAs<T>(): T {
  // 204 and empty answers: callers of such routes expect nothing.
  return undefined as T;
}

/** What this program calls itself: sessions and the audit show it. */
function userAgentOf(platform: NodeJS.Platform): string {
  return `kb/${VERSION} (${SYSTEMS[platform] ?? platform})`;
}

const SYSTEMS: Partial<Record<NodeJS.Platform, string>> = { darwin: "Mac OS X", linux: "Linux", win32: "Windows" };

function headersOf(method: string, options: CallOptions, credential: Credential | undefined): Record<string, string> {
  const isJson = options.content === undefined && method !== "GET" && method !== "HEAD";
  return {
    accept: "application/json, application/problem+json",
    ...(isJson ? { "content-type": "application/json" } : {}),
    ...(credential === undefined
      ? {}
      : credential.kind === "token"
        ? { authorization: `Bearer ${credential.value}` }
        : { cookie: credential.value }),
  };
}

function bodyOf(method: string, options: CallOptions): RequestInit & { duplex?: "half" } {
  if (options.content instanceof ReadableStream) return { body: options.content, duplex: "half" };
  if (options.content !== undefined) return { body: options.content };
  if (options.body !== undefined) return { body: JSON.stringify(options.body) };
  // An unsafe request with a session is accepted with a JSON body only.
  return method === "GET" || method === "HEAD" ? {} : { body: "{}" };
}

function unreachable(error: unknown, server: ServerUrl, signal: AbortSignal, timeoutMs: number): CliFailure {
  if (signal.aborted) return interrupted();
  const isTimeout = error instanceof Error && error.name === "TimeoutError";
  const why = isTimeout ? `no answer within ${timeoutMs / 1000} s` : readNetworkFailure(error).why;
  return new CliFailure({
    code: "unreachable",
    exit: EXIT.unreachable,
    message: `No answer from ${server.baseUrl}: ${why}.`,
    hint: "Start it with kb serve or kb quickstart, or name another server with --url or KB_URL.",
    cause: error,
  });
}

async function failureOf(
  response: Response,
  settings: Settings,
  credential: Credential | undefined,
): Promise<CliFailure> {
  const { status } = response;
  const requestId = response.headers.get("x-request-id") ?? undefined;
  if (status >= 300 && status < 400) {
    await response.body?.cancel();
    return new CliFailure({
      code: "redirect_refused",
      exit: EXIT.unreachable,
      message: `${settings.server.baseUrl} answers with a redirect (HTTP ${status}), which is not followed: your credential would go along.`,
      hint: "Name the server's final address with --url or KB_URL.",
      requestId,
    });
  }
  const problem = parseObject(await response.text().catch(() => ""));
  const code = textOf(problem?.["code"]);
  if (problem === undefined || code === undefined) return notKb(settings.server, status);
  return new CliFailure({
    code,
    exit: exitOf(code, status),
    message: withoutCredential(messageOf(problem, status), credential),
    hint: hintFor(code, settings, credential) ?? textOf(problem["hint"]),
    requestId: textOf(problem["requestId"]) ?? requestId,
    status,
    retryAfterMs: retryAfterOf(response),
  });
}

/** A server that quotes what it was sent must not put it on a screen or into a log. */
function withoutCredential(text: string, credential: Credential | undefined): string {
  return credential === undefined ? text : text.replaceAll(credential.value, "…");
}

/** `Retry-After` in seconds; its other form, a date, is not one that this server sends. */
function retryAfterOf(response: Response): number | undefined {
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : undefined;
}

function messageOf(problem: Record<string, unknown>, status: number): string {
  const detail = textOf(problem["detail"]) ?? textOf(problem["title"]) ?? `HTTP ${status}`;
  const errors = Array.isArray(problem["errors"]) ? problem["errors"] : [];
  const lines = errors.flatMap((item: unknown) => {
    const record = parseObject(JSON.stringify(item));
    const message = textOf(record?.["message"]);
    return message === undefined || detail.includes(message) ? [] : [`  ${textOf(record?.["path"]) ?? ""}: ${message}`];
  });
  return [detail, ...lines].join("\n");
}

function exitOf(code: string, status: number): number {
  if (Object.hasOwn(ERROR_CODES, code)) return ERROR_CLASSES[ERROR_CODES[code as ErrorCode]].exit;
  // A code of a newer server: its status still says the class.
  return Object.values(ERROR_CLASSES).find((known) => known.status === status)?.exit ?? EXIT.failure;
}

/** The next command, where this program knows it better than the server, which does not know how one signed in here. */
function hintFor(code: string, settings: Settings, credential: Credential | undefined): string | undefined {
  const { baseUrl } = settings.server;
  const isEnv = credential?.login === "environment";
  if (code === "unauthenticated") {
    return isEnv ? `Put a valid token into ${credential.from}.` : `Sign in again: kb login ${baseUrl}`;
  }
  if (code === "sign_in_failed") return `Forgotten: ${baseUrl}/forgot-password, or ask an admin for a link.`;
  if (code !== "insufficient_scope" || credential?.login !== "browser") return undefined;
  return `If you are an admin: kb login ${baseUrl} --admin gives you those rights for an hour.`;
}

function notKb(server: ServerUrl, status: number, cause?: unknown): CliFailure {
  return new CliFailure({
    code: "unexpected_answer",
    exit: EXIT.unreachable,
    message: `${server.baseUrl} answers HTTP ${status} and not as a kb server does.`,
    hint: "Check the address: kb whoami --url …",
    cause,
  });
}
