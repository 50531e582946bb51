import { spawn } from "node:child_process";
import { join } from "node:path";
import { test } from "vitest";
import { openDatabase } from "#storage/database/db.ts";
import { makeStore } from "#storage/records/store.ts";
import { buildChild } from "../../extract/build-child.ts";
import { tempDir } from "../../temp-dir.ts";

test("two processes on one file never get the same job", { timeout: 120_000 }, async ({ expect }) => {
  const file = join(tempDir(), "kb.db");
  const database = await openDatabase({ file });
  const { queue } = makeStore(database);
  const jobs = 60;
  for (let i = 0; i < jobs; i++) {
    await queue.enqueue({ workspaceId: "w", type: "sync", dedupeKey: `j${i}`, payload: {}, priority: 1, runAt: 0 });
  }
  await database.close();
  const script = await buildChild("test/storage/records/claim-child.ts");
  const claimed = await Promise.all(["a", "b"].map((owner) => runChild([script, file, owner])));
  expect(claimed.flat().sort()).toEqual(Array.from({ length: jobs }, (_, i) => `j${i}`).sort());
});

function runChild(args: string[]): Promise<string[]> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args);
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
    child.stderr.on("data", (chunk: Buffer) => process.stderr.write(chunk));
    child.on("exit", (code) => {
      if (code === 0) resolve(output.trim().split("\n").filter(Boolean));
      else reject(new Error(`The child ended with ${code}.`));
    });
  });
}
