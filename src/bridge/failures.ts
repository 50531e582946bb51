/** Messages for a host when the server gives no answer: each says what to do and names the server. */
import { ApiError, ERROR_CLASSES } from "#api/errors.ts";
import { readNetworkFailure } from "#api/network-failure.ts";
import { defined } from "#core/defined.ts";
import { rpcText } from "#core/json-text.ts";
import type { RequestFrame } from "./frames.ts";
import { modernVersion } from "./handshake.ts";
import type { PostAnswer } from "./post.ts";
import type { BridgeLogin } from "./session.ts";

/** The error for a login that the server rejects when no other login exists. */
export function refused(login: BridgeLogin): ApiError {
  const message =
    login.from === "the stored login"
      ? `not_signed_in: ${login.storedFor} no longer accepts the stored login, so ask the person to run: kb login ${login.storedFor}`
      : `not_signed_in: ${login.storedFor} refuses the token in ${login.from}, so ask the person to replace it (kb tokens create NAME makes one).`;
  return new ApiError("unauthenticated", { message });
}

/** The error for an answer that contains no MCP message. */
export function strange(response: PostAnswer, login: BridgeLogin): ApiError {
  const { status } = response;
  if (status === 429) {
    const seconds = Number(response.header("retry-after") ?? "") || 10;
    return new ApiError("rate_limited", {
      message: `rate_limited: ${login.storedFor} received too many calls, so wait ${seconds} seconds, then repeat the call.`,
    });
  }
  const message =
    status >= 500
      ? `unavailable: ${login.mcpUrl} answers HTTP ${status}, so repeat the call in a moment.`
      : `unavailable: ${login.mcpUrl} answers HTTP ${status} without an MCP message, so it may not be a kb server: ask the person to check the address with: kb whoami`;
  return new ApiError("unavailable", { message });
}

/** Describes why the server can't be reached; a failure that already says what to do stays as it is. */
export function unreachable(error: unknown, login: BridgeLogin): unknown {
  if (error instanceof ApiError) return error;
  const { why } = readNetworkFailure(error);
  return new ApiError("unavailable", {
    message: `unavailable: no answer from ${login.mcpUrl}: ${why}, so ask the person to start the server (kb serve) or to set its address (KB_URL), then repeat the call.`,
    cause: error,
  });
}

/** Returns the message of a failure: one that says what to do, else that of a bug in the bridge. */
export function messageOf(error: unknown): string {
  return error instanceof ApiError ? error.message : `internal: the bridge failed: ${String(error)}`;
}

/**
 * Makes the answer to a failed request. A call gets a tool result, which the model reads; a protocol error may only
 * reach the host's log.
 */
export function failureLine(request: RequestFrame, error: unknown): string {
  const message = messageOf(error);
  if (request.method === "tools/call") return toolErrorLine(request, message);
  const known = error instanceof ApiError ? error : undefined;
  const rpc = ERROR_CLASSES[known?.class ?? "internal"];
  return errorLine(request.idText, rpc.jsonRpc, message, { code: known?.code ?? "internal", retryable: rpc.retryable });
}

function toolErrorLine(request: RequestFrame, text: string): string {
  const isModern = modernVersion(request.params) !== undefined;
  const result = { content: [{ type: "text", text }], isError: true, ...(isModern ? { resultType: "complete" } : {}) };
  return rpcText(request.idText, { result });
}

/** Returns a JSON-RPC error as one line; `id` is JSON text. */
export function errorLine(id: string, code: number, message: string, data?: Record<string, unknown>): string {
  return rpcText(id, { error: { code, message, ...defined({ data }) } });
}
