/**
 * Relays one frame from the host as one POST to /mcp, and its answer as frames. Each request gets exactly one answer,
 * or none when the host cancelled it; requests never wait for each other.
 */
import { asRecord, tryJson } from "#core/json-record.ts";
import { ApiError } from "#api/errors.ts";
import { readNetworkFailure } from "#api/network-failure.ts";
import { exactText, memberText, rpcText } from "#core/json-text.ts";
import { errorLine, failureLine, messageOf, refused, strange, unreachable } from "./failures.ts";
import { isId, toLine, type Frame, type RequestFrame } from "./frames.ts";
import type { Handshake } from "./handshake.ts";
import type { Post, PostAnswer } from "./post.ts";
import type { BridgeLogin, Session } from "./session.ts";
import { readEvents } from "./sse.ts";
import { makeToolList } from "./tool-list.ts";

export interface RelayOptions {
  post: Post;
  session: Session;
  handshake: Handshake;
  /** Writes one line to the host. */
  emit(line: string): void;
  log(level: "info" | "warn" | "debug", message: string): void;
  /** Resolves after `ms`, or at once when the signal aborts. */
  wait(ms: number, signal: AbortSignal): Promise<void>;
  /** Milliseconds on any monotonic clock. */
  now(): number;
  /** Milliseconds to wait for the server's tool list; after that, the host gets the list that is built into the program. */
  listMs: number;
}

/**
 * Pauses in milliseconds before retries of a request that couldn't reach the server. After the last retry, the host gets an error and may ask again.
 */
export const RETRY_PAUSES_MS = [150, 700];

/** Makes the relay for one host connection. */
export function makeRelay(options: RelayOptions) {
  const { handshake, emit, log } = options;
  const ask = (request: RequestFrame, signal: AbortSignal) => relayRequest(request, signal, options);
  const list = makeToolList({ ...options, ask });
  const inFlight = new Map<string, AbortController>();
  const open = new Set<Promise<void>>();
  let isClosed = false;

  async function answer(request: RequestFrame): Promise<string | undefined> {
    const local = handshake.answer(request.method, request.params);
    if (local !== undefined) return rpcText(request.idText, local);
    const key = request.idText;
    if (inFlight.has(key)) return errorLine(key, -32600, `Invalid request: id ${key} is still in use.`);
    const abort = new AbortController();
    inFlight.set(key, abort);
    const startedAt = options.now();
    try {
      const line = await (request.method === "tools/list" ? list.answer : ask)(request, abort.signal);
      if (request.method !== "tools/list") list.noteReached();
      log("debug", `${printable(request.method)} id=${key} ${Math.round(options.now() - startedAt)} ms`);
      return abort.signal.aborted ? undefined : line;
    } catch (error) {
      if (abort.signal.aborted) return undefined;
      list.noteFailure();
      log("warn", `${printable(request.method)}: ${messageOf(error)}`);
      return failureLine(request, error);
    } finally {
      inFlight.delete(key);
    }
  }

  function notice({ method, params, raw }: Extract<Frame, { type: "notification" }>): void {
    // The server keeps no state per client, so a cancellation only concerns the request's own connection.
    if (method !== "notifications/cancelled") return;
    const id = params["requestId"];
    if (!isId(id)) return;
    inFlight.get(exactText(id, memberText(raw, "params") ?? "{}", "requestId"))?.abort();
  }

  async function answerOf(frame: Frame): Promise<string | undefined> {
    switch (frame.type) {
      case "request":
        return await answer(frame);
      case "invalid":
        return errorLine(frame.idText, frame.code, frame.message);
      case "notification":
        notice(frame);
        return undefined;
      case "response":
        return undefined;
      case "batch": {
        const lines = (await Promise.all(frame.frames.map(answerOf))).filter((line) => line !== undefined);
        return lines.length === 0 ? undefined : `[${lines.join(",")}]`;
      }
    }
  }

  async function emitAnswer(frame: Frame): Promise<void> {
    const line = await answerOf(frame);
    if (line !== undefined && !isClosed) emit(line);
  }

  return {
    /** Accepts a frame from the host and answers a request. Never throws. */
    accept(frame: Frame): void {
      const answering = emitAnswer(frame).finally(() => open.delete(answering));
      open.add(answering);
    },
    /** Resolves when everything accepted so far is answered. */
    async settled(): Promise<void> {
      await Promise.all(open);
    },
    /** Aborts everything in flight; no answer is written after it. */
    close(): void {
      isClosed = true;
      list.close();
      for (const abort of inFlight.values()) abort.abort();
    },
  };
}

/** Every method here only reads, so a retry after a broken connection changes nothing. */
const REPEATABLE = new Set(["tools/list", "tools/call", "server/discover"]);

async function relayRequest(request: RequestFrame, signal: AbortSignal, options: RelayOptions): Promise<string> {
  let login = await options.session.login();
  let hasRenewed = false;
  for (let attempt = 0; ;) {
    try {
      const response = await post(request, login, signal, options);
      if (response.status === 401 && !hasRenewed) {
        hasRenewed = true;
        if (await options.session.renew(login)) {
          response.discard();
          login = await options.session.login();
          continue;
        }
      }
      return await readAnswer(request, response, login, options);
    } catch (error) {
      const pause = error instanceof ApiError ? undefined : pauseBefore(attempt, request, error);
      if (pause === undefined || signal.aborted) throw unreachable(error, login);
      attempt += 1;
      await options.wait(pause, signal);
      if (signal.aborted) throw error;
    }
  }
}

function pauseBefore(attempt: number, request: RequestFrame, error: unknown): number | undefined {
  const { kind } = readNetworkFailure(error);
  if (kind === "not_sent") return RETRY_PAUSES_MS[attempt];
  // The server closed a persistent connection, for example because it restarted. The retry opens a new one.
  if (kind === "dropped" && REPEATABLE.has(request.method)) return attempt === 0 ? 0 : RETRY_PAUSES_MS[attempt];
  return undefined;
}

async function post(
  request: RequestFrame,
  login: BridgeLogin,
  signal: AbortSignal,
  options: RelayOptions,
): Promise<PostAnswer> {
  const response = await options.post(login.mcpUrl, {
    headers: {
      ...options.handshake.headers(request.method, request.params),
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      authorization: `Bearer ${login.token}`,
    },
    body: request.raw,
    signal,
  });
  // Following the redirect would send the token to an address that no one chose.
  if (response.status >= 300 && response.status < 400) {
    response.discard();
    throw new ApiError("unavailable", {
      message: `redirect_refused: ${login.mcpUrl} redirects (HTTP ${response.status}), and the bridge does not follow redirects. Set the server's final address with --url or KB_URL.`,
    });
  }
  return response;
}

async function readAnswer(
  request: RequestFrame,
  response: PostAnswer,
  login: BridgeLogin,
  options: RelayOptions,
): Promise<string> {
  const type = response.header("content-type") ?? "";
  if (type.startsWith("text/event-stream")) {
    for await (const data of readEvents(response.body)) {
      const line = answerLine(request.idText, data);
      if (line !== undefined) return line;
      if (isNotification(data)) options.emit(toLine(data));
    }
    throw new ApiError("unavailable", {
      message: `unavailable: ${login.mcpUrl} ended the stream without an answer. Repeat the call.`,
    });
  }
  const text = await response.text();
  if (response.status === 401) throw refused(login);
  const line = answerLine(request.idText, text);
  if (line !== undefined) return line;
  throw strange(response, login);
}

/** Returns the answer as one line under the request's id (JSON text); undefined when the text isn't a JSON-RPC answer. */
function answerLine(idText: string, text: string): string | undefined {
  const value = asRecord(tryJson(text));
  // Otherwise the text is empty or a proxy's page; the caller reports it.
  if (value === undefined || !("result" in value || "error" in value)) return undefined;
  // Errors that were found before the id was read have a null id. The host needs the id of its request to match them.
  const { jsonrpc: _version, id, ...rest } = value;
  const isOwn = isId(id) && exactText(id, text, "id") === idText;
  return isOwn ? toLine(text) : rpcText(idText, rest);
}

function isNotification(text: string): boolean {
  const value = asRecord(tryJson(text));
  // Text that isn't JSON must not reach stdout.
  return value !== undefined && typeof value["method"] === "string" && !("id" in value);
}

/** Makes a method's name, which is text from the host, safe for one line of the log. */
function printable(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "?").slice(0, 60);
}
