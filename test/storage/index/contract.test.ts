import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import { migrate } from "#storage/database/migrate.ts";
import { openWriter } from "#storage/sqlite.ts";
import { searchIndexContract } from "../search-index.contract.ts";
import { makeDocument, TestIndex, TINY_LIMITS } from "./world.ts";

searchIndexContract(async () => {
  const test = new TestIndex(TINY_LIMITS, await (migrated ??= makeMigrated()));
  test.db.exec("PRAGMA foreign_keys=OFF");
  for (const workspaceId of ["w1", "w2"])
    insert(test, "access_state", { workspaceId, epoch: 1, nextListId: 1, nextAclId: 1 });
  const index = makeSearchPool({ file: test.file, size: 0 });
  return {
    index,
    transaction: async (work) => test.transaction(() => work(test.writer)),
    upkeep: async (workspaceId) => test.compactAll(workspaceId),
    access: async (workspaceId, aclId, lists) => test.access(workspaceId, aclId, lists),
    document: makeDocument,
    async record(workspaceId, { kbId, title, text, aclId }) {
      const ids = { workspaceId, kbId, connectorId: "con_1", externalId: kbId };
      const facts = { providerId: "filesystem", source: "filesystem:docs", kind: "file", title };
      const json = { path: "[]", sections: "[]", labels: "[]", fields: "{}", assignees: "[]" };
      const state = { textHash: "h", textChars: text.length, indexedAt: 0, indexState: "indexed", aclId };
      insert(test, "items", { ...ids, ...facts, ...json, ...state });
      insert(test, "item_texts", { workspaceId, kbId, chunk: 0, start: 0, text });
    },
    close: async () => {
      await index.close();
      test.close();
    },
  };
});

let migrated: Promise<Buffer> | undefined;

/** A database with every table of the store: `show` reads records and texts. */
async function makeMigrated(): Promise<Buffer> {
  const folder = mkdtempSync(join(tmpdir(), "kb-index-"));
  try {
    const connection = openWriter(join(folder, "kb.db"), "normal");
    await migrate(connection);
    connection.raw.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    connection.close();
    return readFileSync(join(folder, "kb.db"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function insert(test: TestIndex, table: string, row: Record<string, string | number>): void {
  const columns = Object.keys(row);
  const places = columns.map(() => "?").join(", ");
  test.db.prepare(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places})`).run(...Object.values(row));
}
