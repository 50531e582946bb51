import { test } from "vitest";
import { startServer } from "../leaks/build.ts";
import { countLeaks } from "../leaks/compare.ts";
import { makeModel, PERSONAS } from "../leaks/model.ts";

const WANTED = Number(process.env["KB_TEST_LEAK_CHECKS"] ?? 1_000_000);
const FIRST_SEED = Number(process.env["KB_TEST_LEAK_SEED"] ?? 1_000);

test(`no leak in ${WANTED.toLocaleString("en")} checks`, async ({ expect }) => {
  const sum = { checks: 0, worlds: 0 };
  while (sum.checks < WANTED) {
    const seed = FIRST_SEED + sum.worlds;
    const server = await startServer(makeModel(seed, 40 + (seed % 7) * 40));
    const count = await countLeaks(server, PERSONAS, { seed, rounds: 40 });
    expect(count.leaks, `world ${seed}`).toEqual([]);
    sum.checks += count.checks;
    sum.worlds++;
    process.stderr.write(`${JSON.stringify(sum)}\n`);
  }
});
