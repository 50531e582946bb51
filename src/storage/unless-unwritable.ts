import { type ApiError, isApiError } from "#api/errors.ts";

/**
 * Codes for why nothing can be stored at the moment: a full disk and a failing one. Both can pass without a restart.
 */
export const UNWRITABLE_CODES = ["storage_full", "database_unusable"] as const;

/** Delay before a retry, in which people, or the program that filled the disk, may free space. */
export const UNWRITABLE_RETRY_MS = 10_000;

/** True when nothing can be stored now, for a temporary reason. */
export function isUnwritable(error: unknown): error is ApiError & { code: (typeof UNWRITABLE_CODES)[number] } {
  return UNWRITABLE_CODES.some((code) => isApiError(error, code));
}

/**
 * Waits for a write that only records a use. Such a write may be lost while nothing can be stored, so that reading
 * continues.
 */
export async function unlessUnwritable(noting: Promise<unknown>): Promise<void> {
  await noting.catch((error: unknown) => {
    if (!isUnwritable(error)) throw error;
  });
}
