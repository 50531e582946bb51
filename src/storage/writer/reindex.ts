import type { IndexedDocument } from "#storage/search-index.ts";
import type { IndexWriter } from "#storage/index/write/writer.ts";
import { numberOf } from "#storage/index/sqlite.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { inTransaction } from "#storage/transaction.ts";
import { type Query, readPages } from "./read-pages.ts";
import { readStoredDocument } from "#storage/batch/stored-document.ts";

/** Items that are read at once. Their texts are in memory together. */
const PAGE = 16;

/**
 * Rebuilds the indexes that another version of the analyzer made, from the stored texts, in slices of `sliceMs`. The
 * old index answers until the new one is complete; changes in the meantime take precedence. The list of indexes is read
 * again after another process has written, because the operator can request a rebuild of all indexes.
 *
 * @returns a function that does one slice and returns whether it did anything; false = every index is of this version
 */
export function makeReindex(connection: SqliteConnection, index: IndexWriter, sliceMs = 20): () => boolean {
  let outdated: string[] = [];
  let seenVersion: number | undefined;
  let job: Generator<void> | undefined;
  return () => {
    if (outdated.length === 0) {
      // The value changes with each commit of another connection. Reading it takes almost no time.
      const version = numberOf(connection.prepare("PRAGMA data_version"));
      if (version !== seenVersion) outdated = index.outdatedWorkspaces();
      seenVersion = version;
    }
    const [workspaceId] = outdated;
    if (workspaceId === undefined) return false;
    const end = performance.now() + sliceMs;
    inTransaction(connection.raw, () => {
      job ??= index.rebuild(workspaceId, readDocuments(connection, workspaceId));
      let isDone: boolean;
      do isDone = job.next().done === true;
      while (!isDone && performance.now() < end);
      if (!isDone) return;
      job = undefined;
      outdated.shift();
    });
    return true;
  };
}

/**
 * Yields the index documents of a workspace's living items, analyzed again. Yields undefined after each document, as a
 * pause.
 */
function* readDocuments(connection: SqliteConnection, workspaceId: string): Generator<IndexedDocument | undefined> {
  const living =
    'select * from items where "workspaceId" = ? and "kbId" > ? and "removedAt" is null order by "kbId" limit ?';
  const all: Query = (sql, ...values) => connection.execute(sql, [workspaceId, ...values]).rows;
  for (const rows of readPages(all, living, { kbId: "" }, PAGE)) {
    for (const row of rows) {
      yield readStoredDocument(connection, row);
      yield undefined;
    }
  }
}
