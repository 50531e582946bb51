import { randomBytes } from "node:crypto";
import type { Duplex } from "node:stream";
import { STATUS_CODES } from "node:http";
import { ApiError } from "#api/errors.ts";
import { makeRequestId, withSecurityHeaders } from "./guard.ts";
import { toProblem } from "./problem.ts";
import type { Log } from "#core/log.ts";

/**
 * Answers data that Node's parser rejected before there was a request: a request line or headers that are too long,
 * data that isn't HTTP, headers that never end. The response is an ordinary problem, and its id is in the log.
 */
export function answerBroken(error: NodeJS.ErrnoException, socket: Duplex, log: Log): void {
  // The connection is closed, or a response is being sent, so nothing may be written to the socket.
  if (error.code === "ECONNRESET" || !socket.writable || hasAnswerUnderWay(socket)) return void socket.destroy(error);
  const requestId = makeRequestId(randomBytes);
  const failure = toFailure(error.code);
  const problem = toProblem(failure, requestId);
  const body = JSON.stringify(problem.body);
  const answer = withSecurityHeaders(new Response(null, { headers: problem.headers }), {
    isHttps: false,
    isApi: true,
    requestId,
  });
  const headers = [...answer.headers, ["Content-Length", String(Buffer.byteLength(body))], ["Connection", "close"]];
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  log.info({ requestId, status: problem.status, code: failure.code, reason: error.code }, "request refused");
  socket.end([`HTTP/1.1 ${problem.status} ${STATUS_CODES[problem.status] ?? ""}`, ...lines, "", body].join("\r\n"));
}

function toFailure(code: string | undefined): ApiError {
  if (code === "HPE_HEADER_OVERFLOW") {
    const message = "The URL and headers of a request can be at most 16 KiB together. Send shorter ones.";
    return new ApiError("headers_too_large", { message });
  }
  if (code === "ERR_HTTP_REQUEST_TIMEOUT") {
    return new ApiError("request_timeout", { message: "The request was not complete in time. Send it again." });
  }
  return new ApiError("invalid_request", { message: "This is not a well-formed HTTP request." });
}

/** While a response is being sent, Node keeps it on the socket. */
function hasAnswerUnderWay(socket: Duplex): boolean {
  return (Reflect.get(socket, "_httpMessage") ?? null) !== null;
}
