import { writeFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { chanceOf, scoresOf } from "#cli/eval/measures.ts";
import { formatRun, parseRun } from "#cli/eval/run-file.ts";
import type { TestUser } from "../helpers.ts";
import { runs } from "../runs.ts";
import { makeKit } from "../server/mcp/kit.ts";
import { kb, makeWorld, problem, type FakeWorld } from "./fakes.ts";

/** A world with the files `files`. */
function worldOf(files: Record<string, string>, more: Partial<FakeWorld> = {}): FakeWorld {
  const world = makeWorld(more);
  for (const [name, text] of Object.entries(files)) writeFileSync(join(world.dir, name), text);
  return world;
}

/** The command line over a real server with four items, signed in as `user`. */
async function realWorld(files: Record<string, string>) {
  const server = await makeKit();
  const owner = await server.addOwner();
  const member = await server.addMember(owner.workspaceId, "member");
  const ids = await server.addItems(owner, [
    { title: "Rotate a key", text: "Keys rotate without a restart.", url: "https://docs.test/rotate" },
    { title: "Restart", text: "How to restart the server after a key was lost.", url: "https://docs.test/restart" },
    { title: "Salaries", text: "The key to salaries.", readers: [`user:${owner.userId}`] },
    { title: "Lunch", text: "Soup." },
  ]);
  const as = async (user: TestUser) =>
    worldOf(files, {
      env: { KB_URL: "http://127.0.0.1:7700", KB_TOKEN: await server.token(user, ["mcp:read", "kb:api"]) },
      real: { fetch: async (address, init) => server.app.request(address, init as RequestInit) },
    });
  return { owner, member, ids, as };
}

describe("kb eval", () => {
  test("measures the live search as the caller sees it, and takes hidden and missing items alike", async () => {
    const judgements = [
      "rotate key: [https://docs.test/rotate, {item: Restart, grade: 2}]",
      "key to salaries: Salaries",
      "nothing: No such title",
    ].join("\n");
    const { owner, member, ids, as } = await realWorld({ "q.yaml": judgements });
    const results = async (user: TestUser) => {
      const run = await kb(await as(user), "eval", "q.yaml", "--json");
      expect([run.code, run.stderr]).toEqual([0, expect.stringContaining("Left out")]);
      return JSON.parse(run.stdout);
    };
    const all = await results(owner);
    expect(all.questions.map(({ question, mrr }: { question: string; mrr: number }) => [question, mrr])).toEqual([
      ["rotate key", 1],
      ["key to salaries", 1],
    ]);
    expect(all.missing).toEqual([{ item: "No such title", reason: "not_found", questions: 1 }]);
    const some = await results(member);
    expect(some.missing).toEqual([
      { item: "Salaries", reason: "not_found", questions: 1 },
      { item: "No such title", reason: "not_found", questions: 1 },
    ]);
    expect(some.leftOut.map(({ question }: { question: string }) => question)).toEqual(["key to salaries", "nothing"]);
    expect(JSON.stringify(some)).not.toContain(ids[2]);
  });

  test("compares with a saved run and fails below a floor", async () => {
    const { owner, ids, as } = await realWorld({
      "qrels.txt": `1 0 https://docs.test/rotate 1\n2 0 ${"Lunch"} 1\n9 0 Lunch 1\n`,
      "queries.tsv": "1\trotate key\n2\tsoup\n",
    });
    const world = await as(owner);
    const args = ["eval", "qrels.txt", "--queries", "queries.tsv"];
    const first = await kb(world, ...args, "--save", "first.run", "--min", "ndcg=1");
    expect([first.code, first.stdout]).toEqual([
      0,
      "questions\t2\nnDCG@10\t1.0000\nMRR@10\t1.0000\nrecall@10\t1.0000\nsuccess@1\t1.0000\n",
    ]);
    expect(first.stderr).toContain("1 topic that the file of questions doesn't have:\n  9\n");
    expect(readFileSync(join(world.dir, "first.run"), "utf8")).toContain(`2 Q0 ${ids[3]} 1 `);
    // Another engine's run may call items as the judgements do.
    writeFileSync(join(world.dir, "other.run"), "1 Q0 Restart 1 9 x\n1 Q0 https://docs.test/rotate 2 8 x\n");
    const second = await kb(world, ...args, "--compare", "other.run", "--json");
    expect(JSON.parse(second.stdout).comparison).toMatchObject({
      compared: 1,
      notCompared: 1,
      measures: { mrr: { before: 0.5, now: 1, chance: 1 }, success: { before: 0, now: 1 } },
      changed: [{ id: "1", question: "rotate key", now: 1 }],
    });
    writeFileSync(join(world.dir, "queries.tsv"), "1\tnothing like it\n2\tsoup\n");
    const third = await kb(world, ...args, "--min", "success=0.9", "--min", "recall=0.2");
    expect(third.code).toBe(1);
    expect(third.stderr).toContain("success@1 is 0.5000, below the 0.9 that --min asks for.");
    expect(third.stderr).not.toContain("recall@10 is");
  });

  test.for([
    ["qrels.txt", "1 0 a 1\n\n1 0 b\n1 0 c many\n", ["line 3: not four columns", 'line 4: the grade "many"']],
    ["q.yaml", "a: [x]\nb: [[y]]\n? [c]\n: z\n", ["line 2: not an item", "line 3: no question"]],
    ["q.yaml", "- question: a\n  items: x\n- question: a\n  items: y\n", ["line 3: the same question as in line 1"]],
    ["q.yaml", "- question: a\n  item: x\n", ['line 1: "item" is not one of id, question, items']],
    ["q.yaml", "a: &x [b]\nc: *x\n", ["line 2: aliases"]],
    ["q.yaml", "a: [b\nc: d", ["line 2: "]],
    ["q.yaml", "just words", ["line 1: not a mapping of questions"]],
    ["q.yaml", "", ["line 1: not a mapping of questions"]],
    ["q.yaml", `a: ${"[".repeat(5_000_000)}`, ["nested too deeply"]],
    ["q.yaml", "- ".repeat(2_000_000), ["nested too deeply"]],
    ["q.yaml", `a: ${"[".repeat(500)}`, ["line 1: "]],
    ["qrels.txt", `1 0 a ${"x".repeat(100_000)}`, [`line 1: the grade "${"x".repeat(80)}…" is not`]],
    ["qrels.txt", "1 0\n".repeat(100_000), ["has 100,000 bad lines", "and 99,990 more lines"]],
    ["qrels.txt", "1 0 a NaN\n1 0 b Infinity\n1 0 c 1e999", ['line 1: the grade "NaN"', "line 2", "line 3"]],
    ["qrels.txt", "\0".repeat(100_000), ["line 1: not four columns"]],
    ["queries.tsv", "", ["queries.tsv has no question for any topic of qrels.txt"]],
    ["queries.tsv", "1 no tab\n2\tfine\n2\tagain\n", ["line 1: not a topic", 'line 3: the topic "2" is there already']],
    ["before.run", "1 Q0 a 1 2 x\n1 Q0 a\n1 Q0 b 2 high x\n", ["line 2: not six columns", 'line 3: the score "high"']],
  ] as const)("names the bad lines of %s, case %#", async ([name, text, expected]) => {
    const files = { "qrels.txt": "1 0 a 1", "queries.tsv": "1\ta", "before.run": "1 Q0 a 1 1 x", [name]: text };
    const world = worldOf(files);
    const words = name === "q.yaml" ? ["q.yaml"] : ["qrels.txt", "--queries", "queries.tsv"];
    const run = await kb(world, "eval", ...words, "--compare", "before.run");
    expect([run.code, run.sent.length]).toEqual([2, 0]);
    for (const part of expected) expect(run.stderr).toContain(part);
  });

  test.for([
    [["eval", "none.yaml"], "none.yaml can't be read: there is no such file"],
    [["eval", "qrels.txt"], "--queries FILE"],
    [["eval", "q.yaml", "--queries", "qrels.txt"], "YAML has its own questions"],
    [["eval", "q.yaml", "--min", "map=0.3"], '"map" is not one of ndcg, mrr, recall, success'],
    [["eval", "q.yaml", "--min", "ndcg=4"], '"4" is not a number from 0 to 1'],
    [["eval", "q.yaml", "--k", "51"], "--k"],
    [["eval", "junk.yaml"], "not UTF-8"],
  ] as const)("refuses %j", async ([argv, why]) => {
    const world = worldOf({ "qrels.txt": "1 0 a 1", "q.yaml": "a: b" });
    writeFileSync(join(world.dir, "junk.yaml"), Buffer.from([0xff, 0xfe, 0x00, 0xd8]));
    const run = await kb(world, ...argv);
    expect([run.code, run.sent.length]).toEqual([2, 0]);
    expect(run.stderr).toContain(why);
  });

  test("waits where the server asks to, and goes on without a question that it refuses", async () => {
    const world = worldOf({ "q.yaml": "slow: kbi_2345abcd2345abcd\nfine: kbi_2345abcd2345abcd\n" });
    const hit = { kbId: "kbi_2345abcd2345abcd" };
    world.routes["GET /api/connectors/search"] = [
      { ...problem(429, "rate_limited", "Slow down."), headers: { "retry-after": "7" } },
      problem(503, "search_timeout", "The search took too long."),
      { body: { results: [hit] } },
    ];
    const run = await kb(world, "eval", "q.yaml", "--json");
    expect(run.code).toBe(8);
    const { questions, failed } = JSON.parse(run.stdout);
    expect([questions.length, failed.length, failed[0].code]).toEqual([1, 1, "search_timeout"]);
  });
});

describe("measures", () => {
  test("are what trec_eval gives", () => {
    const grades = new Map([
      ["a", 2],
      ["b", 1],
      ["c", 0],
      ["d", 1],
    ]);
    // trec_eval -m ndcg_cut.10 -m recip_rank -m recall.10 -m success.1
    const { ndcg, ...rest } = scoresOf(["x", "b", "c", "a"], grades, 10);
    expect(ndcg).toBeCloseTo(0.476626, 6);
    expect(rest).toEqual({ mrr: 0.5, recall: 2 / 3, success: 0 });
    expect(scoresOf(["a", "b", "d"], grades, 10)).toEqual({ ndcg: 1, mrr: 1, recall: 1, success: 1 });
    expect(scoresOf(["x", "b", "a"], grades, 1)).toEqual({ ndcg: 0, mrr: 0, recall: 0, success: 0 });
  });

  test("stay within 0 and 1, and the best order has the highest", () => {
    const item = fc.constantFrom(..."abcdefghijkl");
    const grade = fc.integer({ min: 0, max: 3 });
    const judged = fc.array(fc.tuple(item, grade)).filter((all) => new Map(all).size > 0);
    fc.assert(
      fc.property(judged, fc.uniqueArray(item), fc.integer({ min: 1, max: 12 }), (all, ranked, k) => {
        const grades = new Map(all);
        if (![...grades.values()].some((one) => one > 0)) return;
        const scores = scoresOf(ranked, grades, k);
        for (const score of Object.values(scores)) expect(score >= 0 && score <= 1 + 1e-12).toBe(true);
        const best = ranked.toSorted((a, b) => (grades.get(b) ?? 0) - (grades.get(a) ?? 0));
        expect(scoresOf(best, grades, k).ndcg).toBeGreaterThanOrEqual(scores.ndcg - 1e-12);
      }),
      { numRuns: runs(200) },
    );
  });

  test("the chance is 1 without a difference, a coin's for few, small for many of one sign", () => {
    expect(chanceOf([0, 0, 0])).toBe(1);
    expect(chanceOf([0.3])).toBe(1);
    // All of eight signs alike: 2 of 256.
    expect(chanceOf(Array.from({ length: 8 }, () => 0.1))).toBeCloseTo(2 / 256, 2);
    expect(chanceOf(Array.from({ length: 40 }, () => 0.1))).toBeLessThan(0.001);
    expect(chanceOf(Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? 0.1 : -0.1)))).toBe(1);
  });

  test("a run file is read as it was written, and by score where ranks say otherwise", () => {
    const run = new Map([
      ["1", ["kbi_b", "kbi_a"]],
      ["2", ["kbi_c"]],
    ]);
    expect(parseRun("x", formatRun(run))).toEqual(run);
    expect(parseRun("x", "1 Q0 a 1 0.5 x\n1 Q0 b 2 0.9 x\n1 Q0 a 3 0.1 x\n")).toEqual(new Map([["1", ["b", "a"]]]));
  });
});
