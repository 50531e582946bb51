import type { Parts } from "#storage/records/parts.ts";
import { isRecord } from "#core/json-record.ts";
import type { Readable } from "node:stream";
import { setImmediate as othersTurn } from "node:timers/promises";
import { cleanLine } from "#api/clean.ts";
import { ApiError, ERROR_CLASSES } from "#api/errors.ts";
import { emptyList } from "#api/protocol.ts";
import { INSTRUCTIONS, TOOL_LIMITS, TOOLS } from "#api/tools.ts";
import { challengeOf, retryAfterOf } from "#server/http/problem.ts";
import type { Actor, RequestOrigin } from "#storage/access/actor.ts";
import { defined } from "#core/defined.ts";
import { HOPS_HEADER, parseHops } from "#core/hops.ts";
import { readFor } from "#server/http/body.ts";
import { type Charge, chargeCall, chargeMalformed, isFarOver } from "./charge.ts";
import {
  revisionOfHeader,
  revisionOfMessage,
  isRefusal,
  META,
  MODERN_VERSIONS,
  negotiate,
  RPC,
  SEED_VERSION,
  type Revision,
  type Lifecycle,
  type Message,
} from "./revisions.ts";
import {
  accepted,
  readMessages,
  type Incoming,
  errorResponse,
  jsonResponse,
  streamResponse,
  type CallContext,
  type RpcAnswer,
  type RpcError,
} from "./messages.ts";

/** A tool's result: the text, and the same facts as an object if the tool has an output schema. */
export interface ToolResult {
  text: string;
  /** A block of its own after the text. */
  live?: string;
  structured?: object;
  isError?: boolean;
}

/** The implementation of `tools/call`. */
export interface ToolCalls {
  /**
   * Runs a tool.
   *
   * @returns undefined for a name that isn't a tool
   * @throws ApiError for errors that the caller can fix; everything else is an error of the server
   */
  call(actor: Actor, name: string, args: unknown, context: ToolContext): Promise<ToolResult | undefined>;
}

export interface ToolContext extends CallContext {
  /** Another instance of kb asks: it gets this one's own data, and no other server is asked for it. */
  isFromKb: boolean;
}

export interface McpOptions extends Pick<Parts, "clock" | "log"> {
  /** Checks Host and Origin, and the address's request rate. @throws ApiError of class `forbidden` or `rate_limited` */
  checkSite(request: Request, origin: RequestOrigin): Promise<void> | void;
  /**
   * Authenticates the person from the bearer token. @throws ApiError of class `unauthenticated`, `insufficient_scope` …
   */
  authenticate(request: Request, origin: RequestOrigin): Promise<Actor>;
  tools: ToolCalls;
  lifecycle: Lifecycle;
  /**
   * The address of the metadata of `/mcp` as a protected resource, as this request spells it, for clients without a
   * valid token.
   */
  resourceMetadataUrl(request: Request): string;
  /** Version of this program. */
  version: string;
  charge?: Charge;
}

/** Answers any request to `/mcp`. Never throws. The body is that of the request unless one is passed. */
export type McpHandler = (request: Request, origin: RequestOrigin, body?: Readable) => Promise<Response>;

/** Twenty calls with the longest query and every filter, each letter escaped, have 1.5 MB. */
export const MAX_BODY_BYTES = 2 * 1024 * 1024;
/** How long a client may cache the list of tools. */
const LIST_TTL_MS = 300_000;

/**
 * Makes the handler of the MCP endpoint. The order is fixed: method → host and origin → size → authentication → parse →
 * request object → version. Stateless: it makes no sessions, and `tools/list` may be the first request.
 * Source: docs/mcp.md#versions.
 */
export function makeMcpHandler(options: McpOptions): McpHandler {
  return async (request, origin, body) => {
    try {
      return await answer(options, request, origin, body);
    } catch (error) {
      return refusalOf(options, error, request, origin);
    }
  };
}

async function answer(
  options: McpOptions,
  request: Request,
  origin: RequestOrigin,
  body?: Readable,
): Promise<Response> {
  if (request.method !== "POST") {
    throw new ApiError("method_not_allowed", { message: `/mcp accepts POST, not ${request.method.slice(0, 20)}.` });
  }
  await options.checkSite(request, origin);
  checkLength(request);
  const authenticate = () => options.authenticate(request, origin);
  const letIn = await authenticate();
  const read = () =>
    readMessages(request.headers.get("content-type"), body ?? request.body, MAX_BODY_BYTES).catch((error: unknown) => {
      chargeMalformed(options.charge, letIn);
      throw error;
    });
  const { caller: actor, body: incoming } = await readFor(letIn, options.clock, { read, authenticate });
  const version = request.headers.get("mcp-protocol-version")?.trim() ?? null;
  const fromHeader = revisionOfHeader(version, options.lifecycle, incoming.messages);
  if (isRefusal(fromHeader)) return errorResponse(fromHeader.status, onlyId(incoming), fromHeader);
  const call: Call = { options, request, origin, actor, fromHeader };
  if (incoming.isBatch) return answerBatch(call, incoming.messages, version);
  const [message] = incoming.messages;
  return message === undefined ? accepted() : answerOne(call, message);
}

interface Call {
  options: McpOptions;
  request: Request;
  origin: RequestOrigin;
  actor: Actor;
  fromHeader: Revision;
}

async function answerOne(call: Call, message: Message): Promise<Response> {
  const { request, options } = call;
  const revision = revisionOfMessage(message, request.headers, call.fromHeader, options.lifecycle);
  if (isRefusal(revision)) return errorResponse(revision.status, message.id ?? NO_ID, revision);
  if (message.id === undefined) return accepted();
  const token = message.progressToken;
  if (message.method === "tools/call" && token !== undefined && acceptsStream(request)) {
    return streamResponse(request.signal, token, (context) => dispatch(call, revision, message, context));
  }
  const silent: CallContext = { signal: request.signal, report: () => undefined };
  const result = await dispatch(call, revision, message, silent);
  return jsonResponse(result, revision === "modern" ? modernStatus(result) : statusOf(result), waitOf(result));
}

/** Batches exist in 2025-03-26 only; nothing of the newer revisions may hide in one. */
async function answerBatch(call: Call, messages: readonly Message[], version: string | null): Promise<Response> {
  if (version !== null && version !== SEED_VERSION) {
    throw new ApiError("invalid_request", { message: `Protocol version ${version.slice(0, 40)} has no batches.` });
  }
  const silent: CallContext = { signal: call.request.signal, report: () => undefined };
  const answers: RpcAnswer[] = [];
  for (const message of messages) {
    if (message.params !== undefined && JSON.stringify(message.params["_meta"] ?? null).includes(META.version)) {
      throw new ApiError("invalid_request", { message: `Protocol version ${MODERN_VERSIONS[0]} has no batches.` });
    }
    // One after another, with other requests in between: a batch must not get more of the machine than others.
    if (answers.length > 0) await othersTurn();
    if (message.id !== undefined) answers.push(await dispatch(call, call.fromHeader, message, silent));
  }
  return answers.length === 0 ? accepted() : jsonResponse(answers, 200);
}

async function dispatch(call: Call, revision: Revision, message: Message, context: CallContext): Promise<RpcAnswer> {
  const id = message.id ?? NO_ID;
  const params = message.params ?? {};
  const done = (result: Record<string, unknown>): RpcAnswer => ({ id, result: dress(call, revision, result) });
  try {
    if (message.method.length > TOOL_LIMITS.nameChars) return failed(id, LONG_METHOD);
    switch (message.method) {
      case "tools/list":
        return done(listTools(revision, params));
      case "tools/call":
        return done(await callTool(call, params, context));
      case "initialize":
        if (revision === "legacy") return done(initialize(call, params));
        break;
      case "ping":
        if (revision === "legacy") return done({});
        break;
      case "server/discover":
        if (revision === "modern") return done(discover());
        break;
      default: {
        const none = revision === "legacy" ? emptyList(message.method) : undefined;
        if (none !== undefined) return done(none);
      }
    }
    return failed(id, { code: RPC.methodNotFound, message: notFound(message.method, revision) });
  } catch (error) {
    return failed(id, toRpcError(call.options, error, call.origin));
  }
}

/** The strict dialogue has neither method; clients that send its version before they agreed on one need the setting. */
function notFound(method: string, revision: Revision): string {
  const isLifecycle = revision === "seed" && (method === "initialize" || method === "ping");
  const way = `. Revision ${SEED_VERSION} has only tools/list and tools/call here; its operator can set KB_MCP_LIFECYCLE=open.`;
  return `Method not found: ${cleanLine(method, 80)}${isLifecycle ? way : ""}`;
}

const LONG_METHOD: RpcError = {
  code: RPC.methodNotFound,
  message: `Method not found: its name is longer than ${TOOL_LIMITS.nameChars} characters.`,
};

function listTools(revision: Revision, params: Record<string, unknown>): Record<string, unknown> {
  const { cursor } = params;
  if (typeof cursor === "string" && cursor !== "") {
    throw new ApiError("invalid_request", { message: "There is one page of tools: call tools/list without a cursor." });
  }
  return { tools: TOOLS, ...(revision === "modern" && { ttlMs: LIST_TTL_MS, cacheScope: "private" }) };
}

async function callTool(call: Call, params: Record<string, unknown>, context: CallContext) {
  const { name } = params;
  if (typeof name !== "string") {
    throw new ApiError("invalid_request", { message: "tools/call needs params.name, the name of a tool." });
  }
  try {
    chargeCall(call.options.charge, call.actor);
    const isFromKb = parseHops(call.request.headers.get(HOPS_HEADER)).length > 0;
    const asked = { ...context, isFromKb };
    const result = await call.options.tools.call(actorOf(call, params), name, params["arguments"], asked);
    if (result === undefined) return unknownTool(name);
    return {
      content: [result.text, result.live].flatMap((text) => (text === undefined ? [] : [{ type: "text", text }])),
      ...defined({ structuredContent: result.structured }),
      ...(result.isError === true && { isError: true }),
    };
  } catch (error) {
    // An error that the caller can fix reaches the model as a result: hosts show it only that way (SEP-1303).
    if (!(error instanceof ApiError) || error.class === "internal" || isProtocolError(error)) throw error;
    return { content: [{ type: "text", text: errorText(error) }], isError: true };
  }
}

/** The person, and the client by its own name in the envelope: better than its User-Agent. */
function actorOf({ actor, origin }: Call, params: Record<string, unknown>): Actor {
  const meta: unknown = params["_meta"];
  const info = isRecord(meta) ? meta[META.clientInfo] : undefined;
  const client = isRecord(info) && typeof info["name"] === "string" ? cleanLine(info["name"], MAX_CLIENT_CHARS) : "";
  return client === "" ? actor : { ...actor, origin: { ...origin, client } };
}

const MAX_CLIENT_CHARS = 80;

function isProtocolError(error: ApiError): boolean {
  // A model can't fix this: its client waits and repeats the call.
  if (error.code === "search_overloaded") return true;
  return isFarOver(error) || error.details?.["protocol"] === true;
}

function unknownTool(name: string): never {
  const shown = name.length > TOOL_LIMITS.nameChars ? `a name of ${name.length} characters` : cleanLine(name, 80);
  throw new ApiError("invalid_request", {
    message: `Unknown tool: ${shown}. Tools: ${TOOLS.map((tool) => tool.name).join(", ")}.`,
    details: { protocol: true },
  });
}

/** The one line of an error that a model gets: the stable code first. */
export function errorText(error: ApiError): string {
  const hint = error.hint === undefined ? "" : ` ${cleanLine(error.hint, 300)}`;
  return `${error.code}: ${cleanLine(error.message, 4000)}${hint}`;
}

function initialize(call: Call, params: Record<string, unknown>): Record<string, unknown> {
  return {
    protocolVersion: negotiate(params["protocolVersion"]),
    capabilities: { tools: {} },
    serverInfo: serverInfo(call),
    instructions: INSTRUCTIONS,
  };
}

function discover(): Record<string, unknown> {
  return {
    supportedVersions: [...MODERN_VERSIONS],
    capabilities: { tools: {} },
    instructions: INSTRUCTIONS,
    ttlMs: LIST_TTL_MS,
    cacheScope: "private",
  };
}

function serverInfo(call: Call) {
  return { name: "kb", title: "kb connector search", version: call.options.version };
}

/** Adds the fields that the modern revision requires in every result. */
function dress(call: Call, revision: Revision, result: Record<string, unknown>): Record<string, unknown> {
  if (revision !== "modern") return result;
  return { ...result, resultType: "complete", _meta: { [META.serverInfo]: serverInfo(call) } };
}

function failed(id: string, error: RpcError): RpcAnswer {
  return { id, error };
}

/** In-band for the older revisions: some clients take an HTTP error for the end of their session. */
function statusOf(result: RpcAnswer): number {
  return result.error?.data?.["code"] === "rate_limited" ? 429 : 200;
}

/** With 429: when to come back. */
function waitOf({ error }: RpcAnswer): Record<string, string> {
  const seconds = error?.data?.["retryAfterSeconds"];
  return typeof seconds === "number" ? { "Retry-After": String(seconds) } : {};
}

function modernStatus(result: RpcAnswer): number {
  return result.error?.code === RPC.methodNotFound ? 404 : statusOf(result);
}

function toRpcError(options: McpOptions, error: unknown, origin: RequestOrigin): RpcError {
  if (error instanceof ApiError && error.class !== "internal") {
    return {
      code: ERROR_CLASSES[error.class].jsonRpc,
      message: errorText(error),
      data: {
        code: error.code,
        requestId: origin.requestId,
        ...(ERROR_CLASSES[error.class].retryable && { retryable: true }),
        ...(error.retryAfterMs !== undefined && { retryAfterSeconds: Math.ceil(error.retryAfterMs / 1000) }),
      },
    };
  }
  options.log.error({ requestId: origin.requestId, path: "/mcp", err: error }, "request failed");
  return {
    code: RPC.internal,
    message: `internal: The server failed. See request ID ${origin.requestId} in its log.`,
    data: { code: "internal", requestId: origin.requestId },
  };
}

/** A refusal before any message was understood: the HTTP status says it too. */
function refusalOf(options: McpOptions, error: unknown, request: Request, origin: RequestOrigin): Response {
  const rpc = toRpcError(options, error, origin);
  const status = error instanceof ApiError ? error.status : 500;
  // A body that isn't JSON or isn't a request is the protocol's own error.
  const own = error instanceof ApiError ? error.details?.["rpcCode"] : undefined;
  const code =
    typeof own === "number" ? own : error instanceof ApiError && status === 400 ? RPC.invalidRequest : rpc.code;
  return errorResponse(
    status,
    NO_ID,
    { ...rpc, code },
    headersFor(error, status, () => options.resourceMetadataUrl(request)),
  );
}

function headersFor(error: unknown, status: number, resourceMetadataUrl: () => string): Record<string, string> {
  if (status === 405) return { Allow: "POST" };
  if (!(error instanceof ApiError)) return {};
  const challenge = challengeOf(error, { resource_metadata: resourceMetadataUrl(), scope: "mcp:read" });
  if (Object.keys(challenge).length > 0) return challenge;
  return retryAfterOf(error);
}

function checkLength(request: Request): void {
  const length = Number(request.headers.get("content-length") ?? 0);
  if (length > MAX_BODY_BYTES) {
    throw new ApiError("payload_too_large", { message: `The body is larger than ${MAX_BODY_BYTES} bytes.` });
  }
}

function onlyId(incoming: Incoming): string {
  return incoming.isBatch ? NO_ID : (incoming.messages[0]?.id ?? NO_ID);
}

/** The JSON text of the id in an answer to a message without one. */
const NO_ID = "null";

function acceptsStream(request: Request): boolean {
  return /text\/event-stream|text\/\*|\*\/\*/.test(request.headers.get("accept") ?? "");
}
