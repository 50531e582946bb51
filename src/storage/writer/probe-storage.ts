import { rmSync, writeFileSync } from "node:fs";
import type { SqliteConnection } from "#storage/sqlite.ts";

/** The number of bytes that an ordinary batch may need. */
const ROOM_BYTES = 1024 * 1024;

/**
 * The procedure `probeStorage`, which checks that the disk and the database have space for a batch. Uncommitted data
 * isn't written to a file, so a file size limit shows only when that much data is committed. The probe leaves free
 * pages, which the next batch reuses. Throws the error that a batch would.
 */
export function probeStorage({ raw, execute }: SqliteConnection): void {
  const [main] = execute("select file from pragma_database_list where name = 'main'", []).rows;
  const file = `${String(main?.["file"])}-probe`;
  try {
    writeFileSync(file, new Uint8Array(ROOM_BYTES), { mode: 0o600 });
  } finally {
    rmSync(file, { force: true });
  }
  try {
    raw.exec("BEGIN IMMEDIATE");
    raw.exec("DROP TABLE IF EXISTS probe");
    raw.exec("CREATE TABLE probe (room BLOB)");
    raw.exec(`INSERT INTO probe VALUES (zeroblob(${ROOM_BYTES}))`);
    raw.exec("COMMIT");
  } finally {
    if (raw.isTransaction) raw.exec("ROLLBACK");
  }
  raw.exec("DROP TABLE probe");
}
