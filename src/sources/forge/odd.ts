import type { SyncContext, SyncEvent } from "#sources/contract.ts";
import { failedSkip } from "#sources/failures.ts";
import { NOT_UNDERSTOOD } from "#sources/listed.ts";
import { tellSeen } from "#sources/seen.ts";
import type { Forge, ForgeRepository } from "./contract.ts";
import { parseId, repositoryRef, threadId } from "./ids.ts";

type Event = SyncEvent<never>;
type Stored = Pick<SyncContext<unknown>, "stored">;

/** What of a listing isn't understood. */
export interface Odd {
  /** Numbers of threads. */
  numbers: number[];
  hasSome: boolean;
  /** Some of it has no id either. */
  isHalf: boolean;
}

/** What was listed since the last time and isn't understood: what is stored of it stays. */
export async function* tellOdd(
  { stored }: Stored,
  repository: ForgeRepository,
  { odd }: Pick<Forge, "odd">,
): AsyncGenerator<Event, Odd> {
  const { ids, nameless } = odd.take();
  const numbers = ids.filter((id) => /^\d+$/.test(id)).map(Number);
  const parts = new Set(ids.filter((id) => !/^\d+$/.test(id)));
  for (const number of numbers) yield failedSkip(threadId(repository, number), NOT_UNDERSTOOD);
  if (ids.length > 0) {
    const ofThreads: string[] = [];
    for await (const { externalId } of stored.list(repositoryRef(repository))) {
      const id = parseId(externalId);
      if (id?.type !== "part") continue;
      if (parts.delete(id.part)) yield failedSkip(externalId, NOT_UNDERSTOOD);
      else if (numbers.includes(id.number)) ofThreads.push(externalId);
    }
    yield* tellSeen(ofThreads);
  }
  // Of which thread they are isn't known.
  for (const part of parts) yield failedSkip(`${repositoryRef(repository).id} ${part}`, NOT_UNDERSTOOD);
  return { numbers, hasSome: ids.length > 0 || nameless > 0, isHalf: nameless > 0 };
}

/** What is stored of what was said about a thread stays. */
export async function* keepParts(
  { stored }: Stored,
  repository: ForgeRepository,
  number: number,
): AsyncGenerator<Event, void> {
  const externalIds: string[] = [];
  for await (const { externalId } of stored.list(repositoryRef(repository)))
    if (externalId.startsWith(`${threadId(repository, number)}.`)) externalIds.push(externalId);
  yield* tellSeen(externalIds);
}
