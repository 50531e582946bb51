import { sql as raw } from "kysely";
import { AFTER_CHILDREN, CHILD_MARK } from "#core/child-ids.ts";
import type { SqlHandles } from "#storage/handles.ts";

/** Returns the current version of the reader of this media type. */
export type ReaderVersionOf = (reader: string) => number;

/**
 * Limit of how long an item waits to be read again. A regular wait is at most a day. A time further ahead was set by an
 * earlier kb or by a fault, and is ignored.
 */
const LONGEST_WAIT_MS = 2 * 86_400_000;

/** The source item of a row: the item itself, or the one that contains it. */
const OUTERMOST = raw<string>`case instr(i."externalId", ${CHILD_MARK}) when 0 then i."externalId"
  else substr(i."externalId", 1, instr(i."externalId", ${CHILD_MARK}) - 1) end`;

/**
 * Finds items of a connector to read again: those that an older reader than the program's has read or failed on, and
 * those that the time limit cut short.
 */
export function makeOlderItemStore(sql: SqlHandles, workspaceId: string) {
  /** Returns every reader that has read something of a connector, by one index look-up for each. */
  async function listReaders(connectorId: string): Promise<string[]> {
    const next = (after: ReturnType<typeof raw>) => raw`(select min(i."reader") from items as i
      where i."workspaceId" = ${workspaceId} and i."connectorId" = ${connectorId} and i."reader" > ${after})`;
    const { rows } = await raw<{ reader: string }>`with recursive readers(reader) as (
        select ${next(raw`''`)} union all
        select ${next(raw`readers.reader`)} from readers where readers.reader is not null
      ) select reader from readers where reader is not null`.execute(sql.read);
    return rows.map(({ reader }) => reader);
  }

  /** Returns the readers of a connector that may be older than the program's, with the program's version, as JSON. */
  async function newestOf(connectorId: string, versionOf: ReaderVersionOf): Promise<string> {
    const readers = await listReaders(connectorId);
    return JSON.stringify(Object.fromEntries(readers.map((reader) => [reader, versionOf(reader)])));
  }

  /** Selects rows `i` that an older reader has read. */
  const older = (connectorId: string, newest: string) => raw`json_each(${newest}) as newest
    cross join items as i on i."workspaceId" = ${workspaceId} and i."connectorId" = ${connectorId}
      and i."reader" = newest.key and i."readerVersion" < newest.value and i."removedAt" is null`;

  /** Selects rows `i` that the time limit cut short and that are read again for that reason. */
  const cut = (connectorId: string) => raw`items as i indexed by items_by_cut
    where i."workspaceId" = ${workspaceId} and i."connectorId" = ${connectorId} and i."cutRetries" > 0
      and i."removedAt" is null`;

  return {
    /** Counts living items that are read again, files inside files included. */
    async countOlder(connectorId: string, versionOf: ReaderVersionOf): Promise<number> {
      const newest = await newestOf(connectorId, versionOf);
      const isOlder = raw`exists (select 1 from json_each(${newest}) as newest
        where i."reader" = newest.key and i."readerVersion" < newest.value)`;
      const { rows } = await raw<{ count: number }>`select (select count(*) from ${older(connectorId, newest)})
        + (select count(*) from ${cut(connectorId)} and not ${isOlder}) as count`.execute(sql.read);
      return Number(rows[0]?.count ?? 0);
    },

    /**
     * Returns items of the source that are read again, or that contain something that is, at most `limit`; without
     * those that are tried again later.
     */
    async listOlder(
      connectorId: string,
      versionOf: ReaderVersionOf,
      { now, limit }: { now: number; limit: number },
    ): Promise<string[]> {
      const newest = await newestOf(connectorId, versionOf);
      const isLater = (column: string) =>
        raw`coalesce(${raw.ref(column)}, 0) between ${now + 1} and ${now + LONGEST_WAIT_MS}`;
      const isDue = raw`not (${isLater("i.readAgainAt")} or ${isLater("i.retryAt")})`;
      const { rows } = await raw<{ externalId: string }>`
        select ${OUTERMOST} as "externalId" from ${older(connectorId, newest)} where ${isDue}
        union select ${OUTERMOST} as "externalId" from ${cut(connectorId)} and ${isDue}
        limit ${limit}`.execute(sql.read);
      return rows.map(({ externalId }) => externalId);
    },

    /**
     * Returns those of these items of the source that are read again, or that contain something that is. Items that
     * were cut by the time limit are included only if they were read before `cutBefore`.
     */
    async olderAmong(
      connectorId: string,
      versionOf: ReaderVersionOf,
      externalIds: readonly string[],
      cutBefore = Number.MAX_SAFE_INTEGER,
    ): Promise<Set<string>> {
      if (externalIds.length === 0) return new Set();
      const newest = await newestOf(connectorId, versionOf);
      const asked = JSON.stringify(externalIds);
      const isAsked = raw`(i."externalId" = asked.value or (
        i."externalId" >= asked.value || ${CHILD_MARK} and i."externalId" < asked.value || ${AFTER_CHILDREN}))`;
      // Works item by item, so that the cost depends only on the number of these items.
      const { rows } = await raw<{ externalId: string }>`select asked.value as "externalId"
        from json_each(${asked}) as asked where exists (
          select 1 from items as i join json_each(${newest}) as newest
            on i."reader" = newest.key and i."readerVersion" < newest.value
          where i."workspaceId" = ${workspaceId} and i."connectorId" = ${connectorId} and i."removedAt" is null
            and ${isAsked}
        ) or exists (select 1 from ${cut(connectorId)} and i."indexedAt" < ${cutBefore} and ${isAsked})`.execute(
        sql.read,
      );
      return new Set(rows.map(({ externalId }) => externalId));
    },

    /** Sets when these items and the items in them are tried again, if they are still older then; null = at once. */
    async readAgainAt(connectorId: string, externalIds: readonly string[], at: number | null): Promise<void> {
      if (externalIds.length === 0) return;
      const asked = JSON.stringify(externalIds);
      const own = raw`"workspaceId" = ${workspaceId} and "connectorId" = ${connectorId}`;
      await raw`update items set "readAgainAt" = ${at}
        where ${own} and "externalId" in (select value from json_each(${asked}))`.execute(sql.write);
      await raw`update items set "readAgainAt" = ${at} where ${own} and "kbId" in (
        select i."kbId" from json_each(${asked}) as asked cross join items as i
          on i."workspaceId" = ${workspaceId} and i."connectorId" = ${connectorId}
            and i."externalId" >= asked.value || ${CHILD_MARK} and i."externalId" < asked.value || ${AFTER_CHILDREN})`.execute(
        sql.write,
      );
    },
  };
}
