import { request as requestPlain, type IncomingMessage, type RequestOptions } from "node:http";
import { request as requestTls } from "node:https";
import { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { type AddressGuard, type PinnedAddress, resolveUrl } from "./address-guard.ts";

export interface GuardedRequest {
  method?: string;
  /** Any of them may carry a key: another origin than the first gets only those of `SAFE_HEADERS`. */
  headers?: Readonly<Record<string, string>>;
  /** Goes to the first origin only. */
  body?: Uint8Array;
  /** For a connector or server that an admin made. */
  isAdminMade: boolean;
  signal: AbortSignal;
  /** Bytes of the answer's body; more ends the request. */
  maxBytes: number;
  /** From the first byte sent to the last received. */
  timeoutMs: number;
  /** Redirects followed; 0 gives the redirect itself. */
  maxRedirects?: number;
}

export interface GuardedAnswer {
  /** Where the answer came from, after redirects. */
  url: string;
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Uint8Array;
}

export type GuardedFetch = (url: string, request: GuardedRequest) => Promise<GuardedAnswer>;

/**
 * Fetches what somebody else named. Each hop is judged anew by the guard and goes to the address that was judged: no
 * second look-up, no proxy of the environment. Behind a redirect to another origin no header goes along that could carry
 * a credential, whatever its name, and no body: a redirect that asks for the body there is refused.
 *
 * @throws ApiError `address_not_allowed`, `payload_too_large`, `source_unavailable`
 */
export function makeGuardedFetch(guard: AddressGuard): GuardedFetch {
  return async (start, options) => {
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)]);
    let url = parseUrl(start);
    let request = options;
    for (let left = options.maxRedirects ?? 0; ; left--) {
      const pinned = await resolveUrl(guard, url, options.isAdminMade);
      const answer = await send(url, pinned, { ...request, signal });
      const location = answer.headers["location"];
      const isRedirect = REDIRECTS.has(answer.status) && typeof location === "string";
      if (!isRedirect || options.maxRedirects === undefined || options.maxRedirects === 0) return answer;
      if (left <= 0) throw new ApiError("source_unavailable", { message: `${url.host} redirects too many times.` });
      const next = parseUrl(location, url);
      request = afterRedirect(request, answer.status, { from: url, to: next });
      url = next;
    }
  };
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
/** What a request says about itself and never about who sends it. Every source names its keys as it likes. */
const SAFE_HEADERS = new Set(["accept", "accept-encoding", "accept-language", "user-agent"]);

function parseUrl(text: string, base?: URL): URL {
  if (URL.canParse(text, base?.href)) return new URL(text, base);
  throw new ApiError("address_not_allowed", { message: `${JSON.stringify(text.slice(0, 200))} is not a URL.` });
}

function afterRedirect(request: GuardedRequest, status: number, { from, to }: { from: URL; to: URL }): GuardedRequest {
  const { body, method = "GET", headers = {}, ...rest } = request;
  const isSameOrigin = from.origin === to.origin;
  const keepsMethod = status === 307 || status === 308 || method === "GET" || method === "HEAD";
  if (keepsMethod && !isSameOrigin && body !== undefined) {
    throw new ApiError("source_unavailable", {
      message: `${from.host} redirects this request to ${to.host}, a different host. If you trust it, use the address of ${to.host}.`,
    });
  }
  const kept = Object.fromEntries(
    Object.entries(headers).filter(([name]) => isSameOrigin || SAFE_HEADERS.has(name.toLowerCase())),
  );
  if (keepsMethod) return { ...rest, method, headers: kept, ...defined({ body }) };
  return { ...rest, method: "GET", headers: withoutBodyHeaders(kept) };
}

/** The request has no body any more. Source: Fetch standard, HTTP-redirect fetch. */
function withoutBodyHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !/^content-/i.test(name)));
}

function send(url: URL, pinned: PinnedAddress, request: GuardedRequest): Promise<GuardedAnswer> {
  const options: RequestOptions = {
    method: request.method ?? "GET",
    headers: { ...request.headers },
    signal: request.signal,
    // A connection of its own: one that is kept could have been made for another judgement.
    agent: false,
    lookup: (_host, { all }, done) => {
      if (all) done(null, [{ address: pinned.address, family: pinned.family }]);
      else done(null, pinned.address, pinned.family);
    },
  };
  return new Promise((resolve, reject) => {
    const fail = (cause: unknown) => {
      if (cause instanceof ApiError) reject(cause);
      else reject(new ApiError("source_unavailable", { message: `${url.host} can't be reached now.`, cause }));
    };
    const sent = (url.protocol === "https:" ? requestTls : requestPlain)(url, options, (message) => {
      readBody(message, url, request.maxBytes).then(
        (body) => resolve({ url: url.href, status: message.statusCode ?? 0, headers: message.headers, body }),
        (error: unknown) => {
          message.destroy();
          fail(error);
        },
      );
    });
    sent.on("error", fail);
    sent.end(request.body);
  });
}

async function readBody(message: IncomingMessage, url: URL, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Without an encoding set, a message gives Buffers.
  for await (const chunk of message as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    if (length > maxBytes) {
      throw new ApiError("payload_too_large", {
        message: `The response from ${url.host} is larger than ${maxBytes} bytes.`,
      });
    }
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
