import type { ItemKind, TaskStatus } from "#api/common.ts";
import { analyzeDocument } from "#server/analysis/analyzer.ts";
import type { IndexedDocument } from "#server/ports/search-index.ts";
import type { IndexWriter } from "../../index-embedded/writer.ts";
import type { SqliteConnection } from "../sqlite.ts";
import type { ItemsTable } from "../schema.ts";
import { inTransaction } from "../transaction.ts";

/** Items read at once: their texts are in memory together. */
const PAGE = 16;

/**
 * Rebuilds the indexes that another version of the analyzer made, from the stored texts, in slices of `sliceMs`. The old
 * index answers until its successor is complete; changes in the meantime win.
 *
 * @returns a function that does one slice and says whether it did anything; false = every index is of this version
 */
export function makeReindex(connection: SqliteConnection, index: IndexWriter, sliceMs = 20): () => boolean {
  let outdated: string[] | undefined;
  let job: Generator<void> | undefined;
  return () => {
    outdated ??= index.outdatedWorkspaces();
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
      outdated?.shift();
    });
    return true;
  };
}

/** The living items of a workspace as the index wants them, analyzed anew; undefined after each, for a pause. */
function* readDocuments(connection: SqliteConnection, workspaceId: string): Generator<IndexedDocument | undefined> {
  let after = "";
  for (;;) {
    const { rows } = connection.execute(
      'select * from items where "workspaceId" = ? and "kbId" > ? and "removedAt" is null order by "kbId" limit ?',
      [workspaceId, after, PAGE],
    );
    for (const row of rows) {
      // A row of the table that `schema.ts` describes.
      const item = row as unknown as ItemsTable;
      yield toDocument(connection, item);
      yield undefined;
      after = item.kbId;
    }
    if (rows.length < PAGE) return;
  }
}

function toDocument(connection: SqliteConnection, item: ItemsTable): IndexedDocument {
  const { workspaceId, kbId } = item;
  const texts = connection.execute(
    'select text from item_texts where "workspaceId" = ? and "kbId" = ? order by chunk',
    [workspaceId, kbId],
  ).rows;
  const entities = connection.execute(
    'select "entityId", role from item_entities where "workspaceId" = ? and "kbId" = ? order by "entityId", role',
    [workspaceId, kbId],
  ).rows;
  const idsOf = (...roles: string[]) => [
    ...new Set(entities.filter(({ role }) => roles.includes(String(role))).map(({ entityId }) => String(entityId))),
  ];
  return {
    kbId,
    // Written by the sync engine from the same unions.
    kind: item.kind as ItemKind,
    status: item.status as TaskStatus | null,
    providerId: item.providerId,
    source: item.source,
    connectorId: item.connectorId,
    aclId: item.aclId,
    updatedAt: item.updatedAt,
    createdAt: item.createdAt,
    dueAt: item.dueAt,
    people: idsOf("author", "assignee", "participant"),
    assignees: idsOf("assignee"),
    containers: idsOf("container", "label"),
    text: analyzeDocument({
      title: item.title,
      // Written by the same engine as JSON arrays of text.
      path: JSON.parse(item.path) as string[],
      labels: JSON.parse(item.labels) as string[],
      text: texts.map(({ text }) => String(text)).join(""),
    }),
  };
}
