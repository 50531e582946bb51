import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "vitest";
import { tempDir } from "../../../helpers.ts";
import { syncKilling } from "./run.ts";

test(
  "killed by the system in the middle of a sync, the folder ends in the same state",
  { timeout: 120_000 },
  async ({ expect }) => {
    const dir = tempDir();
    const root = join(dir, "docs");
    for (let i = 0; i < 400; i++) {
      const folder = join(root, `d${i % 7}`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(
        join(folder, `file-${i}.md`),
        `# File ${i}\n\n${`some words about topic ${i % 13} `.repeat(200)}\n`,
      );
    }
    const wanted = await syncKilling(join(dir, "calm.db"), root, []);
    expect(wanted.items).toBe(400);
    const killed = await syncKilling(join(dir, "killed.db"), root, [1_800]);
    expect(killed.digest).toBe(wanted.digest);
  },
);
