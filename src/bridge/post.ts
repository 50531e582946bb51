/**
 * One POST to the server's /mcp. Over node:http, not the global fetch: loading that costs more than the rest of the
 * start (on one busy machine: first tools/list 3.9 times bare Node with it, 2.9 without; calls 1.26 and 0.80 times
 * direct fetch).
 */
import type { IncomingMessage } from "node:http";
import { makeSendRequest, readText } from "#core/http-request.ts";

export interface PostRequest {
  headers: Record<string, string>;
  body: string;
  signal: AbortSignal;
}

export interface PostAnswer {
  status: number;
  header(name: string): string | undefined;
  /** The bytes as they arrive; leaving the loop early closes the connection. */
  body: AsyncIterable<Uint8Array>;
  text(): Promise<string>;
  /** Stops reading. */
  discard(): void;
}

/** A function that sends a body to an http or https address. Rejects when the socket fails or the signal aborts. */
export type Post = (url: string, request: PostRequest) => Promise<PostAnswer>;

/** Makes a `Post` with persistent connections; nothing is loaded or opened before its first call. */
export function makePost(): Post {
  const send = makeSendRequest();
  return async (url, request) => toAnswer(await send(url, { method: "POST", ...request }));
}

function toAnswer(message: IncomingMessage): PostAnswer {
  return {
    status: message.statusCode ?? 0,
    header(name) {
      const value = message.headers[name];
      return Array.isArray(value) ? value[0] : value;
    },
    body: message,
    text: () => readText(message),
    discard() {
      message.resume();
    },
  };
}
