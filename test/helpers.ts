import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { openDatabase, type Database } from "#server/adapters/sql/db.ts";
import { makeStore } from "#server/adapters/sql/store.ts";
import type { Store } from "#server/ports/store.ts";

/** A folder that goes away with the test. */
export function tempDir(): string {
  const dir = mkdtempSync(join(tmpdir(), "kb-test-"));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
}

/** A real database of its own for the test, writer inline. */
export async function openTestStore(): Promise<{ database: Database; store: Store }> {
  const database = await openDatabase({ file: join(tempDir(), "kb.db") });
  onTestFinished(() => database.close());
  return { database, store: makeStore(database) };
}
