import type { EntityType } from "#api/common.ts";
import type { OpenList } from "#server/access/policy.ts";
import { foldWord } from "#server/analysis/fold.ts";
import type { EntityName } from "#server/ports/store/entities.ts";

/** An entity whose name fits, with how well; every one is shown by an item that the reader may see. */
export interface NamedEntity {
  entityId: string;
  type: EntityType;
  /** 0 = the very name, e-mail or login; 1 = it begins so; 2 = its words begin so. */
  rank: 0 | 1 | 2;
  nameKey: string;
}

/** Names read at once: a few milliseconds, so that a large workspace does not hold up others. */
const SLICE = 2_000;
/** Fitting names judged at most, the best first. */
const MOST_JUDGED = 2_000;
const EVIDENCE_SLICE = 200;

/** A name as it is compared: folded words, separated by single spaces. */
export function foldName(text: string): string {
  return text.split(/\s+/u).filter(Boolean).map(foldWord).join(" ");
}

/**
 * The entities whose name, login or e-mail fits the words, the best first. All names of the workspace are looked
 * through, but one counts only when an item that the reader may see gives it: a hidden alias finds nothing (S11).
 */
export async function findNamed(open: OpenList, text: string, type?: EntityType): Promise<NamedEntity[]> {
  const fitting = await fittingNames(open, foldName(text));
  fitting.sort(byFit);
  const best = new Map<string, NamedEntity>();
  const types = await open.store.entities.typesOf([...new Set(fitting.map((name) => name.entityId))]);
  for (const name of fitting.slice(0, MOST_JUDGED)) {
    const found = types.get(name.entityId);
    if (found === undefined || (type !== undefined && found !== type) || best.has(name.entityId)) continue;
    if (await isShown(open, name)) best.set(name.entityId, { ...name, type: found });
  }
  return [...best.values()];
}

type Fitting = EntityName & { rank: 0 | 1 | 2 };

function byFit(a: Fitting, b: Fitting): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  if (a.nameKey !== b.nameKey) return a.nameKey < b.nameKey ? -1 : 1;
  return a.entityId < b.entityId ? -1 : 1;
}

async function fittingNames({ store }: OpenList, asked: string): Promise<Fitting[]> {
  const fitting: Fitting[] = [];
  let after: EntityName | undefined;
  for (;;) {
    const names = await store.entities.walkNames(after, SLICE);
    for (const name of names) {
      const rank = rankOf(name.nameKey, asked);
      if (rank !== undefined) fitting.push({ ...name, rank });
    }
    after = names.at(-1);
    if (names.length < SLICE || after === undefined) return fitting;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function rankOf(nameKey: string, asked: string): 0 | 1 | 2 | undefined {
  if (asked === "") return 2;
  if (nameKey === asked || ` ${nameKey} `.includes(` ${asked} `)) return 0;
  if (nameKey.startsWith(asked)) return 1;
  const words = nameKey.split(/[^\p{L}\p{N}]+/u);
  const wanted = asked.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  return wanted.length > 0 && wanted.every((part) => words.some((word) => word.startsWith(part))) ? 2 : undefined;
}

async function isShown({ store, accesses }: OpenList, name: EntityName): Promise<boolean> {
  let after = "";
  for (;;) {
    const items = await store.entities.itemsNaming(name, after, EVIDENCE_SLICE);
    if (items.some((item) => accesses.has(item.aclId))) return true;
    const last = items.at(-1);
    if (items.length < EVIDENCE_SLICE || last === undefined) return false;
    after = last.kbId;
  }
}
