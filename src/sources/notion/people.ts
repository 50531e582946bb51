import { z } from "zod";
import type { SyncContext } from "#sources/context.ts";
import { failedStatus } from "#sources/failures.ts";
import type { NotionClient } from "./client.ts";

const KEY = "people";
/** The most names that are stored. A value of the state has at most 64 KiB. */
const MOST_KEPT = 250;
const MOST_CHARS = 50;
const Kept = z.array(z.tuple([z.string(), z.string()]));

/**
 * Returns names by id. If Notion fails to return its list of users, no page is left out because of it: people keep
 * their last known names.
 */
export async function namesOf(
  { state }: Pick<SyncContext<unknown>, "state">,
  client: Pick<NotionClient, "users">,
): Promise<ReadonlyMap<string, string>> {
  const kept = Kept.safeParse(await state.get(KEY)).data ?? [];
  try {
    const names = await client.users();
    const now = [...names].slice(0, MOST_KEPT).map(([id, name]) => [id, [...name].slice(0, MOST_CHARS).join("")]);
    if (JSON.stringify(now) !== JSON.stringify(kept)) state.put(KEY, now);
    return names;
  } catch (error) {
    if (failedStatus(error) === undefined) throw error;
    return new Map(kept);
  }
}
