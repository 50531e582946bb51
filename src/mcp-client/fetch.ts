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
  /** Ids of the instances on the path; this instance's id is the last. */
  hops: readonly string[];
  /** The exchange for the notification stream; if absent, the stream isn't opened. */
  listening?: Exchange;
  /** The rate limit for the events of all streams. */
  pace: Pace;
}

/**
 * The cost, in events of the session's pace, of a response to a server's request on the notification stream, because the response is an HTTP request.
 */
const REPLY_COST = 10;
/** Maximum number of redirects; only redirects within the server's origin that keep the method are followed. */
const MAX_REDIRECTS = 3;
/** Headers of the protocol and of the connection, which the target's headers never set. */
const OWN_HEADERS =
  /^(?:mcp-.*|kb-.*|accept|accept-encoding|connection|content-.*|host|last-event-id|te|trailer|transfer-encoding|upgrade|user-agent)$/i;

/**
 * Makes the `fetch` of one session. It sends only to the target's origin, over a checked address, within the caps, and with the target's headers; it
 * sends no other header that could carry a secret. Every request belongs to an exchange.
 */
export function makeMcpFetch(options: McpFetchOptions): (url: string | URL, init?: RequestInit) => Promise<Response> {
  const origin = new URL(options.target.url).origin;
  let hasListened = false;
  return async (input, init = {}) => {
    const asking = exchanges.getStore();
    if (asking === undefined) throw new Error("A request outside of every exchange.");
    const method = init.method ?? "GET";
    const sent = new Headers(init.headers);
    // Opening a session also requests the notification stream, once the response that opened it has arrived.
    const isResumed = sent.has("last-event-id") && !hasListened;
    const isListening = method === "GET" && asking.step === "initialize" && !isResumed;
    if (isListening && options.listening === undefined) return new Response(null, { status: 405 });
    // Once the session is open, other requests in its exchange answer the server's requests on the notification stream, such as a ping every minute.
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

/** Returns the problem of a failed request; the signal's reason if the signal ended it. */
function failureOf(error: unknown, exchange: Exchange): unknown {
  if (exchange.problem) return exchange.problem;
  if (exchange.signal.aborted) return exchange.signal.reason;
  if (error instanceof ApiError) {
    const code = error.code === "address_not_allowed" ? "address_not_allowed" : "unreachable";
    return exchange.fail({ code, cause: error });
  }
  // Errors that aren't Node's come only from the target's `headers()`, so they are passed on unchanged.
  if (!(error instanceof Error) || !("code" in error)) return error;
  return exchange.fail({ code: "unreachable", cause: error });
}

/** Returns the redirect's target if the redirect keeps the method and the body. */
function redirectOf(from: URL, { statusCode, headers }: IncomingMessage): URL | undefined {
  const location = headers.location;
  if ((statusCode !== 307 && statusCode !== 308) || location === undefined) return undefined;
  return canParseUrl(location, from.href) ? new URL(location, from) : undefined;
}

/** Handles statuses that have one meaning for every request; the library handles the others. */
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

/** A server without a notification stream answers 405, which isn't a problem. */
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
  // Only as much of a failed response is read as a JSON-RPC error needs.
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
