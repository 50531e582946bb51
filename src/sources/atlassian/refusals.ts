import { isApiError } from "#api/errors.ts";
import type { ContainerRef, RefusalCode, SyncEvent } from "#sources/contract.ts";

/** Undefined when this credential may not know: then nobody is let in by it. */
export async function orNothing<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read();
  } catch (error) {
    if (refusalOf(error) === undefined) throw error;
    return undefined;
  }
}

/** What a refusal of one thing says; undefined for every other failure. */
export function refusalOf(error: unknown): RefusalCode | undefined {
  return REFUSALS.find((code) => isApiError(error, code));
}

const REFUSALS = ["source_forbidden", "source_not_found", "source_gone"] as const;

/** Whether the server answered, and failed: at this one thing, then. */
export function isFailureOfOne(error: unknown): boolean {
  return isApiError(error, "source_unavailable") && typeof error.details?.["status"] === "number";
}

/** So many containers one after another don't fail while their server is well. */
const MOST_FAILURES = 5;

/** A container that is refused, or fails, alone. @throws what is about more than it */
export function notRead(
  { container, name }: { container: ContainerRef; name: string },
  error: unknown,
  failures: number,
): Extract<SyncEvent, { t: "refused" | "skip" }> {
  const code = refusalOf(error);
  if (code === undefined && (!isFailureOfOne(error) || failures >= MOST_FAILURES)) throw error;
  if (code !== undefined) return { t: "refused", what: { container }, code };
  const message = `${name} can't be read now.`;
  return { t: "skip", externalId: `${container.type} ${container.id}`, reason: "failed", message, retryable: true };
}
