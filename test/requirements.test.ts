import { readdirSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { makeProofReporter, verifyingCalls, weigh } from "./proof.ts";
import { REQUIREMENTS } from "./requirements.ts";
import { judge, type TestReport } from "./verdict.ts";

const root = new URL("..", import.meta.url).pathname;

/** A test of more proves none of them in particular. */
const MOST_PER_TEST = 4;

test("every requirement of the finished steps is named by a test of few, and no test names an unknown one", ({
  expect,
}) => {
  const calls = verifyingCalls();
  const named = new Set(calls.flatMap(({ ids }) => ids));
  const all = Object.entries(REQUIREMENTS);
  expect(all.length).toBeGreaterThanOrEqual(90);

  const unknown = [...named].filter((id) => !(id in REQUIREMENTS));
  expect(unknown).toEqual([]);

  expect(weigh(named).overdue).toEqual([]);
  expect(calls.filter(({ ids }) => ids.length > MOST_PER_TEST)).toEqual([]);
});

test("a requirement of a finished step that nothing has proven is open", ({ expect }) => {
  const ids = new Set(Object.keys(REQUIREMENTS));
  expect(weigh(ids).overdue).toEqual([]);
  ids.delete("auth:pat-settings-page");
  expect(weigh(ids).overdue).toEqual(["auth:pat-settings-page"]);
  ids.delete("resource:provider-app");
  expect(weigh(ids).counts).toBe(`${ids.size + 2} in all, ${ids.size} proven, 2 open (1 in later steps)`);
});

test("a run of a whole suite says what it has proven, and how much the other one has to", ({ expect }) => {
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
  const suite = (ending: RegExp) => files.filter((name) => ending.test(name));
  const [system, inProcess] = [suite(/\.system\.test\.ts$/), suite(/(?<!\.system)\.test\.ts$/)];
  const run = (names: readonly string[], proven: readonly string[]) => {
    const said: string[] = [];
    const modules = names.map((name) => ({
      moduleId: join(root, "test", name),
      children: { allTests: () => [{ meta: () => ({ requirements: proven }) }] },
    }));
    makeProofReporter((line) => void said.push(line)).onTestRunEnd(modules);
    return said;
  };
  const all = Object.keys(REQUIREMENTS);
  expect(run([...inProcess, ...system], all)).toEqual([`requirements: ${weigh(new Set(all)).counts}`]);
  // A browser proves the first, in the other suite; the second is proven in this one or not at all.
  const [there, here] = ["auth:pat-settings-page", "pat:hash-only"];
  expect(run(inProcess, without(all, there))).toEqual([
    expect.stringMatching(/^requirements: .*, 1 of the open ones have their tests in the other suite$/),
  ]);
  expect(run(inProcess, without(all, here))).toEqual([
    expect.stringMatching(/^requirements: .* 1 open \(0 in later steps\)$/),
    "not proven: pat:hash-only: its test failed or was skipped",
  ]);
  // A run of some files proves nothing about the others.
  expect(run(inProcess.slice(1), all)).toEqual([]);
});

test("both suites together are judged: what is skipped without need or proven by neither fails", ({ expect }) => {
  const report = (name: string, status: string, requirements: readonly string[] = []): TestReport => ({
    numPassedTests: status === "passed" ? 1 : 0,
    numFailedTests: status === "failed" ? 1 : 0,
    testResults: [{ name: join(root, name), assertionResults: [{ fullName: "it", status, meta: { requirements } }] }],
  });
  const around = { tools: [], without: [], hasOtherFailure: false };
  const all = Object.keys(REQUIREMENTS);
  const [last = "", ...others] = all;
  const short = report("test/a.test.ts", "passed", others);
  const closing = (...[reports, more]: [(TestReport | undefined)[], object?]) => {
    const { lines, hasFailed } = judge(reports, { ...around, ...more });
    return [lines.at(-1), hasFailed];
  };
  const system = (status: string) => report("test/e2e/browser.system.test.ts", status, [last]);
  expect(closing([short, system("passed")])).toEqual(["2 passed, 0 failed", false]);
  expect(closing([short, system("passed")], { tools: ["browser"] })).toEqual(["2 passed, 0 failed", false]);
  // The one of the skipped test, and its requirement.
  expect(closing([short, system("skipped")], { tools: ["browser"] })).toEqual(["1 passed, 2 failed", true]);
  expect(closing([short, system("skipped")], { without: ["browser"] })).toEqual(["1 passed, 0 failed", false]);
  expect(closing([short, system("skipped")])).toEqual(["1 passed, 1 failed", true]);
  expect(closing([short, undefined])).toEqual(["1 passed, 2 failed", true]);
  expect(closing([short, system("passed")], { tools: ["gitea"] })).toEqual(["2 passed, 1 failed", true]);
  expect(closing([short, system("passed")], { hasOtherFailure: true })).toEqual(["2 passed, 1 failed", true]);
  expect(judge([short, system("skipped")], around).lines).toContain("not run: test/e2e/browser.system.test.ts > it");
  const [failed, broken] = [report("test/b.test.ts", "failed"), report("test/c.test.ts", "passed")];
  for (const test of failed.testResults[0]?.assertionResults ?? [])
    test.failureMessages = ["expected 1\n  at b.test.ts:3"];
  for (const file of broken.testResults) file.message = "can't be loaded";
  expect(judge([failed, broken], around).lines.join("\n")).toMatch(
    "failed: test/b.test.ts > it\n    expected 1\n      at b.test.ts:3\nfailed: test/c.test.ts\n    can't be loaded\n",
  );
});

const without = (ids: readonly string[], id: string | undefined) => ids.filter((each) => each !== id);
