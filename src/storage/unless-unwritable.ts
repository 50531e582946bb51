import { type ApiError, isApiError } from "#api/errors.ts";

/** Why nothing can be stored for now, where that passes without a restart: a full disk, and one that fails. */
export const UNWRITABLE_CODES = ["storage_full", "database_unusable"] as const;

/** When it is worth trying again: room is made by hand, or by whatever filled the disk. */
export const UNWRITABLE_RETRY_MS = 10_000;

/** True when nothing can be stored now, for a reason that passes. */
export function isUnwritable(error: unknown): error is ApiError & { code: (typeof UNWRITABLE_CODES)[number] } {
  return UNWRITABLE_CODES.some((code) => isApiError(error, code));
}

/** What only notes a use may be lost while nothing can be stored: reading goes on. */
export async function unlessUnwritable(noting: Promise<unknown>): Promise<void> {
  await noting.catch((error: unknown) => {
    if (!isUnwritable(error)) throw error;
  });
}
