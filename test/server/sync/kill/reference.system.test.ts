import { join } from "node:path";
import { test } from "vitest";
import { buildChild } from "../../../extract/build-child.ts";
import { tempDir } from "../../../temp-dir.ts";
import { syncReference } from "./reference.ts";

// The long form, with ten kills at random moments: `npx tsx test/long/sync-kill.ts --reference`.
test(
  "killed by the system, a mirrored source and its people end in the same records and counts",
  { timeout: 240_000 },
  async ({ expect }) => {
    const dir = tempDir();
    const calm = await syncReference({ file: join(dir, "calm.db") });
    expect(calm.rows).toMatchObject({ relisted: [], held: [], withheld: [], jobs: [] });
    const program = [await buildChild("test/server/sync/kill/reference-child.ts")];
    const passes = calm.requests.slice(0, 3).map((count) => [{ requests: Math.floor(count / 2) }]);
    const killed = await syncReference({ file: join(dir, "killed.db"), kills: { program, passes } });
    expect(killed.hits).toBe(3);
    expect(killed.rows).toEqual(calm.rows);
    expect(killed.runs).toEqual(calm.runs);
  },
);
