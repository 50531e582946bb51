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
  /** Milliseconds from now until a retry can succeed, as reported by the server. */
  retryAfterMs?: number | undefined;
  cause?: unknown;
}

/** Ends a command with an exit code and a message. `code` is the server's code, or one of the command line. */
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

/** Makes a failure from the name of its exit code. */
export function failure(
  exit: keyof typeof EXIT,
  code: string,
  message: string,
  hint?: string,
  more?: Pick<FailureOptions, "requestId" | "status" | "retryAfterMs" | "cause">,
): CliFailure {
  return new CliFailure({ code, exit: EXIT[exit], message, hint, ...more });
}

/** Makes the failure for a wrong command line or value: exit code 2. */
export function usageFailure(message: string, hint?: string): CliFailure {
  return failure("usage", "usage", message, hint);
}

/** Makes the failure when no one is signed in to that server: exit code 4 and the command that signs in. */
export function notSignedIn(message: string, hint = "kb login"): CliFailure {
  return failure("notSignedIn", "unauthenticated", message, hint);
}

/** Makes the failure for Ctrl-C: exit code 130, with a message about what was left unfinished. */
export function interrupted(message = "Interrupted."): CliFailure {
  return failure("interrupted", "interrupted", message);
}

/** Whether the error is a failure of the CLI or the server with one of these codes; with any code if none is listed. */
export function isFailure(error: unknown, ...codes: string[]): error is CliFailure {
  return error instanceof CliFailure && (codes.length === 0 || codes.includes(error.code));
}

/** Returns the result of `work`; undefined when it fails with one of these codes, or with any code if none is listed. */
export async function unlessFailed<T>(work: Promise<T>, ...codes: string[]): Promise<T | undefined> {
  return await work.catch((error: unknown) => {
    if (!isFailure(error, ...codes)) throw error;
    return undefined;
  });
}

/** Converts anything thrown to a failure. An error that comes from neither the CLI nor the server is a bug: exit code 1, `internal`. */
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
 * Removes anything that looks like a secret of kb from a text that is printed or logged. The first characters of a token aren't secret and are kept,
 * because lists show them to distinguish tokens.
 */
export function redact(text: string): string {
  return text
    .replace(/\bkb_(pat|con|ses|inv|oat|ort)_[A-Za-z0-9_-]{12,}/g, "kb_$1_…")
    .replace(/(Bearer\s+)(?!\$)[^\s"']+/gi, "$1…")
    .replace(/((?:__Host-kb|kb_session)=)[^;\s"']+/g, "$1…")
    .replace(/(#token=)[^\s"'&]+/g, "$1…");
}
