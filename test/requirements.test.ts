import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { makeProofReporter, weigh, type RanModule } from "./proof.ts";
import { REQUIREMENTS } from "./requirements.ts";

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

test("a whole run fails on a build machine that could have run what was skipped, and only there", ({ expect }) => {
  const files = readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" });
  const modules = (proven: readonly string[]): RanModule[] =>
    files
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => ({
        moduleId: join(root, "test", name),
        children: { allTests: () => [{ meta: () => ({ requirements: proven }) }] },
      }));
  const all = Object.keys(REQUIREMENTS);
  const without = all.filter((id) => id !== "auth:pat-settings-page");
  const run = (proven: readonly string[], env: Record<string, string>, left = 0) => {
    const said: string[] = [];
    let hasFailed = false;
    const fail = () => void (hasFailed = true);
    const reporter = makeProofReporter({ env, say: (line) => void said.push(line), fail });
    reporter.onTestRunEnd(modules(proven).slice(left));
    return [said.length, hasFailed];
  };
  expect(run(all, { CI: "true" })).toEqual([1, false]);
  expect(run(without, { CI: "true" })).toEqual([2, true]);
  expect(run(without, { CI: "true", KB_TEST_WITHOUT: "browser" })).toEqual([2, false]);
  expect(run(without, {})).toEqual([2, false]);
  // A run of some files proves nothing about the others.
  expect(run([], { CI: "true" }, 1)).toEqual([0, false]);
});

/** The ids in the first argument of each `verifies(…)` call below test/. */
function verifyingCalls(): { file: string; ids: string[] }[] {
  const calls: { file: string; ids: string[] }[] = [];
  for (const file of readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })) {
    if (!/\.(?:test|suite|contract)\.ts$/.test(file)) continue;
    const source = readFileSync(join(root, "test", file), "utf8");
    for (const call of source.matchAll(/\bverifies\(\s*(\[[^\]]*\]|"[^"]*")/g)) {
      calls.push({ file, ids: [...(call[1] ?? "").matchAll(/"([^"]+)"/g)].map((id) => id[1] ?? "") });
    }
  }
  return calls;
}
