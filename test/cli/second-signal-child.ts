/** A program with a thread that is nearly always in a call of SQLite's binding: says `ready`, and ends by signals alone. */
import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { makeHost } from "#cli/host/host.ts";

const THREAD = `
  const { parentPort } = require("node:worker_threads");
  const { DatabaseSync } = require("@photostructure/sqlite");
  const rows = new DatabaseSync(":memory:").prepare("select value, 'text' as text from json_each(?)");
  const list = JSON.stringify(Array.from({ length: 500 }, (_, i) => i));
  parentPort.postMessage("ready");
  for (;;) rows.all(list);
`;

makeHost(process, (code) => process.exit(code));
await once(new Worker(THREAD, { eval: true }), "message");
process.stdout.write("ready\n");
