import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { tempDir } from "../../../temp-dir.ts";
import { buildChild } from "../../../extract/build-child.ts";
import { makeRandom } from "../../../extract/mutations.ts";
import { answersOf, drawQuestions, firstDifference } from "./queries.ts";
import { syncKilling } from "./run.ts";

const NAMES = ["river", "ledger", "window", "harvest", "signal", "copper", "meadow", "engine"];

test(
  "killed by the system in the middle of a sync, the folder ends in the same state and gives the same answers",
  { timeout: 240_000 },
  async ({ expect }) => {
    const dir = tempDir();
    const root = join(dir, "docs");
    for (let i = 0; i < 400; i++) {
      const folder = join(root, `d${i % 7}`);
      mkdirSync(folder, { recursive: true });
      const path = join(folder, `file-${i}.md`);
      writeFileSync(
        path,
        `# File ${i}\n\n${`some words about topic ${i % 13} `.repeat(100)}\n\n${NAMES.map((name, n) => `${name}${(i * (n + 3)) % 97}`).join(" ")}\n`,
      );
      // Of before: what was written within two seconds has another version, and a quick machine is that fast.
      utimesSync(path, 1_700_000_000, 1_700_000_000);
    }
    const child = [await buildChild("test/server/sync/kill/child.ts")];
    const calm = join(dir, "calm.db");
    const wanted = await syncKilling(calm, root, [], child);
    expect(wanted.items).toBe(400);
    const file = join(dir, "killed.db");
    const killed = await syncKilling(file, root, [{ items: 1, delayMs: 0 }], child);
    expect(killed.hits).toHaveLength(1);
    expect(killed.digest).toBe(wanted.digest);
    const questions = await drawQuestions(calm, 40, makeRandom(1));
    const answers = await answersOf(calm, questions);
    expect(answers.filter(({ total }) => total > 0)).toHaveLength(40);
    expect(firstDifference(answers, await answersOf(file, questions))).toBeUndefined();
  },
);
