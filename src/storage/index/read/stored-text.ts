import type { ReadText } from "./phrases.ts";
import { type Database, makeStatements } from "#storage/index/sqlite.ts";

/**
 * Reads the fields for phrases from the store's tables: title, path segments, labels, and the text joined from its
 * chunks.
 */
export function makeStoredText(db: Database): ReadText {
  const sql = makeStatements(db);
  return (workspaceId, kbId, most = Number.MAX_SAFE_INTEGER) => {
    const item: unknown = sql("SELECT title, path, labels FROM items WHERE workspaceId = ? AND kbId = ?").get(
      workspaceId,
      kbId,
    );
    if (item === undefined) return undefined;
    // The columns of the store's table `items`: a text and two JSON arrays of texts.
    const { title, path, labels } = item as { title: string; path: string; labels: string };
    const chunks = sql("SELECT text FROM item_texts WHERE workspaceId = ? AND kbId = ? AND start < ? ORDER BY chunk")
      .all(workspaceId, kbId, most)
      .map((row) => String(row.text));
    return [title, ...(JSON.parse(path) as string[]), ...(JSON.parse(labels) as string[]), chunks.join("")];
  };
}
