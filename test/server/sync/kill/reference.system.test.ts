import { join } from "node:path";
import { test } from "vitest";
import { buildChild } from "../../../extract/build-child.ts";
import { tempDir } from "../../../temp-dir.ts";
import { syncReference } from "./reference.ts";

/** Of each pass: its parts are as many requests, and it is killed between each two of them. */
const KILLS = [4, 3, 2, 1];

// The long form, with random moments: `npx tsx test/long/sync-kill.ts --reference`.
test(
  "killed ten times by the system, a mirrored source and its people end in the same records and counts",
  { timeout: 240_000 },
  async ({ expect }) => {
    const dir = tempDir();
    const calm = await syncReference({ file: join(dir, "calm.db") });
    expect(calm.rows).toMatchObject({ relisted: [], held: [], withheld: [], jobs: [] });
    const program = [await buildChild("test/server/sync/kill/reference-child.ts")];
    const passes = KILLS.map((kills, at) =>
      Array.from({ length: kills }, () => ({ requests: Math.ceil((calm.requests[at] ?? 0) / (kills + 1)) })),
    );
    const killed = await syncReference({ file: join(dir, "killed.db"), kills: { program, passes } });
    expect(killed.hits).toBe(10);
    expect(killed.rows).toEqual(calm.rows);
    expect(killed.runs).toEqual(calm.runs);
  },
);
