import { failedSkip, refusalOf, refused } from "#sources/failures.ts";
import { NOT_UNDERSTOOD } from "#sources/listed.ts";
import { entryOf, type PageEntry } from "#sources/session.ts";
import type { ForgePart, ForgeRepository, ForgeThread } from "./contract.ts";
import { threadId } from "./ids.ts";
import { toPartItem } from "./map.ts";
import { keepParts } from "./odd.ts";
import type { ForgeTools } from "./tools.ts";

/** Reads the reviews of a pull request. `hasFailed`: some of them could not be read. */
export async function readReviews(
  { ctx, forge, facts, failures }: ForgeTools,
  repository: ForgeRepository,
  { number }: Pick<ForgeThread, "number">,
): Promise<{ entries: PageEntry[]; hasFailed: boolean }> {
  const externalId = threadId(repository, number);
  let parts: ForgePart[];
  try {
    parts = await forge.reviews(repository, number);
  } catch (error) {
    const code = refusalOf(error);
    if (code === undefined) await failures.requireOfOne(error);
    const kept = await keepParts(ctx, repository, number);
    // The pull request was deleted a moment ago, or only its reviews are hidden. The next listing shows which is the
    // case. Its comments are hidden too.
    const comments = code
      ? refused(externalId, code)
      : failedSkip(`reviews of ${externalId}`, "The reviews can't be read now.");
    return { entries: [...kept, comments], hasFailed: code === undefined };
  }
  const entries: PageEntry[] = parts.map((part) => entryOf(toPartItem(part, repository, facts)));
  const { ids, nameless } = forge.odd.take();
  if (ids.length === 0 && nameless === 0) return { entries, hasFailed: false };
  const kept = await keepParts(ctx, repository, number);
  return { entries: [...entries, ...kept, failedSkip(`reviews of ${externalId}`, NOT_UNDERSTOOD)], hasFailed: true };
}
