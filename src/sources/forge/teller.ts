import type { SourceItem, SyncContext, SyncEvent } from "#sources/contract.ts";
import { failedSkip, refusalOf } from "#sources/failures.ts";
import { NOT_UNDERSTOOD } from "#sources/listed.ts";
import { SEEN_IDS } from "#sources/seen.ts";
import type { ForgePart, ForgeRepository, ForgeThread } from "./contract.ts";
import { threadId } from "./ids.ts";
import { toPartItem } from "./map.ts";
import { keepParts, tellOdd } from "./odd.ts";
import type { ForgeTools } from "./tools.ts";

type Context = SyncContext<unknown>;
type Event = SyncEvent<never>;

/** Gives whether some of them could not be read. */
export async function* tellReviews(
  ctx: Context,
  { repository, thread, teller }: { repository: ForgeRepository; thread: ForgeThread; teller: Teller },
  { forge, facts, failures }: ForgeTools,
): AsyncGenerator<Event, boolean> {
  const { number } = thread;
  const externalId = threadId(repository, number);
  let parts: ForgePart[];
  yield* tellOdd(ctx, repository, forge);
  try {
    parts = await forge.reviews(repository, number);
  } catch (error) {
    const code = refusalOf(error);
    if (code === undefined) await failures.requireOfOne(error);
    yield* teller.flush();
    yield* keepParts(ctx, repository, number);
    // Deleted a moment ago, or this one alone is closed; the next listing tells. What is said about it is hidden with it.
    if (code !== undefined) yield { t: "refused", what: { externalId }, code };
    else yield failedSkip(`reviews of ${externalId}`, "The reviews can't be read now.");
    return code === undefined;
  }
  for (const part of parts) yield* teller.tell(toPartItem(part, repository, facts));
  const { ids, nameless } = forge.odd.take();
  if (ids.length === 0 && nameless === 0) return false;
  yield* keepParts(ctx, repository, number);
  yield failedSkip(`reviews of ${externalId}`, NOT_UNDERSTOOD);
  return true;
}

type Teller = ReturnType<typeof makeTeller>;

/** Says of items that are stored as they are only that they are there. */
export function makeTeller({ stored }: Pick<Context, "stored">) {
  let same: string[] = [];
  function* flush(): Generator<Event, void> {
    if (same.length > 0) yield { t: "seen", externalIds: same };
    same = [];
  }
  function* name(externalId: string): Generator<Event, void> {
    same.push(externalId);
    if (same.length >= SEEN_IDS) yield* flush();
  }
  return {
    flush,
    name,
    async *tell(item: SourceItem): AsyncGenerator<Event, void> {
      if ((await stored.version(item.externalId)) === item.version) yield* name(item.externalId);
      else yield { t: "upsert", item };
    },
  };
}
