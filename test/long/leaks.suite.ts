import { expect, test } from "vitest";
import { startServer, type LeakServer } from "../leaks/build.ts";
import { addRound, endJoins, ownModel, sayAnything } from "../leaks/changes.ts";
import { countLeaks } from "../leaks/compare.ts";
import { KINDS } from "../leaks/kinds-programs.ts";
import { openKinds } from "../leaks/kinds-server.ts";
import { playKinds, shuffledSteps } from "../leaks/kinds-history.ts";
import { HOUR_MS } from "../leaks/mirror.ts";
import { makeRandom, PERSONAS } from "../leaks/model.ts";
import { makeMirroredModel } from "../leaks/worlds.ts";

const WANTED = Number(process.env["KB_TEST_LEAK_CHECKS"] ?? 1_000_000);
const FIRST_SEED = Number(process.env["KB_TEST_LEAK_SEED"] ?? 1_000);

test(`no leak in ${WANTED.toLocaleString("en")} checks`, async () => {
  const sum = { checks: 0, worlds: 0 };
  while (sum.checks < WANTED) {
    const seed = FIRST_SEED + sum.worlds;
    if (sum.worlds % 4 === 3) {
      sum.checks += await checkKinds(seed);
      sum.worlds++;
      continue;
    }
    const server = await startServer(ownModel(makeMirroredModel(seed, 40 + (seed % 7) * 40)));
    endJoins(server.model);
    for (const [at, rounds] of [20, 5, 5, 5, 5].entries()) {
      if (at > 0) await goOn(server, seed, at);
      const count = await countLeaks(server, PERSONAS, { seed: seed + at, rounds });
      expect(count.leaks, `world ${seed}, after ${at} changes`).toEqual([]);
      sum.checks += count.checks;
    }
    sum.worlds++;
    process.stderr.write(`${JSON.stringify(sum)}\n`);
  }
});

/** The real sources, whose remotes have another history each time. */
async function checkKinds(seed: number): Promise<number> {
  const server = await openKinds(KINDS, { seed });
  const { count, faults } = await playKinds(server, { seed, rounds: 1, steps: shuffledSteps(makeRandom(seed)) });
  expect([...faults, ...count.leaks], `kinds of apps, ${seed}`).toEqual([]);
  return count.checks;
}

/** By turns sources say something else, and time alone passes. */
async function goOn(server: LeakServer, seed: number, at: number): Promise<void> {
  const random = makeRandom(seed * 100 + at);
  const now = server.model.now + (3 + random.int(20)) * HOUR_MS;
  if (at % 2 === 0) return server.moveTo(now);
  addRound(server.model, now, sayAnything(random, server.model, now));
  await server.hearAt(now);
  endJoins(server.model);
  server.moveTo(now);
}
