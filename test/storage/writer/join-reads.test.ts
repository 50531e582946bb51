import { test } from "vitest";
import { joinRecords, MAX_IDS, type ReadRecord } from "#storage/read-rows.ts";
import { makeTestClock, openTestStore, TEST_NOW } from "../../helpers.ts";

const WORKSPACE = "wsp_2222222222222222";

function makeRead(kbIds: string[], { at = TEST_NOW, ip = "203.0.113.7", client = "claude-code/2.1" } = {}): ReadRecord {
  return {
    at,
    actorUserId: "usr_2222222222222222",
    credential: "pat:tok_2222222222222222",
    action: "items.read",
    targetType: "tool",
    targetId: "kb_search",
    outcome: "done",
    ip,
    requestId: `req_${at}`,
    details: { client, kbIds, answers: 1, repeats: 2 },
  };
}

async function openStore() {
  const { store } = await openTestStore();
  await store.workspaces.insert({ workspaceId: WORKSPACE, name: "Acme", timeZone: "UTC", createdAt: TEST_NOW });
  return store.in(WORKSPACE).audit;
}

test("reads of one credential, address, tool, client and day become one row", ({ expect }) => {
  const clock = makeTestClock(Date.UTC(2026, 10, 21, 23, 59, 58));
  const at = () => {
    clock.advance(1_000);
    return clock.now();
  };
  const rows = joinRecords([
    makeRead(["a", "b"], { at: at() }),
    makeRead([], { at: clock.now(), ip: "203.0.113.8" }),
    makeRead(["c"], { at: clock.now(), client: "other" }),
    makeRead(["d"], { at: clock.now() }),
    makeRead(["a"], { at: at() }),
  ]);
  expect(rows.map(({ ip, details }) => [ip, details])).toEqual([
    ["203.0.113.7", { client: "claude-code/2.1", kbIds: ["a", "b", "d"], answers: 2, repeats: 4 }],
    ["203.0.113.8", { client: "claude-code/2.1", kbIds: [], answers: 1, repeats: 2 }],
    ["203.0.113.7", { client: "other", kbIds: ["c"], answers: 1, repeats: 2 }],
    ["203.0.113.7", { client: "claude-code/2.1", kbIds: ["a"], answers: 1, repeats: 2 }],
  ]);
});

test("a row names at most 200 items", ({ expect }) => {
  const rows = joinRecords(
    Array.from({ length: 50 }, (_, n) => makeRead(Array.from({ length: 9 }, (_, i) => `${n} ${i}`))),
  );
  expect(Math.max(...rows.map(({ details }) => details.kbIds.length))).toBeLessThanOrEqual(MAX_IDS);
  expect(rows.length).toBe(3);
  expect(rows.flatMap(({ details }) => details.kbIds).length).toBe(450);
});

test("reads wait on the disk until they are joined, however many, and an act goes to the chain at once", async ({
  expect,
}) => {
  const audit = await openStore();
  const reads = Array.from({ length: 1_100 }, (_, n) => makeRead([`kbi_${n}`]));
  await audit.appendMany([...reads, { ...makeRead([]), action: "group.created" }]);
  await audit.appendMany([makeRead(["kbi_last"])]);
  expect((await audit.readChain({ after: 0, limit: 10 })).map(({ action }) => action)).toEqual(["group.created"]);
  await audit.joinReads();
  const rows = (await audit.list({ action: "items.read", limit: 100 })).toReversed();
  // A slice of 500 ends a row.
  expect(rows.length).toBeLessThanOrEqual(9);
  expect(rows.flatMap(({ details }) => details["kbIds"])).toEqual([
    ...reads.flatMap(({ details }) => details.kbIds),
    "kbi_last",
  ]);
  await audit.joinReads();
  expect((await audit.list({ action: "items.read", limit: 100 })).length).toBe(rows.length);
});
