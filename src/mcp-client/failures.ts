import { isRecord } from "#core/json-record.ts";
import { canParseUrl } from "#api/parse-url.ts";
import type { Exchange } from "./exchange.ts";
import { McpProblem, type McpProblemCode } from "./problem.ts";

/** JSON-RPC codes of MCP. Source: https://modelcontextprotocol.io/specification/2025-11-25/ */
const CODES: Readonly<Record<number, McpProblemCode>> = {
  [-32601]: "not_found",
  [-32602]: "refused",
  [-32002]: "not_found",
  [-32042]: "elicitation_required",
  [-32022]: "protocol_unsupported",
  [-32020]: "bad_answer",
};

const SDK_CODES: Readonly<Record<string, McpProblemCode>> = {
  REQUEST_TIMEOUT: "timeout",
  CONNECTION_CLOSED: "unreachable",
  NOT_CONNECTED: "unreachable",
  INVALID_RESULT: "bad_answer",
  UNSUPPORTED_RESULT_TYPE: "elicitation_required",
  ERA_NEGOTIATION_FAILED: "protocol_unsupported",
  METHOD_NOT_SUPPORTED_BY_PROTOCOL_VERSION: "not_found",
  CAPABILITY_NOT_SUPPORTED: "not_found",
};

/**
 * Returns why a request failed. The library's errors contain texts from the server, so only codes are copied.
 *
 * @returns a `McpProblem`; the reason of the session's signal if that ended the request; errors of the target's `headers()`
 */
export function problemOf(error: unknown, exchange: Exchange): unknown {
  if (exchange.problem) return exchange.problem;
  if (exchange.signal.aborted) return exchange.signal.reason;
  const known = findCause(error, (one) => one instanceof McpProblem);
  if (known) return known;
  if (!(error instanceof Error)) return error;
  const { code, status, data } = readFailure(error);
  if (status !== undefined && exchange.step !== "initialize" && status !== 400) {
    return exchange.fail({ code: codeOfStatus(status, exchange), status });
  }
  if (typeof code === "number") {
    const url = code === -32042 ? elicitationUrl(data) : undefined;
    return exchange.fail({ code: CODES[code] ?? "server_error", ...(url !== undefined && { elicitationUrl: url }) });
  }
  if (status !== undefined) return exchange.fail({ code: codeOfStatus(status, exchange), status });
  if (typeof code === "string") {
    return exchange.fail({ code: SDK_CODES[code] ?? (exchange.step === "initialize" ? "not_mcp" : "bad_answer") });
  }
  // The library's errors without a code: parsing failed, or the library doesn't know the version.
  if (/protocol version is not supported/i.test(error.message)) return exchange.fail({ code: "protocol_unsupported" });
  if (isParsing(error)) return exchange.fail({ code: exchange.step === "initialize" ? "not_mcp" : "bad_answer" });
  return error;
}

/** Returns an https address that a person can be sent to; undefined for anything else. */
export function elicitationUrl(data: unknown): string | undefined {
  const first: unknown = isRecord(data) && Array.isArray(data["elicitations"]) ? data["elicitations"][0] : data;
  const url = isRecord(first) ? first["url"] : undefined;
  if (typeof url !== "string" || url.length > 2_000 || !/^https:\/\/[\x21-\x7e]+$/.test(url)) return undefined;
  if (!canParseUrl(url)) return undefined;
  const { username, password, href } = new URL(url);
  return username === "" && password === "" ? href : undefined;
}

/** Returns the problem for the HTTP status of a request that expects a response. */
export function codeOfStatus(status: number, { step }: Exchange): McpProblemCode {
  if (status >= 500) return "server_error";
  if (step === "initialize") return "not_mcp";
  return status === 404 ? "not_found" : "refused";
}

function readFailure(error: Error): { code: unknown; status: number | undefined; data: unknown } {
  const code: unknown = "code" in error ? error.code : undefined;
  const data: unknown = "data" in error ? error.data : undefined;
  const status: unknown = isRecord(data) ? data["status"] : undefined;
  return { code, data, status: typeof status === "number" ? status : undefined };
}

function isParsing(error: Error): boolean {
  return error instanceof SyntaxError || error.name === "ZodError" || error.name === "$ZodError";
}

function findCause(error: unknown, isWanted: (one: unknown) => boolean): unknown {
  let one = error;
  for (let depth = 0; depth < 5 && one instanceof Error; depth++) {
    if (isWanted(one)) return one;
    one = one.cause;
  }
  return undefined;
}
