import { ApiError, isApiError } from "#api/errors.ts";

/**
 * Codes that mean that this process, or the machine, can open no more files. Source:
 * https://man7.org/linux/man-pages/man3/errno.3.html
 */
const NO_FILES: ReadonlySet<string> = new Set(["EMFILE", "ENFILE"]);
/**
 * Codes that mean that no process can be started. They apply only to starting processes: elsewhere they mean other
 * things, such as a lock (`EAGAIN`) when a file is opened.
 */
const NO_PROCESS: ReadonlySet<string> = new Set(["EAGAIN", "ENOMEM"]);
/** Limit of causes that are followed in a chain. */
const MAX_CAUSES = 8;
const RETRY_MS = 10_000;

/**
 * Returns the error `resources_exhausted` for callers when an error, or its cause, shows that the server's machine is
 * short of open files or processes. The file or request is not at fault, and the shortage passes. Undefined for any
 * other error.
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

/** Returns the error for a system error code, for callers that have a code and not an error. */
export function shortageOf(code: string, cause?: unknown): ApiError {
  return new ApiError("resources_exhausted", {
    message: `The server has run out of open files or processes (${code}). Try again later. If it lasts, its administrator can raise the limit.`,
    retryAfterMs: RETRY_MS,
    cause,
  });
}
