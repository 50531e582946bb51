import { ApiError } from "#api/errors.ts";
import { defined } from "#core/defined.ts";
import { elementTexts, exactText, memberText, rpcText } from "#core/json-text.ts";
import { MAX_JSON_DEPTH } from "#core/json-bounds.ts";
import { type BodySource, readInPace } from "#server/http/body.ts";
import { parseJson } from "#server/http/request.ts";
import { RPC, type Message } from "./revisions.ts";

/** The messages of a body: requests and notifications. Responses that a client sends are dropped. */
export interface Incoming {
  isBatch: boolean;
  messages: Message[];
}

/** The maximum size of a batch. Each element counts against limits, and no batch may starve others. Source: S24. */
export const MAX_BATCH = 20;

/** The largest batch of calls has some 1,000 arguments and envelope fields. */
const MESSAGE_BOUNDS = { maxDepth: MAX_JSON_DEPTH, maxMembers: 10_000 };

/**
 * Reads the body of a POST as JSON-RPC.
 *
 * @param type  the body's Content-Type
 * @throws ApiError `payload_too_large`, `request_timeout`, `unsupported_media_type`, `invalid_request`
 *   (`details.rpcCode` is -32700 if it isn't JSON and -32600 if it isn't a request)
 */
export async function readMessages(
  type: string | null,
  source: BodySource | null,
  maxBytes: number,
): Promise<Incoming> {
  if (type !== null && !/^application\/(?:json|[\w.-]+\+json)\s*(?:;|$)/i.test(type.trim())) {
    throw new ApiError("unsupported_media_type", { message: "Send the body as Content-Type: application/json." });
  }
  const text = await readText(source, maxBytes);
  const body = parseJson(text, MESSAGE_BOUNDS, { rpcCode: RPC.parseError });
  if (!Array.isArray(body)) return { isBatch: false, messages: toMessage(body, text) };
  if (body.length === 0) throw notARequest("The batch is empty.");
  if (body.length > MAX_BATCH) throw notARequest(`A batch has at most ${MAX_BATCH} messages, not ${body.length}.`);
  const texts = elementTexts(text);
  return { isBatch: true, messages: body.flatMap((value: unknown, at) => toMessage(value, texts[at] ?? "null")) };
}

async function readText(source: BodySource | null, maxBytes: number): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  // A body without a stated length is measured while it is received.
  for await (const chunk of source === null ? [] : readInPace(source)) {
    bytes += chunk.byteLength;
    if (bytes > maxBytes)
      throw new ApiError("payload_too_large", { message: `The body is larger than ${maxBytes} bytes.` });
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}

function toMessage(value: unknown, text: string): Message[] {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw notARequest("A request must be an object.");
  const { jsonrpc, id, method, params } = Object.fromEntries(Object.entries(value));
  if (jsonrpc !== "2.0") throw notARequest(`A request must have "jsonrpc": "2.0".`);
  // A response to a request, which this server never sends.
  if (method === undefined && ("result" in value || "error" in value)) return [];
  if (typeof method !== "string") throw notARequest("A request must have a method.");
  const hasId = "id" in value;
  if (hasId && typeof id !== "string" && typeof id !== "number")
    throw notARequest("An id must be a string or a number.");
  if (params !== undefined && params !== null && (typeof params !== "object" || Array.isArray(params))) {
    throw notARequest("params must be an object.");
  }
  // The checks above narrow the type.
  const record = params === undefined || params === null ? undefined : (params as Record<string, unknown>);
  return [
    {
      method,
      ...defined({ params: record, progressToken: record && progressTokenOf(record, text) }),
      ...((typeof id === "string" || typeof id === "number") && { id: exactText(id, text, "id") }),
    },
  ];
}

function progressTokenOf(params: Record<string, unknown>, text: string): string | undefined {
  const meta = params["_meta"];
  if (typeof meta !== "object" || meta === null || !("progressToken" in meta)) return undefined;
  const { progressToken: token } = meta;
  if (typeof token === "string") return JSON.stringify(token);
  if (typeof token !== "number") return undefined;
  return exactText(token, memberText(memberText(text, "params") ?? "{}", "_meta") ?? "{}", "progressToken");
}

function notARequest(message: string): ApiError {
  return new ApiError("invalid_request", { message, details: { rpcCode: RPC.invalidRequest } });
}

/** A tool call's request context, and its progress callback. */
export interface CallContext {
  /** Aborts when the client has disconnected. */
  signal: AbortSignal;
  /** Reports the call's progress to the client, if the client requested it. */
  report(progress: number, total: number, message: string): void;
}

export interface RpcError {
  code: number;
  message: string;
  data?: Record<string, unknown>;
}

export interface RpcAnswer {
  /** The id as JSON text, with every digit that the client wrote; `null` if the message has none. */
  id: string;
  result?: Record<string, unknown>;
  error?: RpcError;
}

/** Makes a JSON response with `no-store`, because it contains one person's data. */
export function jsonResponse(
  body: RpcAnswer | readonly RpcAnswer[],
  status: number,
  headers: Record<string, string> = {},
): Response {
  const text = "id" in body ? toText(body) : `[${body.map(toText).join(",")}]`;
  return new Response(text, {
    status,
    headers: { "Content-Type": "application/json", "Cache-Control": "private, no-store", ...headers },
  });
}

function toText({ id, ...rest }: RpcAnswer): string {
  return rpcText(id, rest);
}

/** Makes the response to a body without requests: it was accepted. */
export function accepted(): Response {
  return new Response(null, { status: 202 });
}

/** Makes a whole HTTP response from a JSON-RPC error. */
export function errorResponse(
  status: number,
  id: string,
  error: RpcError,
  headers: Record<string, string> = {},
): Response {
  const { code, message, data } = error;
  return jsonResponse({ id, error: { code, message, ...defined({ data }) } }, status, headers);
}

/**
 * Makes a response of server-sent events: progress notifications for `token` (JSON text), then the result, then the
 * end. The work is aborted when the client disconnects, however the disconnect is detected.
 */
export function streamResponse(
  signal: AbortSignal,
  token: string,
  work: (context: CallContext) => Promise<RpcAnswer>,
): Response {
  const gone = new AbortController();
  const encoder = new TextEncoder();
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const send = (message: string) => {
        if (gone.signal.aborted || signal.aborted) return;
        controller.enqueue(encoder.encode(`event: message\ndata: ${message}\n\n`));
      };
      const report = (progress: number, total: number, message: string) =>
        send(progressText(token, { progress, total, message }));
      send(toText(await work({ signal: AbortSignal.any([signal, gone.signal]), report })));
      if (!gone.signal.aborted) controller.close();
    },
    cancel() {
      gone.abort();
    },
  });
  return new Response(body, {
    status: 200,
    headers: { "Content-Type": "text/event-stream", "Cache-Control": "private, no-store" },
  });
}

function progressText(token: string, progress: object): string {
  const params = `{"progressToken":${token},${JSON.stringify(progress).slice(1)}`;
  return `{"jsonrpc":"2.0","method":"notifications/progress","params":${params}}`;
}
