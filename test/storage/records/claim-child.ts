/** Claims jobs of the database file until there are none, printing each: `node claim-child.js FILE OWNER`. */
import { openDatabase } from "#storage/database/db.ts";
import { makeStore } from "#storage/records/store.ts";

const [file, owner] = process.argv.slice(2);
if (!file || !owner) throw new Error("Usage: claim-child.ts FILE OWNER");
const database = await openDatabase({ file });
const { queue } = makeStore(database);
for (;;) {
  const jobs = await queue.claim({ owner, limit: 3, leaseMs: 60_000, now: Date.now() });
  if (jobs.length === 0) break;
  for (const job of jobs) process.stdout.write(`${job.jobId}\n`);
  // Lets the other process have a turn, whatever the scheduler does.
  await new Promise((resolve) => setImmediate(resolve));
}
await database.close();
