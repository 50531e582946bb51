/** Failures of a command: the reason, the next command, the exit code. */
import { ApiError, ERROR_CLASSES } from "#api/errors.ts";
import { EXIT } from "./exit-codes.ts";

export interface FailureOptions {
  code: string;
  exit: number;
  message: string;
  hint?: string | undefined;
  requestId?: string | undefined;
  /** The HTTP status of the server's answer. */
  status?: number | undefined;
  /** Milliseconds from now until a retry can succeed, from the server. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Ends a command with an exit code and a message. `code` is the server's, or one of the command line's own. */
export class CliFailure extends Error {
  override readonly name = "CliFailure";
  readonly code: string;
  readonly exit: number;
  readonly hint: string | undefined;
  readonly requestId: string | undefined;
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;

  constructor(options: FailureOptions) {
    super(options.message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = options.code;
    this.exit = options.exit;
    this.hint = options.hint;
    this.requestId = options.requestId;
    this.status = options.status;
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** A wrong command line or value: exit code 2. */
export function usageFailure(message: string, hint?: string): CliFailure {
  return new CliFailure({ code: "usage", exit: EXIT.usage, message, hint });
}

/** Not signed in to that server: exit code 4 and the command that signs in. */
export function notSignedIn(message: string, hint = "kb login"): CliFailure {
  return new CliFailure({ code: "unauthenticated", exit: EXIT.notSignedIn, message, hint });
}

/** Ctrl-C: exit code 130; reports what was left behind. */
export function interrupted(message = "Interrupted."): CliFailure {
  return new CliFailure({ code: "interrupted", exit: EXIT.interrupted, message });
}

/** Converts anything thrown to a failure. An error that is neither ours nor the server's is a bug: exit code 1, `internal`. */
export function toFailure(error: unknown): CliFailure {
  if (error instanceof CliFailure) return error;
  if (error instanceof ApiError) {
    const { code, hint, message } = error;
    return new CliFailure({ code, exit: ERROR_CLASSES[error.class].exit, message, hint, cause: error });
  }
  if (error instanceof Error && "code" in error && typeof error.code === "string" && "syscall" in error) {
    return new CliFailure({
      code: error.code.toLowerCase(),
      exit: EXIT.failure,
      message: `${error.message}.`,
      cause: error,
    });
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return new CliFailure({
    code: "internal",
    exit: EXIT.failure,
    message,
    hint: "Set KB_DEBUG=1 for the trace.",
    cause: error,
  });
}

/**
 * Removes anything that looks like one of our secrets from a text that is printed or logged. The first characters of a
 * token, which lists show to distinguish tokens, aren't secret and stay.
 */
export function redact(text: string): string {
  return text
    .replace(/\bkb_(pat|con|ses|inv|oat|ort)_[A-Za-z0-9_-]{12,}/g, "kb_$1_…")
    .replace(/(Bearer\s+)(?!\$)[^\s"']+/gi, "$1…")
    .replace(/((?:__Host-kb|kb_session)=)[^;\s"']+/g, "$1…")
    .replace(/(#token=)[^\s"'&]+/g, "$1…");
}
