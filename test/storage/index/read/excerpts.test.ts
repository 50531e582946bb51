import { DatabaseSync } from "@photostructure/sqlite";
import { describe, onTestFinished, test } from "vitest";
import { makeExcerpts, makeFinder } from "#storage/index/read/excerpts.ts";
import { makeStatements } from "#storage/index/sqlite.ts";
import { parseQuery } from "#text/query.ts";
import { ACCESS_DDL } from "../world.ts";

const CHUNK = 20_000;
const options = { maxChars: 240, count: 1 };

/** The store's tables, as far as excerpts read them. */
function makeTables() {
  const db = new DatabaseSync(":memory:");
  onTestFinished(() => db.close());
  for (const ddl of [
    ...ACCESS_DDL,
    "CREATE TABLE items (workspaceId TEXT, kbId TEXT, aclId INTEGER, textHash TEXT, textChars INTEGER, removedAt INTEGER)",
    "CREATE TABLE item_texts (workspaceId TEXT, kbId TEXT, chunk INTEGER, start INTEGER, text TEXT, line INTEGER)",
  ]) {
    db.exec(ddl);
  }
  const run = (sql: string, ...values: (string | number | null)[]) => void db.prepare(sql).run(...values);
  run("INSERT INTO access_lists VALUES ('w1', 1, ?, 0)", JSON.stringify(["ann", "bob"]));
  run("INSERT INTO access_lists VALUES ('w1', 2, ?, 0)", JSON.stringify(["staff"]));
  run("INSERT INTO access_lists VALUES ('w2', 3, ?, 0)", JSON.stringify(["ann"]));
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
        "INSERT INTO item_texts VALUES (?, ?, ?, ?, ?, NULL)",
        workspaceId,
        kbId,
        chunk,
        start,
        text.slice(start, start + CHUNK),
      );
    }
  };
  // A still clock: how long it takes is no matter of these tests.
  const sql = makeStatements(db);
  const finder = makeFinder(db, () => 0);
  const of = (kbId: string, text: string, query = "webhook") => {
    const item = { kbId, textChars: text.length, sections: [], url: null, lineAnchor: null };
    return makeExcerpts(sql, "w1", parseQuery(query), options)(item, () => false);
  };
  const find = (kbId: string, text: string, query: string, principals = ["ann"]) => {
    const item = { kbId, textHash: `hash of ${text}` };
    return finder({ workspaceId: "w1", viewer: { principals, epoch: 1 }, item, query });
  };
  return { put, of, find, db };
}

describe("excerpts of stored texts", () => {
  test("are passages of the text that was asked for, at its own offsets, wherever it holds the words", ({ expect }) => {
    const { put, of } = makeTables();
    const text = `${"filler. ".repeat(40_000)}The webhook times out. ${"more. ".repeat(40_000)}`;
    put("a", text);
    const [passage] = of("a", text);
    expect(passage?.text).toContain("The webhook times out.");
    expect(text.slice(passage?.at, (passage?.at ?? 0) + 30)).toBe(passage?.text.slice(0, 30));
    expect(passage?.highlights).toHaveLength(1);
    expect(of("a", text, " ")[0]).toMatchObject({ at: 0, highlights: [] });
  });
});

describe("finding in a stored text", () => {
  test("sees all of it, however long, also across the seams of what is read at once", ({ expect }) => {
    const { put, find } = makeTables();
    // The phrase lies on the seam of two chunks and of two spans, and once at the very end.
    const seam = 262_144;
    const filler = "Lorem ipsum dolor. ".repeat(13_796).slice(0, seam - 6);
    const text = `${filler} Red wombat! ${"Sed ut. ".repeat(40_000)}the red wombat`;
    put("a", text);
    const found = find("a", text, '"red wombat"');
    expect(found?.total).toBe(2);
    expect(found?.isTotalExact).toBe(true);
    expect(
      found?.passages.map(({ at, highlights }) => text.slice(at).slice(highlights[0]?.start, highlights[0]?.end)),
    ).toEqual(["Red wombat", "red wombat"]);
    expect(find("a", text, "wombats")?.total).toBe(2);
    expect(find("a", text, "quokka")).toEqual({ passages: [], total: 0, isTotalExact: true });
  });

  test("counts no further than anyone reads", ({ expect }) => {
    const { put, find } = makeTables();
    const text = `${"x ".repeat(400)}wombat. `.repeat(1_500);
    put("a", text);
    const found = find("a", text, "wombat");
    expect([found?.passages.length, found?.total, found?.isTotalExact]).toEqual([8, 1_000, false]);
  });

  test("that takes too long gives what it has and says that there may be more", ({ expect }) => {
    const { put, db } = makeTables();
    const text = `wombat. ${"filler words. ".repeat(20_000)} wombat`;
    put("a", text);
    let now = 0;
    const slow = makeFinder(db, () => (now += 1_000));
    const item = { kbId: "a", textHash: `hash of ${text}` };
    const found = slow({ workspaceId: "w1", viewer: { principals: ["ann"], epoch: 1 }, item, query: "wombat" });
    expect([found?.total, found?.isTotalExact]).toEqual([1, false]);
  });

  test("is for whom every list of the access names, as the lists are now", ({ expect }) => {
    const { put, find } = makeTables();
    const isGiven = (aclId: number, principals: string[]) => {
      put("a", "webhook", { aclId });
      return find("a", "webhook", "webhook", principals) !== undefined;
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

  test("is of the text that was judged, and not of what is gone", ({ expect }) => {
    const { put, find } = makeTables();
    put("a", "A wombat, second version.");
    expect(find("a", "A wombat, first version.", "wombat")).toBeUndefined();
    expect(find("a", "A wombat, second version.", "wombat", ["carol"])).toBeUndefined();
    expect(find("a", "A wombat, second version.", "wombat")?.total).toBe(1);
    expect(find("b", "A wombat, second version.", "wombat")).toBeUndefined();
    put("b", "wombat", { removedAt: 7 });
    expect(find("b", "wombat", "wombat")).toBeUndefined();
    put("d", "wombat", { workspaceId: "w2" });
    expect(find("d", "wombat", "wombat")).toBeUndefined();
  });
});
