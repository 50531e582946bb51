import { canParseUrl } from "#api/parse-url.ts";
import type { IncomingMessage } from "node:http";
import { ApiError } from "#api/errors.ts";
import { HOPS_HEADER } from "#core/hops.ts";
import { configuredPlaces } from "#net/configured-places.ts";
import type { GuardedClient } from "#net/guarded-client.ts";
import { REDIRECTS } from "#net/redirects.ts";
import { bytesOf, type McpCaps } from "./caps.ts";
import { parseChallenge } from "./challenge.ts";
import type { McpTarget } from "./contract.ts";
import { type Exchange, exchanges } from "./exchange.ts";
import { codeOfStatus } from "./failures.ts";
import { guardedBody } from "./guarded-stream.ts";
import type { Pace } from "./pace.ts";
import type { McpProblem } from "./problem.ts";

export interface McpFetchOptions {
  target: McpTarget;
  client: GuardedClient;
  caps: McpCaps;
  userAgent: string;
  /** Ids of instances, this one's last. */
  hops: readonly string[];
  /** For the notification stream; absent = it isn't opened. */
  listening?: Exchange;
  /** The pace of the events of all streams. */
  pace: Pace;
}

/**
 * The cost of a response to a server's request on the notification stream, in events of the session's pace: it is an
 * HTTP request.
 */
const REPLY_COST = 10;
/** Redirects within the server's origin that keep the method. */
const MAX_REDIRECTS = 3;
/** Headers of the protocol and of the connection: the target's headers never set them. */
const OWN_HEADERS =
  /^(?:mcp-.*|kb-.*|accept|accept-encoding|connection|content-.*|host|last-event-id|te|trailer|transfer-encoding|upgrade|user-agent)$/i;

/**
 * The `fetch` of one session: sends only to the target's origin, over a checked address, with the target's headers and
 * no others that could carry a secret, and within the caps. Every request belongs to an exchange.
 */
export function makeMcpFetch(options: McpFetchOptions): (url: string | URL, init?: RequestInit) => Promise<Response> {
  const origin = new URL(options.target.url).origin;
  let hasListened = false;
  return async (input, init = {}) => {
    const asking = exchanges.getStore();
    if (asking === undefined) throw new Error("A request outside of every exchange.");
    const method = init.method ?? "GET";
    const sent = new Headers(init.headers);
    // Opening a session also requests the notification stream, once its response has arrived.
    const isResumed = sent.has("last-event-id") && !hasListened;
    const isListening = method === "GET" && asking.step === "initialize" && !isResumed;
    if (isListening && options.listening === undefined) return new Response(null, { status: 405 });
    // The session is then open: other requests there answer the server's requests on that stream, such as a ping every
    // minute.
    const isReply = hasListened && !isListening && asking.step === "initialize";
    hasListened ||= isListening;
    const exchange = (isListening || isReply) && options.listening ? options.listening : asking;
    exchange.countRequest();
    if (isReply) await options.pace.take(REPLY_COST, exchange.signal);
    const signal = init.signal ? AbortSignal.any([exchange.signal, init.signal]) : exchange.signal;
    let url = new URL(input);
    for (let left = MAX_REDIRECTS; ; left--) {
      const message = await send(url, { ...options, exchange, signal, method, sent, body: init.body, origin });
      if (!REDIRECTS.has(message.statusCode ?? 0))
        return toResponse(message, exchange, options, { isListening, isReply });
      message.destroy();
      const next = redirectOf(url, message);
      if (left === 0 || next === undefined || next.origin !== origin) {
        throw exchange.fail({ code: "redirected", status: message.statusCode ?? 0 });
      }
      url = next;
    }
  };
}

interface Sending extends McpFetchOptions {
  exchange: Exchange;
  signal: AbortSignal;
  method: string;
  sent: Headers;
  body: RequestInit["body"];
  origin: string;
}

async function send(url: URL, sending: Sending): Promise<IncomingMessage> {
  const { client, target, exchange, signal, method, sent, body, hops, userAgent, origin } = sending;
  if (url.origin !== origin) throw exchange.fail({ code: "redirected" });
  try {
    const pinned = await client.resolve(url, { configured: configuredPlaces([target.url]) });
    const signing = Object.entries(await target.headers()).filter(([name]) => !OWN_HEADERS.test(name));
    signal.throwIfAborted();
    return await client.send(url, pinned, {
      method,
      headers: {
        ...Object.fromEntries(sent),
        ...Object.fromEntries(signing.map(([name, value]) => [name.toLowerCase(), value])),
        "accept-encoding": "gzip, deflate, br",
        "user-agent": userAgent,
        [HOPS_HEADER]: hops.join(", "),
      },
      ...(typeof body === "string" && { body: Buffer.from(body, "utf8") }),
      signal,
    });
  } catch (error) {
    throw failureOf(error, exchange);
  }
}

/** The problem of a failed request; the signal's reason when that ended it. */
function failureOf(error: unknown, exchange: Exchange): unknown {
  if (exchange.problem) return exchange.problem;
  if (exchange.signal.aborted) return exchange.signal.reason;
  if (error instanceof ApiError) {
    const code = error.code === "address_not_allowed" ? "address_not_allowed" : "unreachable";
    return exchange.fail({ code, cause: error });
  }
  // Only `headers()` of the target throws errors other than Node's: they are its owner's.
  if (!(error instanceof Error) || !("code" in error)) return error;
  return exchange.fail({ code: "unreachable", cause: error });
}

/** The redirect's target, if it keeps the method and the body. */
function redirectOf(from: URL, { statusCode, headers }: IncomingMessage): URL | undefined {
  const location = headers.location;
  if ((statusCode !== 307 && statusCode !== 308) || location === undefined) return undefined;
  return canParseUrl(location, from.href) ? new URL(location, from) : undefined;
}

/** Statuses with one meaning for every request; the library handles the others. */
function problemOfStatus(message: IncomingMessage, exchange: Exchange): McpProblem | undefined {
  const status = message.statusCode ?? 0;
  const challenge = parseChallenge(message.headers["www-authenticate"]);
  if (status === 401) return exchange.fail({ code: "auth_required", status, challenge });
  if (status === 403) return exchange.fail({ code: "forbidden", status, challenge });
  if (status === 508) return exchange.fail({ code: "loop", status });
  if (status === 429) {
    const retryAfterMs = retryAfter(message.headers["retry-after"]);
    return exchange.fail({ code: "rate_limited", status, ...(retryAfterMs !== undefined && { retryAfterMs }) });
  }
  return undefined;
}

/** A server without such a stream answers 405, which isn't a problem. */
function problemOfListening(status: number, exchange: Exchange): McpProblem | undefined {
  if (status < 400 || status === 405) return undefined;
  return exchange.fail({ code: codeOfStatus(status, exchange), status });
}

function toResponse(
  message: IncomingMessage,
  exchange: Exchange,
  { caps, pace }: Pick<McpFetchOptions, "caps" | "pace">,
  { isListening, isReply }: { isListening: boolean; isReply: boolean },
): Response {
  const status = message.statusCode ?? 0;
  const problem =
    problemOfStatus(message, exchange) ?? (isListening ? problemOfListening(status, exchange) : undefined);
  if (problem) {
    message.destroy();
    throw problem;
  }
  exchange.status = status >= 400 ? status : undefined;
  if (status < 200 || status === 204 || status === 205 || status === 304) {
    message.resume();
    return new Response(null, { status: status === 204 ? 204 : 202 });
  }
  const isOk = status < 300;
  // Of a failed response, only as much as a JSON-RPC error needs is read.
  const maxBytes = isOk && !isListening ? bytesOf(exchange.step, caps) : caps.otherBytes;
  const isEndless = isOk && exchange.step === "listen" && !isReply;
  const body = guardedBody(message, { exchange, caps, maxBytes, isEndless, pace });
  const headers = new Headers();
  for (const name of ["content-type", "mcp-session-id"]) {
    const value = message.headers[name];
    if (typeof value === "string" && value.length <= 1_000) headers.set(name, value);
  }
  return new Response(body, { status, headers });
}

const MAX_RETRY_AFTER_MS = 3_600_000;

function retryAfter(value: string | undefined): number | undefined {
  if (value === undefined || !/^\d{1,9}$/.test(value.trim())) return undefined;
  return Math.min(Number(value) * 1000, MAX_RETRY_AFTER_MS);
}
