import { spawn } from "node:child_process";
import path from "node:path";
import type { IndexedDocument } from "#storage/search-index.ts";
import { oracleSearch } from "./oracle.ts";
import { makeDocument, makeRequest, TestIndex } from "./world.ts";

const QUERIES = ["alpha", "beta gamma", "run", "foo_bar delta alpha", "al*", "gamma -beta", ""];

/** What node starts unless told: the child as it is written. */
const CHILD = ["--import", "tsx", path.join(import.meta.dirname, "kill-child.ts")];

/**
 * Lets a child process write to an index and kills it with signal 9, again and again over the same file; after each
 * kill the file is opened, swept and compared with its records. Gives how many batches were acknowledged in all.
 *
 * @param child  what node starts: a built child is there sooner
 * @throws Error naming the first question that index and records answer differently
 */
export async function killAgainAndAgain(
  rounds: number,
  maxMs: number,
  child: readonly string[] = CHILD,
): Promise<number> {
  const index = new TestIndex();
  try {
    index.access("w1", 1, [["everyone"]]);
    index.access("w1", 2, [["bob"]]);
    index.db.exec("CREATE TABLE records (kbId TEXT PRIMARY KEY, text TEXT, aclId INTEGER)");
    let batches = 0;
    for (let round = 0; round < rounds; round++) {
      batches += await writeUntilKilled([...child, index.file, String(round + 1)], (maxMs * (round + 1)) / rounds);
      index.reopenWriter();
      compare(index, `round ${round}, before compaction`);
      index.compactAll();
      compare(index, `round ${round}, after compaction`);
    }
    return batches;
  } finally {
    index.close();
  }
}

/** Kills the child some time after its first acknowledged batch. */
async function writeUntilKilled(args: readonly string[], killAfterMs: number): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: ["ignore", "pipe", "inherit"] });
  let lines = 0;
  let timer: NodeJS.Timeout | undefined;
  child.stdout.on("data", (data: Buffer) => {
    lines += data.toString().split("\n").length - 1;
    timer ??= setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  });
  const signal = await new Promise((resolve, reject) => {
    child.on("error", reject);
    child.on("exit", (_code, signal) => resolve(signal));
  });
  if (signal !== "SIGKILL") throw new Error("The writing child ended by itself");
  return lines;
}

function compare(index: TestIndex, when: string): void {
  const rows: { kbId: string; text: string; aclId: number }[] = index.db.prepare("SELECT * FROM records").all();
  const documents = new Map<string, IndexedDocument>(rows.map((row) => [row.kbId, makeDocument(row)]));
  const accesses = new Map([
    [1, [["everyone"]]],
    [2, [["bob"]]],
  ]);
  const reader = index.openReader();
  for (const query of QUERIES) {
    for (const principals of [["everyone"], ["bob", "everyone"]]) {
      const request = makeRequest({ query, principals, limit: 100 });
      const digest = ({ hits, total }: { hits: { kbId: string; score: number }[]; total: number }) =>
        JSON.stringify([total, hits.map((hit) => [hit.kbId, hit.score.toFixed(9)])]);
      const expected = digest(oracleSearch({ documents, accesses, texts: new Map() }, request));
      const found = digest(reader.search(request));
      if (found !== expected) {
        const asked = `"${query}" as ${principals.join(" and ")}`;
        throw new Error(`${when}: ${asked} differs from the records\nindex:   ${found}\nrecords: ${expected}`);
      }
    }
  }
}
