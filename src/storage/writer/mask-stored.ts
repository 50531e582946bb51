import { createHash } from "node:crypto";
import { maskedOffset } from "#text/secrets/cut.ts";
import { nameKeyOf } from "#text/name-key.ts";
import { maskSecrets } from "#text/secrets/mask.ts";
import type { SearchIndexWriter } from "#storage/search-index.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";
import { inTransaction } from "#storage/transaction.ts";
import { writeTextRows } from "#storage/batch/item-rows.ts";
import {
  MASKED_COLUMNS,
  type MaskableRow,
  moveSections,
  parseMaskable,
  readStoredDocument,
  readStoredText,
} from "#storage/batch/stored-document.ts";

export interface MaskStoredArgs {
  workspaceId: string;
  afterKbId: string;
}

const PAGE = 64;
const SLICE_MS = 20;

/**
 * The procedure `maskStored`, which masks the secrets in the texts and records after a kbId, for one slice of time, and
 * indexes the changes. It includes removed items, because they can be restored.
 */
export function makeMaskStored(connection: SqliteConnection, index: Pick<SearchIndexWriter, "apply">) {
  return ({ workspaceId, afterKbId }: MaskStoredArgs): string | null =>
    inTransaction(connection.raw, () => {
      const end = performance.now() + SLICE_MS;
      const { rows } = connection.execute(
        "select * from items where workspaceId = ? and kbId > ? order by kbId limit ?",
        [workspaceId, afterKbId, PAGE],
      );
      for (const [at, row] of rows.entries()) {
        const item = parseMaskable(row);
        const masked = maskRow(connection, item);
        if (masked !== undefined && item.removedAt === null) {
          index.apply(workspaceId, [{ type: "upsert", document: readStoredDocument(connection, masked) }]);
        }
        if (performance.now() >= end && at < rows.length - 1) return item.kbId;
      }
      return rows.length < PAGE ? null : String(rows.at(-1)?.["kbId"]);
    });
}

/** The columns that may hold a secret. The JSON columns contain texts, and a mask needs no escaping in them. */
const COLUMNS = [...MASKED_COLUMNS, "sections"] as const;

/** Masks the secrets in the row and its text. @returns the row as it is now; undefined = nothing was masked */
function maskRow(connection: SqliteConnection, item: MaskableRow): MaskableRow | undefined {
  const { workspaceId, kbId } = item;
  const text = maskSecrets(readStoredText(connection, item));
  let count = text.cuts.length;
  const changes: Record<string, string | number | null> = {};
  let { sections } = item;
  for (const column of COLUMNS) {
    const words = item[column];
    if (words === null) continue;
    const masked = maskSecrets(words);
    count += masked.cuts.length;
    if (masked.cuts.length === 0) continue;
    changes[column] = masked.text;
    if (column === "sections") sections = masked.text;
  }
  count += maskNames(connection, item);
  if (count === 0) return undefined;
  if (text.cuts.length > 0) {
    changes["sections"] = moveSections(sections, (start) => maskedOffset(text.cuts, start));
    changes["textHash"] = createHash("sha256").update(text.text, "utf8").digest("hex");
    changes["textChars"] = text.text.length;
    rewriteText(connection, item, text.text);
  }
  changes["maskedSecrets"] = item.maskedSecrets + count;
  // The hash is recomputed when the source next reports the item.
  changes["indexHash"] = null;
  const assignments = Object.keys(changes).map((column) => `"${column}" = ?`);
  connection.execute(`update items set ${assignments.join(", ")} where workspaceId = ? and kbId = ?`, [
    ...Object.values(changes),
    workspaceId,
    kbId,
  ]);
  return parseMaskable({ ...item, ...changes });
}

/**
 * Masks the secrets in names that the item shows. @returns the number of secrets in names that aren't in a column of
 * the item
 */
function maskNames(connection: SqliteConnection, { workspaceId, kbId }: MaskableRow): number {
  let count = 0;
  const { rows } = connection.execute(
    "select entityId, role, name, login, email from item_entities where workspaceId = ? and kbId = ?",
    [workspaceId, kbId],
  );
  for (const { entityId, role, name, login, email } of rows) {
    const masked = maskSecrets(String(name));
    if (masked.cuts.length === 0) continue;
    if (role === "container" || role === "participant") count += masked.cuts.length;
    const names = [masked.text, login, email].filter((text) => typeof text === "string");
    connection.execute(
      "update item_entities set name = ?, nameKey = ? where workspaceId = ? and kbId = ? and entityId = ? and role = ?",
      [masked.text, names.map(nameKeyOf).join(" "), workspaceId, kbId, String(entityId), String(role)],
    );
  }
  return count;
}

function rewriteText(connection: SqliteConnection, item: MaskableRow, text: string): void {
  const { workspaceId, kbId } = item;
  const of = [workspaceId, kbId];
  const [first] = connection.execute(
    "select line from item_texts where workspaceId = ? and kbId = ? and chunk = 0",
    of,
  ).rows;
  connection.execute("delete from item_texts where workspaceId = ? and kbId = ?", of);
  const line = first?.["line"];
  writeTextRows(connection, item, text, typeof line === "number" ? line : null);
}
