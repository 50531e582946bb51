import { ApiError } from "#api/errors.ts";
import { McpProblem } from "#mcp-client/problem.ts";

/** Runs what asks a server; its problems become failures of a source. */
export async function asking<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof McpProblem ? toFailure(error) : error;
  }
}

/** What one thing was refused with, so that the rest can be read: undefined for what is about everything. */
export function refusalOf(error: unknown): "source_forbidden" | "source_not_found" | undefined {
  if (!(error instanceof ApiError)) return undefined;
  return error.code === "source_forbidden" || error.code === "source_not_found" ? error.code : undefined;
}

/** For a server that limits and does not say for how long. */
const RETRY_AFTER_MS = 60_000;

/** What a problem with a server is to its source. */
export function toFailure(problem: McpProblem): ApiError {
  const { code, message, retryAfterMs, step, status } = problem;
  const details = { problem: code, step, ...(status !== undefined && { status }) };
  switch (code) {
    case "auth_required":
    case "elicitation_required":
      return new ApiError("source_unauthorized", { message, details, cause: problem });
    case "forbidden":
    case "refused":
      // Of one thing; a list that is closed is closed for all.
      if (step !== "read" && step !== "call")
        return new ApiError("source_unauthorized", { message, details, cause: problem });
      return new ApiError(code === "forbidden" ? "source_forbidden" : "source_not_found", {
        message,
        details,
        cause: problem,
      });
    case "not_found":
      return new ApiError("source_not_found", { message, details, cause: problem });
    case "rate_limited":
      return new ApiError("source_rate_limited", {
        message,
        details,
        cause: problem,
        retryAfterMs: retryAfterMs ?? RETRY_AFTER_MS,
      });
    case "too_large":
      return new ApiError("payload_too_large", { message, details, cause: problem });
    case "address_not_allowed":
      return new ApiError("address_not_allowed", { message, details, cause: problem });
    default:
      return new ApiError("source_unavailable", { message, details, cause: problem });
  }
}
