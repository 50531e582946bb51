/**
 * One POST over node:http. Not the global fetch: loading that costs more than the rest of the start (on one busy
 * machine: first tools/list 3.9 times bare Node with it, 2.9 without; calls 1.26 and 0.80 times direct fetch).
 * Redirects are never followed here.
 */
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";

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
  /** Reads no further. */
  discard(): void;
}

/** Sends a body to an http or https address. Rejects as the socket fails, or when the signal aborts. */
export type Post = (url: string, request: PostRequest) => Promise<PostAnswer>;

/** A `Post` with kept connections; nothing is loaded or opened before its first call. */
export function makePost(): Post {
  let plain: Requester | undefined;
  let secure: Requester | undefined;
  return async (url, request) => {
    const isSecure = url.startsWith("https:");
    const requester = isSecure ? (secure ??= loadSecure()) : (plain ??= loadPlain());
    const body = Buffer.from(request.body, "utf8");
    const headers = { ...request.headers, "content-length": String(body.length) };
    const { signal } = request;
    return await new Promise((resolve, reject) => {
      const sent = requester(url, { method: "POST", headers }, (message) => resolve(toAnswer(message)));
      // Not the option `signal`: it costs the first request 1.5 ms. A request that is over is not touched by destroy().
      const stop = () => void sent.destroy(new Error("The request was cancelled."));
      signal.addEventListener("abort", stop, { once: true });
      sent.on("error", reject).end(body);
      if (signal.aborted) stop();
    });
  };
}

type Requester = (url: string, options: RequestOptions, onAnswer: (message: IncomingMessage) => void) => ClientRequest;

// Not `import("node:http")`: an import reads every property of a module, and one of them loads all of undici on Node 22
// (measured there: first tools/list 3.2 times the processor time of bare Node with it, 2.0 without).
function loadPlain(): Requester {
  const { Agent, request } = process.getBuiltinModule("node:http");
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  return (url, options, onAnswer) => request(url, { ...options, agent }, onAnswer);
}

function loadSecure(): Requester {
  const { Agent, request } = process.getBuiltinModule("node:https");
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  return (url, options, onAnswer) => request(url, { ...options, agent }, onAnswer);
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

/** By events: iterating costs the first answer 2 ms. */
function readText(message: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = [];
    message
      .on("data", (part: Uint8Array) => void parts.push(part))
      .on("end", () => resolve(Buffer.concat(parts).toString("utf8")))
      .on("error", reject)
      // Without an end or an error before it: nobody waits for nothing.
      .on("close", () => reject(new Error("The connection was closed before the answer was complete.")));
  });
}
