import { test } from "vitest";
import type { Principal } from "#core/principals.ts";
import { traceOf } from "#storage/batch/trace.ts";
import type { Work } from "#storage/batch/work.ts";

const [A, B, ALL] = ["user:a", "user:b", "workspace"] as const;
/** 0 and less are open to no one. */
const ACCESSES: Record<number, Principal[][]> = {
  1: [[A]],
  2: [[A, B]],
  3: [[A], [B]],
  4: [[ALL]],
  5: [["everyone"]],
  6: [[A], ["connector:x"]],
};

/** Whether readers that an item gets in place of others may let in someone new. */
async function isWidened(before: number, after: number): Promise<unknown> {
  const work: Pick<Work, "accessChanges" | "rows" | "batch"> = {
    accessChanges: [{ kbId: "kbi_1", aclId: before, ownAclId: null }],
    // Nothing else of the two is asked.
    batch: { always: ["connector:x"] } as unknown as Work["batch"],
    rows: { findByKbId: () => ({ aclId: after, ownAclId: null }) } as unknown as Work["rows"],
  };
  const access = { listsOf: async (aclId: number) => ACCESSES[aclId] ?? [] };
  const row = await traceOf(work as Work, access, {
    at: 1,
    actorUserId: null,
    action: "items.changed",
    target: { type: "connector", id: "x" },
    details: {},
  } as unknown as Parameters<typeof traceOf>[2]);
  return row?.details?.["isWidened"];
}

test("a change of readers is wider when it drops a list, or lets more people meet one", async ({ expect }) => {
  const wider = [
    [1, 2],
    [3, 1],
    [3, 2],
    [0, 1],
    [1, 4],
  ] as const;
  for (const [before, after] of wider) expect(await isWidened(before, after), `${before} to ${after}`).toBe(true);
  const notWider = [
    [2, 1],
    [1, 3],
    [1, 0],
    [4, 5],
    [4, 1],
    [1, 1],
    [6, 1],
  ] as const;
  for (const [before, after] of notWider) expect(await isWidened(before, after), `${before} to ${after}`).toBe(false);
});
