import { DatabaseSync } from "@photostructure/sqlite";
import { describe, onTestFinished, test } from "vitest";
import { makeExcerpts } from "#server/adapters/index-embedded/excerpts.ts";
import { ACCESS_DDL } from "./world.ts";

const CHUNK = 20_000;
const options = { maxChars: 240, count: 1 };

/** The store's tables, as far as excerpts read them. */
function makeTables() {
  const db = new DatabaseSync(":memory:");
  onTestFinished(() => db.close());
  for (const ddl of [
    ...ACCESS_DDL,
    "CREATE TABLE items (workspaceId TEXT, kbId TEXT, aclId INTEGER, textHash TEXT, textChars INTEGER, removedAt INTEGER)",
    "CREATE TABLE item_texts (workspaceId TEXT, kbId TEXT, chunk INTEGER, start INTEGER, text TEXT)",
  ]) {
    db.exec(ddl);
  }
  const run = (sql: string, ...values: (string | number | null)[]) => void db.prepare(sql).run(...values);
  run("INSERT INTO access_lists VALUES ('w1', 1, ?)", JSON.stringify(["ann", "bob"]));
  run("INSERT INTO access_lists VALUES ('w1', 2, ?)", JSON.stringify(["staff"]));
  run("INSERT INTO access_lists VALUES ('w2', 3, ?)", JSON.stringify(["ann"]));
  run("INSERT INTO accesses VALUES ('w1', 1, '1')");
  run("INSERT INTO accesses VALUES ('w1', 2, '1,2')");
  run("INSERT INTO accesses VALUES ('w1', 3, '1,3')");
  run("INSERT INTO accesses VALUES ('w1', 4, '')");
  const put = (
    kbId: string,
    text: string,
    { aclId = 1, workspaceId = "w1", removedAt = null as number | null } = {},
  ) => {
    run("DELETE FROM items WHERE kbId = ?", kbId);
    run("DELETE FROM item_texts WHERE kbId = ?", kbId);
    run(
      "INSERT INTO items VALUES (?, ?, ?, ?, ?, ?)",
      workspaceId,
      kbId,
      aclId,
      `hash of ${text}`,
      text.length,
      removedAt,
    );
    for (let start = 0, chunk = 0; start < text.length; start += CHUNK, chunk++) {
      run(
        "INSERT INTO item_texts VALUES (?, ?, ?, ?, ?)",
        workspaceId,
        kbId,
        chunk,
        start,
        text.slice(start, start + CHUNK),
      );
    }
  };
  const excerpts = makeExcerpts(db);
  const of = (kbId: string, text: string, { query = "webhook", principals = ["ann"], workspaceId = "w1" } = {}) => {
    const items = [{ kbId, textHash: `hash of ${text}` }];
    return excerpts({ workspaceId, viewer: { principals, epoch: 1 }, items, query, options })[0];
  };
  return { put, of };
}

describe("excerpts of stored texts", () => {
  test("are passages of the text that was asked for, at its own offsets, wherever it holds the words", ({ expect }) => {
    const { put, of } = makeTables();
    const text = `${"filler. ".repeat(40_000)}The webhook times out. ${"more. ".repeat(40_000)}`;
    put("a", text);
    const [passage] = of("a", text) ?? [];
    expect(passage?.text).toContain("The webhook times out.");
    expect(text.slice(passage?.at, (passage?.at ?? 0) + 30)).toBe(passage?.text.slice(0, 30));
    expect(passage?.highlights).toHaveLength(1);
    expect(of("a", text, { query: " " })?.[0]).toMatchObject({ at: 0, highlights: [] });
  });

  test("are not given of another text than the one that was judged, and not of what is gone", ({ expect }) => {
    const { put, of } = makeTables();
    put("a", "The webhook, second version.");
    expect(of("a", "The webhook, first version.")).toBeUndefined();
    put("b", "webhook", { removedAt: 7 });
    expect(of("b", "webhook")).toBeUndefined();
    expect(of("c", "webhook")).toBeUndefined();
    put("d", "webhook", { workspaceId: "w2" });
    expect(of("d", "webhook")).toBeUndefined();
  });

  test("are given to whom every list of the access names, as the lists are now", ({ expect }) => {
    const { put, of } = makeTables();
    const isGiven = (aclId: number, principals: string[]) => {
      put("a", "webhook", { aclId });
      return of("a", "webhook", { principals }) !== undefined;
    };
    expect(isGiven(1, ["bob"])).toBe(true);
    expect(isGiven(1, ["carol"])).toBe(false);
    expect(isGiven(1, [])).toBe(false);
    expect(isGiven(2, ["ann", "bob"])).toBe(false);
    expect(isGiven(2, ["ann", "staff"])).toBe(true);
    // A list of another workspace is none of this one; no list is nobody; number 0 and one that is not there as well.
    expect(isGiven(3, ["ann"])).toBe(false);
    expect(isGiven(4, ["ann"])).toBe(false);
    expect(isGiven(0, ["ann"])).toBe(false);
    expect(isGiven(9, ["ann"])).toBe(false);
  });
});
