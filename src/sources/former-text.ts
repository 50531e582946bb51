import { hash } from "node:crypto";
import { z } from "zod";
import type { SyncContext, SyncEvent } from "./contract.ts";

/** So long the former text of an item stays that can't be read any more because it has no end, or is too large now. */
export const FORMER_TEXT_MS = 7 * 86_400_000;
/** Items that are waited for at once; the state of a connector has room for no more. */
const MOST = 1_500;
const KEY = "former-text";

const Stored = z.record(z.string(), z.number());

/** Remembers since when items can't be read, so that their former text stays for some days and then goes. */
export function makeFormerText({ state, now }: Pick<SyncContext<unknown>, "state" | "now">) {
  let loaded: Record<string, number> | undefined;
  const load = async () => (loaded ??= Stored.safeParse(await state.get(KEY)).data ?? {});
  const store = (since: Record<string, number>) => state.put(KEY, (loaded = since));
  return {
    /** Whether the former text of an item that can't be read now is to stay. */
    async keeps(externalId: string): Promise<boolean> {
      const since = await load();
      const key = keyOf(externalId);
      const first = since[key];
      if (first !== undefined) return now() - first < FORMER_TEXT_MS;
      const isRoom = Object.keys(since).length < MOST;
      if (isRoom) store({ ...since, [key]: now() });
      return isRoom;
    },
    /** It could be read. */
    async forget(externalId: string): Promise<void> {
      const { [keyOf(externalId)]: first, ...rest } = await load();
      if (first !== undefined) store(rest);
    },
    failure(externalId: string): Extract<SyncEvent, { t: "skip" }> {
      const message = "Its content has no end, or is too large now. What kb read before stays for up to 7 days.";
      return { t: "skip", externalId, reason: "failed", message, retryable: true };
    },
  };
}

export type FormerText = ReturnType<typeof makeFormerText>;

function keyOf(externalId: string): string {
  return hash("sha256", externalId, "base64url").slice(0, 16);
}
