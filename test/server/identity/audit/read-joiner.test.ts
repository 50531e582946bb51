import { test } from "vitest";
import { makeReadJoiner } from "#server/identity/audit/read-joiner.ts";
import type { Store } from "#storage/records/store.ts";
import { makeTestLog } from "../../../helpers.ts";

test("reads are joined within a minute, and again a minute after it failed", async ({ expect }) => {
  const [joined, timers]: [string[], (() => void)[]] = [[], []];
  let isFull = true;
  const joinReads = (workspaceId: string) => async () => {
    if (isFull && workspaceId === "wsp_1") throw new Error("disk full");
    joined.push(workspaceId);
  };
  // The joiner uses nothing else of it.
  const store = { in: (workspaceId: string) => ({ audit: { joinReads: joinReads(workspaceId) } }) } as unknown as Store;
  const log = makeTestLog();
  const joiner = makeReadJoiner({
    store,
    log,
    schedule: (run, ms) => void (timers.push(run), expect(ms).toBe(60_000)),
  });
  for (const workspaceId of ["wsp_1", "wsp_2", "wsp_1"]) joiner.note(workspaceId);
  expect([timers.length, joined]).toEqual([1, []]);
  timers[0]?.();
  // One that a process before may have left.
  await joiner.join(["wsp_3"]);
  expect(joined).toEqual(["wsp_2", "wsp_3"]);
  expect(log.lines[0]).toMatchObject({ level: "error", message: "reads can't be joined into the audit" });
  isFull = false;
  timers[1]?.();
  await joiner.join();
  expect(joined).toEqual(["wsp_2", "wsp_3", "wsp_1"]);
});
