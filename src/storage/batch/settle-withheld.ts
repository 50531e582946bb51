import type { IndexChange, SearchIndexWriter } from "#storage/search-index.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { inTransaction } from "#storage/transaction.ts";
import { stateUnder } from "./work.ts";
import { makeConjoin } from "./conjunction.ts";
import { makeEffectiveAccess } from "./effective-access.ts";
import { makeInterner } from "./intern.ts";
import { isLiving, makeItemRows } from "./item-rows.ts";

/** How many items are processed between two checks of the clock. */
const PAGE = 32;
const SLICE_MS = 18;

/** Limits of one slice. Default: as many items as fit into a slice of time. */
export interface SettleWithheldArgs {
  items?: number;
}

/**
 * Computes the current access of withheld items, one slice at a time. The queue is in the database, so after a restart
 * it continues where it stopped. Each access is computed from what the item and its parents name themselves, so neither
 * the order nor changes between two slices matter.
 *
 * @returns a function that does one slice and returns whether there was anything to do
 */
export function makeSettleWithheld(
  connection: SqliteConnection,
  index: SearchIndexWriter,
  noteAccess: (workspaceId: string, aclId: number) => void,
) {
  const next = connection.prepare("select workspaceId, connectorId from withheld_items limit 1");

  return ({ items = Number.POSITIVE_INFINITY }: SettleWithheldArgs = {}): boolean => {
    // The query selects the primary key of the table.
    const of = next.get() as { workspaceId: string; connectorId: string } | undefined;
    if (of === undefined) return false;
    const end = performance.now() + SLICE_MS;
    inTransaction(connection.raw, () => {
      const settle = makeSettle(connection, index, of, (aclId) => noteAccess(of.workspaceId, aclId));
      for (let left = items; left > 0 && performance.now() < end; left -= PAGE) {
        if (settle(Math.min(left, PAGE)) < PAGE) break;
      }
    });
    return true;
  };
}

/** Makes a function that settles some of a connector's items at a time and returns how many. */
function makeSettle(
  connection: SqliteConnection,
  index: SearchIndexWriter,
  { workspaceId, connectorId }: { workspaceId: string; connectorId: string },
  noteAccess: (aclId: number) => void,
): (limit: number) => number {
  const rows = makeItemRows(connection, workspaceId, connectorId, noteAccess);
  const interner = makeInterner(connection, workspaceId);
  const effective = makeEffectiveAccess(rows.find, makeConjoin(interner));
  return (limit) => {
    const kbIds = rows.withheld(limit);
    const changes: IndexChange[] = [];
    for (const kbId of kbIds) {
      const item = rows.findByKbId(kbId);
      rows.endHiding(kbId);
      if (!isLiving(item)) continue;
      const { aclId } = effective.of(item);
      if (aclId === item.aclId) continue;
      rows.set(kbId, { aclId, indexState: stateUnder(aclId, item) });
      changes.push({ type: "access", kbId, aclId });
    }
    interner.save();
    index.apply(workspaceId, changes);
    return kbIds.length;
  };
}
