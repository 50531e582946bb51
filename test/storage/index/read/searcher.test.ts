import { setImmediate } from "node:timers/promises";
import { expect, test } from "vitest";
import { openSearcher } from "#storage/index/read/searcher.ts";
import { makeRequest, TestIndex } from "../world.ts";

test("a pause in which the file can't be read ends nothing: the next question says so", async () => {
  const index = new TestIndex();
  index.access("w1", 1, [["everyone"]]);
  index.put("w1", { kbId: "kbi_a", text: "alpha beta" });
  const searcher = openSearcher({ file: index.file });
  const uncaught: unknown[] = [];
  const others = process.listeners("uncaughtException");
  process.removeAllListeners("uncaughtException").on("uncaughtException", (error) => uncaught.push(error));
  const search = (query: string) => searcher.perform({ type: "search", request: makeRequest({ query }) });
  try {
    search("gamma");
    index.db.exec("ALTER TABLE index_delta RENAME TO gone");
    for (let i = 0; i < 5; i++) await setImmediate();
    expect(uncaught).toEqual([]);
    expect(() => search("alpha")).toThrow("index_delta");
    index.db.exec("ALTER TABLE gone RENAME TO index_delta");
    index.put("w1", { kbId: "kbi_b", text: "alpha" });
    expect(search("alpha")).toMatchObject({ total: 2 });
  } finally {
    process.removeAllListeners("uncaughtException");
    for (const listener of others) process.on("uncaughtException", listener);
    searcher.close();
    index.close();
  }
});
