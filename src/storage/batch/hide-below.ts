import type { SqliteConnection } from "#storage/sqlite.ts";

/** The cross joins fix the order of the tables, so that the rows are found once and only by the index of children. */
const GATHER = `
  insert into withheld_now
  with recursive below(externalId, row) as (
    select value, 0 from json_each(?3)
    union
    select i.externalId, i.rowid from below b cross join items i indexed by items_by_parent
    where i.workspaceId = ?1 and i.connectorId = ?2 and i.parentExternalId = b.externalId and i.removedAt is null
  )
  select i.rowid, i.kbId, i.aclId <> 0 from below b cross join items i where b.row > 0 and i.rowid = b.row`;

/**
 * Hides every living item below these from everyone, and queues them for `makeSettleWithheld`. This takes a few
 * statements, so it runs in one transaction with the change that requires it. For many items, it takes a fraction of
 * the time that computing their accesses would.
 *
 * @returns the kbIds of the items that someone could read until now, for the index
 */
export function hideBelow(
  connection: SqliteConnection,
  { workspaceId, connectorId }: { workspaceId: string; connectorId: string },
  externalIds: readonly string[],
): string[] {
  const run = (sql: string, ...values: string[]) => connection.prepare(sql).run(...values);
  // Rowids are valid in one transaction only, because a backup may renumber rows.
  connection.raw.exec(
    "create temp table if not exists withheld_now (row integer primary key, kbId text, isOpen integer)",
  );
  run("delete from withheld_now");
  run(GATHER, workspaceId, connectorId, JSON.stringify(externalIds));
  run(
    "insert or ignore into withheld_items (workspaceId, connectorId, kbId) select ?, ?, kbId from withheld_now order by kbId",
    workspaceId,
    connectorId,
  );
  // Sets the same state as `stateOf` for an access that is open to no one; held items stay held.
  run(`update items set aclId = 0, indexState = case indexState when 'held' then 'held' else 'unsearchable' end
    where rowid in (select row from withheld_now where isOpen)`);
  const rows = connection.prepare("select json_group_array(kbId) as kbIds from withheld_now where isOpen").all();
  run("delete from withheld_now");
  // An aggregate over kbIds returns one row.
  return (rows as { kbIds: string }[]).flatMap(({ kbIds }) => JSON.parse(kbIds) as string[]);
}
