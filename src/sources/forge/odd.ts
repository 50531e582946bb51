import { storedIds } from "#sources/collect.ts";
import type { SyncContext } from "#sources/context.ts";
import { failedSkip } from "#sources/failures.ts";
import { NOT_UNDERSTOOD } from "#sources/listed.ts";
import { reportSeen } from "#sources/seen.ts";
import type { Outcome } from "#sources/outcomes.ts";
import type { Forge, ForgeRepository } from "./contract.ts";
import { parseId, repositoryRef, threadId } from "./ids.ts";

type Stored = Pick<SyncContext<unknown>, "stored">;

/** The records of a listing that could not be parsed. */
export interface Odd {
  /** Events that keep the stored items of these records. */
  outcomes: Outcome[];
  /** Numbers of the threads that could not be parsed. */
  numbers: number[];
  hasSome: boolean;
  /** True = some of the records have no id either. */
  isHalf: boolean;
}

/** Returns the records that were listed since the last call and could not be parsed. */
export async function takeOdd(
  { stored }: Stored,
  repository: ForgeRepository,
  { odd }: Pick<Forge, "odd">,
): Promise<Odd> {
  const { ids, nameless } = odd.take();
  const numbers = ids.filter((id) => /^\d+$/.test(id)).map(Number);
  const parts = new Set(ids.filter((id) => !/^\d+$/.test(id)));
  const outcomes: Outcome[] = numbers.map((number) => failedSkip(threadId(repository, number), NOT_UNDERSTOOD));
  if (ids.length > 0) {
    const ofThreads: string[] = [];
    for await (const { externalId } of stored.list(repositoryRef(repository))) {
      const id = parseId(externalId);
      if (id?.type !== "part") continue;
      if (parts.delete(id.part)) outcomes.push(failedSkip(externalId, NOT_UNDERSTOOD));
      else if (numbers.includes(id.number)) ofThreads.push(externalId);
    }
    outcomes.push(...reportSeen(ofThreads));
  }
  // The thread of this part is unknown.
  for (const part of parts) outcomes.push(failedSkip(`${repositoryRef(repository).id} ${part}`, NOT_UNDERSTOOD));
  return { outcomes, numbers, hasSome: ids.length > 0 || nameless > 0, isHalf: nameless > 0 };
}

/** Builds the events that keep the stored comments and reviews of a thread. */
export async function keepParts(stored: Stored, repository: ForgeRepository, number: number): Promise<Outcome[]> {
  const thread = threadId(repository, number);
  return reportSeen(await storedIds(stored, repositoryRef(repository), (id) => id.startsWith(`${thread}.`)));
}
