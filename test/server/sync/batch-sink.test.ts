import { test } from "vitest";
import { makeBatchSink } from "#server/sync/batch-sink.ts";
import type { ItemBatch } from "#storage/batch/item-batch.ts";

test("a total that the source gave stays until it gives another", async ({ expect }) => {
  const batches: ItemBatch[] = [];
  const sink = makeBatchSink({
    apply: async (batch) => {
      batches.push(batch);
      return {
        isApplied: true,
        outcomes: [],
        hiddenChildren: [],
        isCancelRequested: false,
        tookMs: 1,
      };
    },
    connectorId: "con_1",
    always: [],
    highest: 0,
    run: { syncId: "syn_1", jobId: "job_1", leaseOwner: "x", scopeVersion: 1 },
    total: null,
    now: () => 0,
  });
  const remove = (id: number) => sink.add({ type: "delete", externalId: String(id), subtree: false });
  remove(1);
  await sink.flush();
  sink.progress({ done: 1, total: 3, note: "reading" });
  await sink.flush();
  remove(2);
  await sink.flush();
  sink.progress({ done: 2, total: null, note: null });
  await sink.flush();
  for (const id of [3, 4, 5]) remove(id);
  await sink.flush();
  expect(batches.map((batch) => batch.run?.progress)).toEqual([
    { done: 1, total: null, note: null },
    { done: 1, total: 3, note: "reading" },
    { done: 2, total: 3, note: null },
    { done: 2, total: 3, note: null },
    { done: 5, total: 5, note: null },
  ]);
});
