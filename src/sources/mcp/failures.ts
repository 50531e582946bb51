import { defined } from "#core/defined.ts";
import { ApiError } from "#api/errors.ts";
import { McpProblem } from "#mcp-client/problem.ts";

/** Runs a call to a server, and converts its problems into failures of a source. */
export async function asking<Result>(ask: () => Promise<Result>): Promise<Result> {
  try {
    return await ask();
  } catch (error) {
    throw error instanceof McpProblem ? toFailure(error) : error;
  }
}

/** The wait for a server that limits requests without stating a duration. */
const RETRY_AFTER_MS = 60_000;

/** Converts a problem with a server into a failure of its source. */
export function toFailure(problem: McpProblem): ApiError {
  const { code, message, retryAfterMs, step, status } = problem;
  const details = { problem: code, step, ...defined({ status }) };
  switch (code) {
    case "auth_required":
    case "elicitation_required":
      return new ApiError("source_unauthorized", { message, details, cause: problem });
    case "forbidden":
    case "refused":
      // The refusal concerns one thing. A refused list would be refused for everything.
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
      return new ApiError("source_unavailable", {
        message,
        details: { ...details, ...(isOfOne(problem) && { status: status ?? OK }) },
        cause: problem,
      });
  }
}

const OK = 200;

/** Whether the server answers but fails to return one thing, or one of its lists. */
function isOfOne({ code, step }: McpProblem): boolean {
  return READING.has(step) && (code === "server_error" || code === "bad_answer");
}

const READING: ReadonlySet<string> = new Set(["read", "call", "resources", "templates", "complete"]);
