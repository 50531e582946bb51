import type { IncomingMessage } from "node:http";
import { ApiError } from "#api/errors.ts";
import type { AddressGuard } from "./address-guard.ts";
import { makeGuardedClient } from "./guarded-client.ts";
import type { ConfiguredPlaces } from "./configured-places.ts";
import { afterRedirect, parseUrl, REDIRECTS } from "./redirects.ts";

export interface GuardedRequest {
  method?: string;
  /** Any header may contain a key. An origin other than the first gets only headers that don't identify the sender. */
  headers?: Readonly<Record<string, string>>;
  /** Sent to the first origin only. */
  body?: Uint8Array;
  /** The places that a person configured, as in `NetworkTarget`; a redirect adds none. */
  configured: ConfiguredPlaces;
  signal: AbortSignal;
  /** Maximum size of the response's body in bytes; a larger one ends the request. */
  maxBytes: number;
  /** From the first byte sent to the last received. */
  timeoutMs: number;
  /** Redirects followed; 0 returns the redirect itself. */
  maxRedirects?: number;
}

export interface GuardedAnswer {
  /** The address of the response, after redirects. */
  url: string;
  status: number;
  headers: Readonly<Record<string, string | string[] | undefined>>;
  body: Uint8Array;
}

export type GuardedFetch = (url: string, request: GuardedRequest) => Promise<GuardedAnswer>;

/**
 * Fetches, once, an address that comes from outside the program. The guard checks each hop again, and each hop uses its own connection to the checked
 * address: there is no second look-up, and no proxy of the environment is used. After a redirect to another origin, no body is sent, and no header
 * that could carry a credential, whatever its name. A redirect that requires the body at another origin is refused.
 *
 * @throws ApiError `address_not_allowed`, `payload_too_large`, `source_unavailable`
 */
export function makeGuardedFetch(guard: AddressGuard): GuardedFetch {
  const client = makeGuardedClient({ guard, keepsConnections: false });
  return async (start, options) => {
    const signal = AbortSignal.any([options.signal, AbortSignal.timeout(options.timeoutMs)]);
    let url = parseUrl(start);
    let request = options;
    for (let left = options.maxRedirects ?? 0; ; left--) {
      const pinned = await client.resolve(url, options);
      const { host, href } = url;
      const { method, headers: sentHeaders, body: sentBody } = request;
      const answer = await client
        .send(url, pinned, {
          signal,
          ...(method !== undefined && { method }),
          ...(sentHeaders && { headers: sentHeaders }),
          ...(sentBody && { body: sentBody }),
        })
        .then(async (message) => {
          const body = await readBody(message, host, options.maxBytes);
          return { url: href, status: message.statusCode ?? 0, headers: message.headers, body };
        })
        .catch((cause: unknown) => {
          if (cause instanceof ApiError) throw cause;
          throw new ApiError("source_unavailable", { message: `${host} can't be reached now.`, cause });
        });
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

async function readBody(message: IncomingMessage, host: string, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    // A message without an encoding yields Buffers.
    for await (const chunk of message as AsyncIterable<Uint8Array>) {
      length += chunk.length;
      if (length > maxBytes) {
        throw new ApiError("payload_too_large", {
          message: `The response from ${host} is larger than ${maxBytes} bytes.`,
        });
      }
      chunks.push(chunk);
    }
  } catch (error) {
    message.destroy();
    throw error;
  }
  return Buffer.concat(chunks);
}
