import { foldWord } from "#text/fold.ts";
import type { OpenList } from "#storage/policy/policy.ts";
import type { EntityName, ShownEntity } from "#storage/records/entities.ts";

/** Names read at once: an index walk of a few milliseconds. */
const WALK = 5000;
const EVIDENCE = 200;
/** Most names of one person: a source has one or two, and the number of connectors is limited. */
const MOST_WITH_EMAIL = 500;

/** The folded words of a text, in the form names are stored, without the mark of a channel or a person before them. */
export function foldWords(text: string): string[] {
  return text.split(/\s+/u).filter(Boolean).map(foldWord).map(withoutMark).filter(Boolean);
}

/** `#eng` also matches as `eng`, and the other way round. */
function withoutMark(word: string): string {
  return word.replace(/^[#@]+(?=.)/, "");
}

function partsOf(nameKey: string): string[] {
  return nameKey.split(" ").map(withoutMark);
}

/** True when every word begins some word of the name. */
export function hasWords(nameKey: string, words: readonly string[]): boolean {
  const parts = partsOf(nameKey);
  return words.every((word) => parts.some((part) => part.startsWith(word)));
}

/** True when the words are one letter or two away from the name's own, word by word in any order. */
export function isClose(nameKey: string, words: readonly string[]): boolean {
  const parts = partsOf(nameKey);
  const near = words.filter((word) => parts.some((part) => distanceWithin(word, part, word.length > 4 ? 2 : 1)));
  return words.length > 0 && near.length >= Math.ceil(words.length / 2);
}

/**
 * The entities that visible items give a name which `fits`, each as the first such item shows it. Every name that fits
 * is judged before anything is cut: hidden ones never take a visible one's place (S9).
 */
export async function visibleByName(
  open: OpenList,
  fits: (nameKey: string) => boolean,
  limit: number,
): Promise<ShownEntity[]> {
  const found = new Map<string, ShownEntity>();
  let after: EntityName | undefined;
  while (found.size < limit) {
    const names = await open.store.entities.walkNames(after, WALK);
    for (const name of names) {
      if (found.size >= limit || found.has(name.entityId) || !fits(name.nameKey)) continue;
      const shown = await evidence(open, name);
      if (shown !== undefined) found.set(name.entityId, shown);
    }
    after = names.at(-1);
    if (names.length < WALK) break;
  }
  return [...found.values()];
}

/** The people whom visible items show with this address, each as the first such item shows them. */
export async function visibleByEmail(open: OpenList, email: string): Promise<ShownEntity[]> {
  const found = new Map<string, ShownEntity>();
  for (const name of await open.store.entities.namesWithEmail(email, MOST_WITH_EMAIL)) {
    const shown = found.has(name.entityId) ? undefined : await evidence(open, name);
    if (shown?.type === "person" && shown.email?.toLowerCase() === email.toLowerCase()) found.set(name.entityId, shown);
  }
  return [...found.values()];
}

/** The name as the first visible item shows it; undefined when only hidden ones have it. */
async function evidence(open: OpenList, name: EntityName): Promise<ShownEntity | undefined> {
  let afterKbId = "";
  for (;;) {
    const items = await open.store.entities.itemsNaming(name, afterKbId, EVIDENCE);
    const visible = items.find(({ aclId }) => open.accesses.has(aclId));
    if (visible !== undefined) {
      const shown = await open.store.entities.shownOn([visible.kbId]);
      return shown.find((one) => one.entityId === name.entityId && one.nameKey === name.nameKey);
    }
    const last = items.at(-1);
    if (last === undefined || items.length < EVIDENCE) return undefined;
    afterKbId = last.kbId;
  }
}

/** Whether the edit distance is at most `most`. */
export function distanceWithin(a: string, b: string, most: number): boolean {
  if (Math.abs(a.length - b.length) > most || a.length > 60 || b.length > 60) return false;
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + cost));
    }
    row = next;
  }
  return (row.at(-1) ?? most + 1) <= most;
}
