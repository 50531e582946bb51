import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { makeSearchTally } from "#storage/search-tally.ts";
import { startWriterThread } from "#storage/writer/client.ts";
import { tempDir } from "../../temp-dir.ts";

test("a writer that closes lets its thread end by itself: force aborts the process in a call of SQLite", async () => {
  const dir = tempDir();
  const ended = join(dir, "ended");
  const entry = join(dir, "slow.mjs");
  writeFileSync(
    entry,
    `import { writeFileSync } from "node:fs";
     import { parentPort } from "node:worker_threads";
     parentPort.on("message", ({ id }) => {
       parentPort.postMessage({ id, ok: true });
       parentPort.close();
       setTimeout(() => writeFileSync(${JSON.stringify(ended)}, ""), 200);
     });`,
  );
  const writer = startWriterThread(entry, {
    file: join(dir, "kb.db"),
    durability: "full",
    searches: makeSearchTally().memory,
  });
  await writer.close();
  expect(existsSync(ended)).toBe(true);
  await writer.close();
});
