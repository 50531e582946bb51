/** HTTP requests for the commands: the part of `fetch` that they need, implemented with node:http. */
import type { IncomingMessage } from "node:http";
import { makeSendRequest, readText } from "#core/http-request.ts";

/** The part of `fetch` that commands use; `fetch` itself has this type too. */
export type Fetch = (url: string, request: FetchRequest) => Promise<Answer>;

export interface FetchRequest {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  /** Required, because following a redirect would send the login to another address. */
  redirect: "manual";
  signal: AbortSignal;
}

/** The part of `Response` that commands read. */
export interface Answer {
  readonly status: number;
  readonly headers: AnswerHeaders;
  /** The bytes as they arrive; null when there are none. */
  readonly body: (AsyncIterable<Uint8Array> & { cancel(): Promise<void> }) | null;
  /** Rejects when the answer breaks off. */
  text(): Promise<string>;
}

export interface AnswerHeaders extends Iterable<[name: string, value: string]> {
  get(name: string): string | null;
  getSetCookie(): string[];
}

/** Makes a `Fetch` over node:http; nothing is loaded before its first call. */
export function makeFetch(): Fetch {
  const send = makeSendRequest();
  return async (url, { method = "GET", headers = {}, body, signal }) => {
    const isRepeatable = method === "GET" || method === "HEAD" || "idempotency-key" in headers;
    return toAnswer(await send(url, { method, headers, body, signal, isRepeatable }));
  };
}

function toAnswer(message: IncomingMessage): Answer {
  const { headers, statusCode = 0 } = message;
  return {
    status: statusCode,
    headers: {
      get(name) {
        const value = headers[name.toLowerCase()];
        return value === undefined ? null : String(value);
      },
      getSetCookie: () => headers["set-cookie"] ?? [],
      *[Symbol.iterator]() {
        for (const [name, value] of Object.entries(headers)) yield [name, String(value)];
      },
    },
    body: {
      [Symbol.asyncIterator]: () => message[Symbol.asyncIterator](),
      async cancel() {
        message.destroy();
      },
    },
    // As in `Response`, a byte order mark isn't part of the text.
    text: async () => (await readText(message)).replace(/^\uFEFF/, ""),
  };
}
