import type { ContainerRef, SyncEvent } from "#sources/contract.ts";
import { type Failures, failedSkip, refusalOf } from "#sources/failures.ts";

/** A container that is refused, or fails, alone. @throws what is about more than it */
export async function notRead(
  { container, name }: { container: ContainerRef; name: string },
  error: unknown,
  failures: Failures,
): Promise<Extract<SyncEvent, { t: "refused" | "skip" }>> {
  const code = refusalOf(error);
  if (code !== undefined) return { t: "refused", what: { container }, code };
  await failures.requireOfOne(error);
  return failedSkip(`${container.type} ${container.id}`, `${name} can't be read now.`);
}
