import { ApiError, type ErrorCode, isApiError } from "#api/errors.ts";
import type { SourceProblem, SourceProblemCode } from "#api/common.ts";
import { defined } from "#core/defined.ts";
import type { GitOutput } from "./program.ts";

/** The context of a failed exchange with a remote. */
export interface Talk {
  /** The host, or the displayed name of the place. */
  place: string;
  hasCredentials: boolean;
  isSsh: boolean;
  /** Every secret that was used. Messages must not contain any of them. */
  secrets: readonly string[];
}

/**
 * Maps git's output about a remote to one of our own errors. Git's text isn't repeated, except for the last line of an
 * unknown failure, from which secrets are removed.
 */
export function remoteFailure(output: GitOutput, talk: Talk): ApiError {
  const { stderr, ended } = output;
  const { place, hasCredentials } = talk;
  const is = (pattern: RegExp) => pattern.test(stderr);
  if (ended === "timeout") return unavailable(`${place} took too long.`);
  if (is(/host key verification failed|no \w+ host key is known|remote host identification has changed/i)) {
    return unavailable(
      `The host key of ${place} isn't known. Compare it with the key that the host's owner publishes, and give it as hostKeys.`,
      "hostKeys",
    );
  }
  if (is(/returned error: 429|too many requests/i)) {
    return new ApiError("source_rate_limited", {
      message: `${place} limits the rate of requests.`,
      retryAfterMs: 300_000,
    });
  }
  if (is(/remote branch .* not found|couldn't find remote ref/i))
    return notFound("There is no such branch or tag.", "ref");
  if (is(UNAUTHORIZED)) {
    return new ApiError("source_unauthorized", {
      message: hasCredentials
        ? `${place} refused the credentials, or they don't reach this repository.`
        : `${place} asks for credentials: the repository is private or doesn't exist.`,
      field: "credentials",
    });
  }
  if (is(/returned error: 30\d|unable to update url base from redirection/i)) {
    return notFound(`${place} moved to another address. Connect that one.`, "url");
  }
  if (is(/dumb http transport|not valid: is this a git repository|invalid server response/i)) {
    return notFound(`${place} isn't answering as a git server at this URL.`, "url");
  }
  if (
    is(/repository .*not found|not found|does not appear to be a git repository|returned error: 404|does not exist/i)
  ) {
    return notFound(`${place} has no such repository, or these credentials can't see it.`, "url");
  }
  if (is(/certificate/i)) return unavailable(`The certificate of ${place} is not valid.`);
  if (is(/mismatched algorithms|unsupported hash|object format/i)) {
    return notFound("The repository uses a hash format that this version does not support.", "url");
  }
  if (
    is(/fsck error|broken|corrupt|bad object|index-pack failed/i) &&
    !is(/early EOF|RPC failed|unexpected disconnect/i)
  ) {
    return unavailable(`${place} sent a broken object.`);
  }
  return unavailable(`${place} can't be reached now: ${lastWords(stderr, talk.secrets)}`);
}

/** Returns the same error as a problem for a check instead of throwing it. */
export function toCheckProblem(error: unknown): SourceProblem {
  if (!isApiError(error)) throw error;
  const { message, hint, field = "url" } = error;
  return { code: CODES[error.code] ?? "source_error", message, ...defined({ hint }), field };
}

const CODES: Partial<Record<ErrorCode, SourceProblemCode>> = {
  source_unauthorized: "auth_required",
  source_not_found: "not_found",
  source_unavailable: "unreachable",
  source_rate_limited: "rate_limited",
  address_not_allowed: "forbidden",
  root_not_allowed: "forbidden",
  connector_config_invalid: "config",
};

const UNAUTHORIZED =
  /authentication failed|could not read (?:username|password)|terminal prompts disabled|returned error: 40[13]|permission denied|access denied|incorrect passphrase|invalid credentials/i;

function unavailable(message: string, field?: string): ApiError {
  return new ApiError("source_unavailable", { message, ...defined({ field }) });
}

function notFound(message: string, field: string): ApiError {
  return new ApiError("source_not_found", { message, field });
}

function lastWords(stderr: string, secrets: readonly string[]): string {
  const lines = stderr.split("\n").filter((line) => line.startsWith("fatal:") || line.startsWith("ssh:"));
  let words = (lines[0] ?? "git gave no reason").replace(/^fatal: /, "").slice(0, 300);
  for (const secret of secrets) if (secret !== "") words = words.replaceAll(secret, "…");
  // oxlint-disable-next-line no-control-regex -- a remote's words may hold them
  return words.replace(/[\0-\x1f\x7f-\x9f]/g, " ");
}
