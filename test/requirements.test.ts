import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { FINISHED_STEPS, REQUIREMENTS } from "./requirements.ts";

const root = new URL("..", import.meta.url).pathname;

/** A test of more proves none of them in particular. */
const MOST_PER_TEST = 4;

test("every requirement of the finished steps is proven by a test, and no test names an unknown one", ({ expect }) => {
  const calls = verifyingCalls();
  const named = new Set(calls.flatMap(({ ids }) => ids));
  const all = Object.entries(REQUIREMENTS);
  expect(all.length).toBeGreaterThanOrEqual(90);

  const unknown = [...named].filter((id) => !(id in REQUIREMENTS));
  expect(unknown).toEqual([]);

  const open = all.filter(([id]) => !named.has(id));
  const overdue = open.filter(([, requirement]) => requirement.step <= FINISHED_STEPS).map(([id]) => id);
  process.stdout.write(
    `requirements: ${all.length} in all, ${all.length - open.length} proven, ${open.length} open (${open.length - overdue.length} in later steps)\n`,
  );
  expect(overdue).toEqual([]);
  expect(calls.filter(({ ids }) => ids.length > MOST_PER_TEST)).toEqual([]);
});

/** The ids in the first argument of each `verifies(…)` call below test/. */
function verifyingCalls(): { file: string; ids: string[] }[] {
  const calls: { file: string; ids: string[] }[] = [];
  for (const file of readdirSync(join(root, "test"), { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".test.ts") && !file.endsWith(".contract.ts")) continue;
    const source = readFileSync(join(root, "test", file), "utf8");
    for (const call of source.matchAll(/\bverifies\(\s*(\[[^\]]*\]|"[^"]*")/g)) {
      calls.push({ file, ids: [...(call[1] ?? "").matchAll(/"([^"]+)"/g)].map((id) => id[1] ?? "") });
    }
  }
  return calls;
}
