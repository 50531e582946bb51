import type { SourceProblem } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import { redact } from "#core/redact.ts";

/** What ended a run, as its connector's owner is told. What is no known failure is told by its kind alone. */
export function toProblem(error: unknown): SourceProblem {
  if (!(error instanceof ApiError)) {
    return { code: "internal", message: "The sync met an error of its own. The server's log says more." };
  }
  const { hint, field, retryAfterMs } = error;
  return {
    code: PROBLEM_CODES[error.code] ?? (error.class === "unprocessable" ? "config" : "source_error"),
    message: redact(error.message),
    ...(hint !== undefined && { hint }),
    ...(field !== undefined && { field }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  };
}

const PROBLEM_CODES: Partial<Record<string, string>> = {
  source_unauthorized: "auth_required",
  source_rate_limited: "rate_limited",
  source_unavailable: "unreachable",
  source_not_found: "not_found",
  secret_unreadable: "auth_required",
  address_not_allowed: "forbidden",
  root_not_allowed: "forbidden",
  forbidden: "forbidden",
  connector_config_invalid: "config",
  connector_scope_invalid: "config",
  provider_unavailable: "config",
};
