import { rmSync, writeFileSync } from "node:fs";
import type { SqliteConnection } from "#storage/sqlite.ts";

/** What an ordinary batch may need. */
const ROOM_BYTES = 1024 * 1024;

/**
 * The procedure `probeStorage`: whether there is room for a batch, on the disk and in the database. Leaves nothing
 * behind. Throws what a batch would.
 */
export function probeStorage({ raw, execute }: SqliteConnection): void {
  const [main] = execute("select file from pragma_database_list where name = 'main'", []).rows;
  const file = `${String(main?.["file"])}-probe`;
  try {
    writeFileSync(file, new Uint8Array(ROOM_BYTES), { mode: 0o600 });
  } finally {
    rmSync(file, { force: true });
  }
  raw.exec("BEGIN IMMEDIATE");
  try {
    raw.exec("CREATE TABLE probe (room BLOB)");
    raw.exec(`INSERT INTO probe VALUES (zeroblob(${ROOM_BYTES}))`);
  } finally {
    if (raw.isTransaction) raw.exec("ROLLBACK");
  }
  // A commit that changes nothing still writes.
  const [version] = execute("select user_version from pragma_user_version", []).rows;
  raw.exec(`PRAGMA user_version=${Number(version?.["user_version"] ?? 0)}`);
}
