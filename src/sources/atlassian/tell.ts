import { createHash } from "node:crypto";
import { accessKeyOf } from "#core/access-key.ts";
import type { Scope } from "#core/scope.ts";
import type { SourceItem, StoredItems, SyncEvent } from "#sources/contract.ts";

/** A scope names projects and spaces by their ids. */
export function isPlaceInScope({ include, exclude }: Scope, id: string): boolean {
  return (include.length === 0 || include.includes(id)) && !exclude.includes(id);
}

/** Numbers as text, by their value. */
export function compareIds(a: string, b: string): number {
  return a.length - b.length || (a < b ? -1 : a > b ? 1 : 0);
}

/** Ids of one `seen` event at most. */
const SEEN_IDS = 500;

type Told = Extract<SyncEvent, { t: "upsert" | "seen" }>;

/** Items that are stored as they are here are only named. */
export async function tellItems(stored: StoredItems, items: readonly SourceItem[]): Promise<Told[]> {
  const events: Told[] = [];
  const same: string[] = [];
  for (const item of items) {
    const { access, externalId, version } = item;
    const isSame = version !== undefined && (await stored.version(externalId)) === version;
    // A check of access may have told another one since, under the same version.
    const hasOther = async () =>
      item.partOf === undefined && access !== undefined && (await stored.accessKey(externalId)) !== accessKeyOf(access);
    if (isSame && !(await hasOther())) same.push(externalId);
    else events.push({ t: "upsert", item });
  }
  return [...events, ...tellSeen(same)];
}

export function tellSeen(ids: readonly string[]): Extract<SyncEvent, { t: "seen" }>[] {
  const events: Extract<SyncEvent, { t: "seen" }>[] = [];
  for (let at = 0; at < ids.length; at += SEEN_IDS) {
    events.push({ t: "seen", externalIds: ids.slice(at, at + SEEN_IDS) });
  }
  return events;
}

/** A title or name on one line. */
export function readable(text: string): string {
  return text.replace(/[\p{Cc}\p{Surrogate}\s]+/gu, " ").trim();
}

export function digestOf(...of: readonly unknown[]): string {
  return createHash("sha256").update(JSON.stringify(of)).digest("base64url").slice(0, 22);
}
