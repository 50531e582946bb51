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

/** A failure by the name of its exit code. */
export function failure(
  exit: keyof typeof EXIT,
  code: string,
  message: string,
  hint?: string,
  more?: Pick<FailureOptions, "requestId" | "status" | "retryAfterMs" | "cause">,
): CliFailure {
  return new CliFailure({ code, exit: EXIT[exit], message, hint, ...more });
}

/** A wrong command line or value: exit code 2. */
export function usageFailure(message: string, hint?: string): CliFailure {
  return failure("usage", "usage", message, hint);
}

/** Not signed in to that server: exit code 4 and the command that signs in. */
export function notSignedIn(message: string, hint = "kb login"): CliFailure {
  return failure("notSignedIn", "unauthenticated", message, hint);
}

/** Ctrl-C: exit code 130; reports what was left behind. */
export function interrupted(message = "Interrupted."): CliFailure {
  return failure("interrupted", "interrupted", message);
}

/** Whether it is a failure of ours, or of the server, with one of these codes; with any code if none is named. */
export function isFailure(error: unknown, ...codes: string[]): error is CliFailure {
  return error instanceof CliFailure && (codes.length === 0 || codes.includes(error.code));
}

/** The result of `work`; undefined when it ends in a failure with one of these codes, or in any failure if none is named. */
export async function unlessFailed<T>(work: Promise<T>, ...codes: string[]): Promise<T | undefined> {
  return await work.catch((error: unknown) => {
    if (!isFailure(error, ...codes)) throw error;
    return undefined;
  });
}

/** Converts anything thrown to a failure. An error that is neither ours nor the server's is a bug: exit code 1, `internal`. */
export function toFailure(error: unknown): CliFailure {
  if (error instanceof CliFailure) return error;
  if (error instanceof ApiError) {
    const { code, hint, message } = error;
    return new CliFailure({ code, exit: ERROR_CLASSES[error.class].exit, message, hint, cause: error });
  }
  if (error instanceof Error && "code" in error && typeof error.code === "string" && "syscall" in error) {
    return failure("failure", error.code.toLowerCase(), `${error.message}.`, undefined, { cause: error });
  }
  const message = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return failure("failure", "internal", message, "Set KB_DEBUG=1 for the trace.", { cause: error });
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
