import type { IndexedDocument } from "#storage/search-index.ts";
import type { IndexWriter } from "#storage/index/write/writer.ts";
import { numberOf } from "#storage/index/sqlite.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { inTransaction } from "#storage/transaction.ts";
import { type Query, readPages } from "./read-pages.ts";
import { readStoredDocument } from "#storage/batch/stored-document.ts";

/** Items read at once: their texts are in memory together. */
const PAGE = 16;

/**
 * Rebuilds the indexes that another version of the analyzer made, from the stored texts, in slices of `sliceMs`. The
 * old index answers until its successor is complete; changes in the meantime take precedence. The list of indexes is
 * read again after another process has written, because the operator can request a rebuild of all of them.
 *
 * @returns a function that does one slice and returns whether it did anything; false = every index is of this version
 */
export function makeReindex(connection: SqliteConnection, index: IndexWriter, sliceMs = 20): () => boolean {
  let outdated: string[] = [];
  let seenVersion: number | undefined;
  let job: Generator<void> | undefined;
  return () => {
    if (outdated.length === 0) {
      // Changes with each commit of another connection; reading it costs almost nothing.
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

/** The index documents of a workspace's living items, analyzed again; undefined after each, for a pause. */
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
