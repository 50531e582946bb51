/** What a failure says of the one thing that was asked for, the same for every provider. */
import { isApiError } from "#api/errors.ts";
import type { RefusalCode, SyncEvent } from "./contract.ts";

const REFUSALS = ["source_forbidden", "source_not_found", "source_gone"] as const;

/** Why the source would not show one thing; undefined for every other failure. */
export function refusalOf(error: unknown): RefusalCode | undefined {
  return REFUSALS.find((code) => isApiError(error, code));
}

/** What was read; undefined when it is refused: what this credential may not know lets nobody in. */
export async function orNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (refusalOf(error) === undefined) throw error;
    return undefined;
  }
}

/** The status with which a server answered and failed: at this one thing, then. Undefined when nothing came, and for every other failure. */
export function failedStatus(error: unknown): number | undefined {
  const status = isApiError(error, "source_unavailable") ? error.details?.["status"] : undefined;
  return typeof status === "number" ? status : undefined;
}

/** One thing that can't be read now: it stays as it is, is counted, and is tried again. */
export function failedSkip(externalId: string, message: string): Extract<SyncEvent, { t: "skip" }> {
  return { t: "skip", externalId, reason: "failed", message, retryable: true };
}
