/**
 * A worker over a database file with a connector of the reference source: `reference-child.ts FILE PORT [thread]`. Each line
 * of its input is a task, and is answered when nothing is left to do. `thread`: the writer has its own, as in the server.
 * Made to be killed.
 */
import { createInterface } from "node:readline";
import { findSpawnEntry } from "#core/spawn.ts";
import { openReferenceWorker, type Task } from "./reference-worker.ts";

const [file, port, thread] = process.argv.slice(2);
if (!file || !port) throw new Error("Usage: reference-child.ts FILE PORT [thread]");
const worker = await openReferenceWorker(
  file,
  Number(port),
  thread === "thread" ? findSpawnEntry("writer") : undefined,
);
for await (const line of createInterface({ input: process.stdin })) {
  // The parent writes tasks.
  await worker.work(JSON.parse(line) as Task);
  process.stdout.write("done\n");
}
await worker.close();
