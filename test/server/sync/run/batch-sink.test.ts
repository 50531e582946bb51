import { test } from "vitest";
import { makeBatchSink, type SinkOptions } from "#server/sync/run/batch-sink.ts";
import { makeGroupUpdates } from "#server/sync/people/group-updates.ts";
import type { ItemBatch } from "#storage/item-batch.ts";

function makeSink(people?: SinkOptions["people"]) {
  const batches: ItemBatch[] = [];
  const sink = makeBatchSink({
    apply: async (batch) => {
      batches.push(batch);
      return { isApplied: true, outcomes: [], hiddenChildren: [], isCancelRequested: false, tookMs: 1 };
    },
    connectorId: "con_1",
    always: [],
    highest: 0,
    run: { syncId: "syn_1", jobId: "job_1", leaseOwner: "x", scopeVersion: 1 },
    total: null,
    now: () => 0,
    ...(people && { people }),
  });
  return { sink, batches };
}

test("what is counted after a cursor is stored with the next one, whenever that is stored", async ({ expect }) => {
  const { sink, batches } = makeSink();
  sink.count({ skipped: 1 });
  sink.cursor("1");
  sink.count({ skipped: 10 });
  await sink.flush();
  sink.count({ skipped: 100 });
  sink.progress({ done: 1, total: null, note: null });
  await sink.flush();
  sink.cursor("2");
  sink.count({ skipped: 1_000 });
  await sink.flush();
  await sink.flush(true);
  expect(batches.map(({ run }) => [run?.cursor, run?.addCounts])).toEqual([
    ["1", { skipped: 1 }],
    [undefined, {}],
    ["2", { skipped: 110 }],
    [undefined, { skipped: 1_000 }],
  ]);
});

test("who was let into a group after a cursor waits for the next one", async ({ expect }) => {
  const connectorId = "con_2222222222222222";
  const group = (id: string) => `group:${connectorId}:${id}` as const;
  const people = await makeGroupUpdates({
    store: {
      workspaceId: "wsp_2222222222222222",
      access: { maxAclAgeMs: async () => 86_400_000 },
      sourcePeople: { begin: async () => ({ position: 1, cursor: null }) },
    } as never,
    source: { spec: { acl: "container" } as never },
    connector: { connectorId, lastFullAt: null },
    sync: { syncId: "syn_1", mode: "incremental", startedAt: 0 },
    lease: { jobId: "job_1", owner: "x" },
    authority: { connectorId, users: { providerId: "forge", instance: "git.acme.test" } },
    isTrusted: true,
    onEndedJoins: async () => undefined,
    linkUsers: async () => undefined,
    now: () => 0,
  });
  const { sink, batches } = makeSink(people);
  const letIn = (id: string) =>
    people.add({ t: "member", group: group("team"), member: `user:forge:git.acme.test:${id}` }, 0);
  await letIn("1");
  sink.cursor("1");
  await letIn("2");
  await sink.flush();
  await people.refuse(group("crew"));
  await sink.flush();
  sink.cursor("2");
  await letIn("3");
  await sink.flush();
  people.markCovered();
  await sink.flush(true);
  const toldOf = ({ people: told }: ItemBatch) =>
    told?.events.map((event) => ("member" in event ? event.member.at(-1) : event.t));
  expect(batches.map((batch) => [batch.run?.cursor, toldOf(batch)])).toEqual([
    ["1", ["1"]],
    [undefined, ["group_refused"]],
    ["2", ["2"]],
    [undefined, ["3"]],
  ]);
});

test("a total that the source gave stays until it gives another", async ({ expect }) => {
  const { sink, batches } = makeSink();
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
