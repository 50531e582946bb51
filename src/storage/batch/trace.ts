import type { Principal } from "#core/principals.ts";
import type { NewAuditRecord } from "#storage/audit-chain.ts";
import type { AccessStore } from "#storage/records/access.ts";
import { summarize } from "#storage/records/readers.ts";
import type { Work } from "./work.ts";

/** Limit of items that one audit row names; the row also states their number. */
const MAX_NAMED = 50;

/**
 * The lists of an access, all of which a reader must meet. Undefined = the access is open to no one; an empty array =
 * it adds no restriction to those of the connector.
 */
type Lists = readonly (readonly Principal[])[] | undefined;

/**
 * Describes for the audit row how the batch changed who may read already stored items: how many items, which, how many
 * are open to the whole workspace now, and which readers were named before and are now. The row is written in the
 * batch's transaction. Undefined when nothing changed.
 */
export async function traceOf(
  work: Work,
  access: Pick<AccessStore, "listsOf">,
  trace: NewAuditRecord,
): Promise<NewAuditRecord | undefined> {
  // Reversed, because an item's first change in the batch holds its state from before the batch.
  const before = new Map(work.accessChanges.toReversed().map((change) => [change.kbId, change]));
  if (before.size === 0) return undefined;
  const listsOf = makeListsOf(access, new Set(work.batch.always));
  const named = { before: new Set<Principal>(), after: new Set<Principal>() };
  let widened = 0;
  let openToWorkspace = 0;
  for (const [kbId, was] of before) {
    const is = work.rows.findByKbId(kbId);
    if (!is) continue;
    const [from, to] = [await listsOf(was.aclId), await listsOf(is.aclId)];
    const own = [await listsOf(was.ownAclId), await listsOf(is.ownAclId)] as const;
    if (isWider(from, to) || isWider(...own)) widened++;
    if (to?.every(isForAll)) openToWorkspace++;
    for (const name of from?.flat() ?? []) named.before.add(name);
    for (const name of to?.flat() ?? []) named.after.add(name);
  }
  const details = {
    ...trace.details,
    changed: before.size,
    widened,
    isWidened: widened > 0,
    openToWorkspace,
    kbIds: [...before.keys()].slice(0, MAX_NAMED),
    before: summarize([...named.before]),
    after: summarize([...named.after]),
  };
  return { ...trace, details };
}

/** Reads the lists of an access, without the lists that every access of the connector has. */
function makeListsOf(access: Pick<AccessStore, "listsOf">, always: ReadonlySet<Principal>) {
  const kept = new Map<number, Promise<Lists>>();
  const read = async (aclId: number): Promise<Lists> => {
    const lists = await access.listsOf(aclId);
    const isGate = ([first, ...others]: readonly Principal[]) =>
      first !== undefined && others.length === 0 && always.has(first);
    return lists.length === 0 ? undefined : lists.filter((list) => !isGate(list));
  };
  return async (aclId: number | null): Promise<Lists> => {
    if (aclId === null) return [];
    if (aclId <= 0) return undefined;
    const found = kept.get(aclId) ?? read(aclId);
    kept.set(aclId, found);
    return found;
  };
}

/** Whether an access may admit a person that the other one didn't admit, because it drops or widens a list. */
function isWider(before: Lists, after: Lists): boolean {
  if (after === undefined) return false;
  if (before === undefined) return true;
  return !before.every((list) => isForAll(list) || after.some((other) => other.every((name) => list.includes(name))));
}

/** Whether the list admits every member of the workspace. Every reader is a member. */
function isForAll(list: readonly Principal[]): boolean {
  return list.includes("workspace") || list.includes("everyone");
}
