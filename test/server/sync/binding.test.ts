import { test } from "vitest";
import type { SyncEvent } from "#sources/contract.ts";
import { upsert } from "./harness.ts";
import { listed, makeMirror, OPEN } from "./mirror.ts";

/** A connector whose cursor and permissions are those of account A; what comes next is said to account B. */
async function makeSwapped(acl: "container" | "connector", accountId: string | null) {
  const cursors: unknown[] = [];
  const kb = await makeMirror(
    (run) => {
      cursors.push(run.cursor);
      return [
        upsert("a", "text of a", { access: OPEN }),
        upsert("b", "text of b", { access: OPEN }),
        { t: "checkpoint", cursor: { told: cursors.length } },
        { t: "end", listing: "complete", permissions: "current" },
      ] satisfies SyncEvent[];
    },
    ["workspace"],
    { acl },
  );
  await kb.work();
  kb.world.script = (run) => {
    cursors.push(run.cursor);
    const end = { t: "end", listing: "partial", permissions: "not_checked" } as const;
    return run.mode === "full" ? [upsert("a", "text of a", { access: OPEN }), end] : [end];
  };
  await kb.kb.database.write
    .updateTable("connectors")
    .set({ accountId })
    .where("connectorId", "=", kb.connectorId)
    .execute();
  const request = { trigger: "manual", mode: "incremental" } as const;
  const run = async () => {
    kb.kb.clock.advance(1);
    await kb.kb.as(kb.owner).post(`/api/connectors/${kb.connectorId}/syncs`, { mode: request.mode });
    await kb.work();
  };
  return { ...kb, cursors, run };
}

test("another account begins anew, and nobody reads what it has not named: it may not see it", async ({ expect }) => {
  const kb = await makeSwapped("container", "acc_2222222222222222");
  expect(await kb.readable()).toEqual(["a", "b"]);
  await kb.run();
  expect(kb.world.runs).toEqual(["full", "full"]);
  expect(kb.cursors).toEqual([null, null]);
  expect(await kb.readable()).toEqual(["a"]);
  kb.world.script = () => listed("a", "b");
  await kb.sync();
  expect(await kb.readable()).toEqual(["a", "b"]);
});

test("the same account goes on where it was", async ({ expect }) => {
  const kb = await makeSwapped("container", null);
  await kb.run();
  expect(kb.world.runs).toEqual(["full", "incremental"]);
  expect(kb.cursors).toEqual([null, { told: 1 }]);
  expect(await kb.readable()).toEqual(["a", "b"]);
});

test("where kb says who may read, another account begins anew, and what is there stays readable", async ({
  expect,
}) => {
  const kb = await makeSwapped("connector", "acc_2222222222222222");
  await kb.run();
  expect(kb.cursors).toEqual([null, null]);
  expect(await kb.readable()).toEqual(["a", "b"]);
});
