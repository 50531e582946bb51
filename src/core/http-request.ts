/**
 * Sends one HTTP request over node:http, for the programs that start often. The global fetch isn't used, because its
 * first call compiles undici and a WebAssembly parser (240 ms of processor time on one busy machine; node:http takes
 * 29). Redirects are never followed.
 */
import type { ClientRequest, IncomingMessage, RequestOptions } from "node:http";

export interface HttpRequest {
  method: string;
  headers: Record<string, string>;
  /** Undefined = a request without a body. */
  body?: string | Uint8Array | undefined;
  signal: AbortSignal;
  /**
   * Whether the request may be sent again on a new connection when a kept connection turns out to be closed. True only
   * for requests that change nothing the second time.
   */
  isRepeatable?: boolean;
}

/**
 * Sends a request to an http or https address. Rejects with the socket's error or, when the signal is aborted, with its
 * reason.
 */
export type SendRequest = (url: string, request: HttpRequest) => Promise<IncomingMessage>;

/** Makes a `SendRequest` with kept connections. Nothing is loaded or opened before its first call. */
export function makeSendRequest(): SendRequest {
  let plain: Requester | undefined;
  let secure: Requester | undefined;
  return async (url, { method, headers, body, signal, isRepeatable = false }) => {
    const isSecure = url.startsWith("https:");
    const requester = isSecure ? (secure ??= load("node:https")) : (plain ??= load("node:http"));
    const bytes = typeof body === "string" ? Buffer.from(body, "utf8") : body;
    const sized = bytes === undefined ? headers : { ...headers, "content-length": String(bytes.length) };
    const attempt = (): Promise<Attempt> =>
      new Promise((resolve, reject) => {
        const sent = requester(url, { method, headers: sized }, resolve);
        // The option `signal` isn't used, because it costs the first request 1.5 ms. `destroy()` has no effect on a
        // finished request.
        const stop = () => void sent.destroy(reasonOf(signal));
        signal.addEventListener("abort", stop, { once: true });
        sent.on("error", (error) => {
          signal.removeEventListener("abort", stop);
          // The server closed the kept connection while it was idle. Each attempt uses up one kept connection, so the
          // retries end.
          if (isRepeatable && sent.reusedSocket && isReset(error) && !signal.aborted) resolve("closed");
          else reject(error);
        });
        sent.end(bytes);
        if (signal.aborted) stop();
      });
    for (;;) {
      const answer = await attempt();
      if (answer !== "closed") return answer;
    }
  };
}

/**
 * Reads the text of a response by events, because iterating costs the first response 2 ms. Rejects when the response is
 * cut off.
 */
export function readText(message: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Uint8Array[] = [];
    message
      .on("data", (part: Uint8Array) => void parts.push(part))
      .on("end", () => resolve(Buffer.concat(parts).toString("utf8")))
      .on("error", reject)
      // If the connection closes without an end or an error, the caller would otherwise wait forever.
      .on("close", () => reject(new Error("The connection was closed before the answer was complete.")));
  });
}

/** A response, or the note that a kept connection was closed before the request was sent. */
type Attempt = IncomingMessage | "closed";

type Requester = (url: string, options: RequestOptions, onAnswer: (message: IncomingMessage) => void) => ClientRequest;

// `process.getBuiltinModule` instead of `import("node:http")`: an import reads every property of a module, and one of
// them loads all of undici on Node 22 (measured there: the first tools/list took 3.2 times the processor time of bare
// Node with it, 2.0 without).
function load(module: "node:http" | "node:https"): Requester {
  const { Agent, request } = process.getBuiltinModule(module);
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  return (url, options, onAnswer) => request(url, { ...options, agent }, onAnswer);
}

function isReset(error: Error): boolean {
  return "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

function reasonOf({ reason }: AbortSignal): Error {
  return reason instanceof Error ? reason : new Error("The request was canceled.");
}
