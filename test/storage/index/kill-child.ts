import { DatabaseSync } from "@photostructure/sqlite";
import { makeIndexWriter } from "#storage/index/write/writer.ts";
import { makeRandom } from "../../bench/search-corpus.ts";
import { makeDocument, TINY_LIMITS } from "./world.ts";

/**
 * Writes records and index together until it is killed: `node kill-child.ts FILE SEED`. Prints a line for each
 * acknowledged batch.
 */
const [file = "", seed = "1"] = process.argv.slice(2);
const db = new DatabaseSync(file, { timeout: 5_000 });
const writer = makeIndexWriter(db, { limits: TINY_LIMITS, sliceMs: 0.3 });
const random = makeRandom(Number(seed));
const WORDS = ["alpha", "beta", "gamma", "delta", "running", "foo_bar"];

db.exec("BEGIN IMMEDIATE");
writer.sweep();
db.exec("COMMIT");

for (let batch = 0; ; batch++) {
  const changes = Array.from({ length: 1 + Math.floor(random() * 6) }, () => {
    const kbId = `kbi_${Math.floor(random() * 60)}`;
    const text = Array.from({ length: 6 }, () => WORDS[Math.floor(random() * WORDS.length)] ?? "").join(" ");
    return { kbId, text, aclId: 1 + Math.floor(random() * 2), isRemoval: random() < 0.2 };
  });
  db.exec("BEGIN IMMEDIATE");
  for (const { kbId, text, aclId, isRemoval } of changes) {
    if (isRemoval) db.prepare("DELETE FROM records WHERE kbId = ?").run(kbId);
    else db.prepare("INSERT OR REPLACE INTO records VALUES (?, ?, ?)").run(kbId, text, aclId);
  }
  if (batch % 9 === 8 && changes.every((change) => !change.isRemoval)) writer.bulk("w1", changes.map(makeDocument));
  else {
    const toChange = (change: (typeof changes)[number]) =>
      change.isRemoval
        ? ({ type: "remove", kbId: change.kbId } as const)
        : ({ type: "upsert", document: makeDocument(change) } as const);
    writer.apply("w1", changes.map(toChange));
  }
  db.exec("COMMIT");
  process.stdout.write(`${batch}\n`);
  for (let slices = Math.floor(random() * 12); slices > 0; slices--) writer.nextCompactionSlice();
}
