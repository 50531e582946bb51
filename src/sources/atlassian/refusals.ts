import type { ContainerRef, SyncEvent } from "#sources/contract.ts";
import { failedSkip, failedStatus, refusalOf } from "#sources/failures.ts";

/** So many containers one after another don't fail while their server is well. */
const MOST_FAILURES = 5;

/** A container that is refused, or fails, alone. @throws what is about more than it */
export function notRead(
  { container, name }: { container: ContainerRef; name: string },
  error: unknown,
  failures: number,
): Extract<SyncEvent, { t: "refused" | "skip" }> {
  const code = refusalOf(error);
  if (code === undefined && (failedStatus(error) === undefined || failures >= MOST_FAILURES)) throw error;
  if (code !== undefined) return { t: "refused", what: { container }, code };
  return failedSkip(`${container.type} ${container.id}`, `${name} can't be read now.`);
}
