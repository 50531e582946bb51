import { ApiError, isApiError } from "#api/errors.ts";

/** This process, or the machine, can open no more files. Source: https://man7.org/linux/man-pages/man3/errno.3.html */
const NO_FILES: ReadonlySet<string> = new Set(["EMFILE", "ENFILE"]);
/** Only for processes: elsewhere these codes mean other things, such as a lock (`EAGAIN`) where a file is opened. */
const NO_PROCESS: ReadonlySet<string> = new Set(["EAGAIN", "ENOMEM"]);
/** A chain of causes is followed this far. */
const MAX_CAUSES = 8;
const RETRY_MS = 10_000;

/**
 * The error for callers when it, or its cause, shows that the server's machine is short of open files or processes:
 * `resources_exhausted`. The file or request is not at fault, and the shortage passes. Undefined for any other error.
 */
export function findShortage(error: unknown): ApiError | undefined {
  let at = error;
  for (let depth = 0; depth < MAX_CAUSES && at instanceof Error; depth++) {
    if (isApiError(at, "resources_exhausted")) return at;
    const { code, syscall }: NodeJS.ErrnoException = at;
    if (code !== undefined && (NO_FILES.has(code) || (syscall?.startsWith("spawn") === true && NO_PROCESS.has(code)))) {
      return shortageOf(code, error);
    }
    at = at.cause;
  }
  return undefined;
}

/** The error for a `code` of the system, for callers that have a code and not an error. */
export function shortageOf(code: string, cause?: unknown): ApiError {
  return new ApiError("resources_exhausted", {
    message: `The server has run out of open files or processes (${code}). Try again later. If it lasts, its administrator can raise the limit.`,
    retryAfterMs: RETRY_MS,
    cause,
  });
}
