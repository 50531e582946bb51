import { foldWord } from "#text/fold.ts";
import type { OpenList } from "#storage/policy/policy.ts";
import type { EntityName, ShownEntity } from "#storage/records/entities.ts";

/** The number of names read at once. The index walk takes a few milliseconds. */
const WALK = 5000;
const EVIDENCE = 200;
/** The maximum number of names for one person. A source has one or two, and the number of connectors is limited. */
const MOST_WITH_EMAIL = 500;

/**
 * Returns the normalized words of a text, in the form in which names are stored, without a leading mark of a channel or
 * a person.
 */
export function foldWords(text: string): string[] {
  return text.split(/\s+/u).filter(Boolean).map(foldWord).map(withoutMark).filter(Boolean);
}

/** Removes the mark, because `#eng` also matches as `eng`, and the other way round. */
function withoutMark(word: string): string {
  return word.replace(/^[#@]+(?=.)/, "");
}

function partsOf(nameKey: string): string[] {
  return nameKey.split(" ").map(withoutMark);
}

/** Whether each word is the beginning of some word in the name. */
export function hasWords(nameKey: string, words: readonly string[]): boolean {
  const parts = partsOf(nameKey);
  return words.every((word) => parts.some((part) => part.startsWith(word)));
}

/** Whether the words differ from the name's words by one letter or two, word by word in any order. */
export function isClose(nameKey: string, words: readonly string[]): boolean {
  const parts = partsOf(nameKey);
  const near = words.filter((word) => parts.some((part) => distanceWithin(word, part, word.length > 4 ? 2 : 1)));
  return words.length > 0 && near.length >= Math.ceil(words.length / 2);
}

/**
 * Returns the entities to which visible items give a name that `fits`, each as the first such item shows it. Access is
 * checked for every name that fits before the list is cut, so a hidden name never takes a visible one's place (S9).
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

/** Returns the people whom visible items show with this address, each as the first such item shows them. */
export async function visibleByEmail(open: OpenList, email: string): Promise<ShownEntity[]> {
  const found = new Map<string, ShownEntity>();
  for (const name of await open.store.entities.namesWithEmail(email, MOST_WITH_EMAIL)) {
    const shown = found.has(name.entityId) ? undefined : await evidence(open, name);
    if (shown?.type === "person" && shown.email?.toLowerCase() === email.toLowerCase()) found.set(name.entityId, shown);
  }
  return [...found.values()];
}

/** Returns the name as the first visible item shows it; undefined if only hidden items have it. */
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
