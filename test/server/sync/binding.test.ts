import { describe, test } from "vitest";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { upsert } from "./harness.ts";
import { HOUR_MS, listed, makeMirror, OPEN } from "./mirror.ts";
import { useAccount } from "./other-account.ts";

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
  const { connectorId } = kb;
  if (accountId !== null) await useAccount(kb.kb, kb.owner, { connectorId, accountId, providerId: "mirror" });
  const request = { trigger: "manual", mode: "incremental" } as const;
  const run = async () => {
    kb.kb.clock.advance(1);
    await kb.kb.as(kb.owner).post(`/api/connectors/${kb.connectorId}/syncs`, { mode: request.mode });
    await kb.work();
  };
  return { ...kb, cursors, run };
}

test("another account starts over, and no one reads what it has not named: it may not see it", async ({ expect }) => {
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

test("where kb says who may read, another account starts over, and what is there stays readable", async ({
  expect,
}) => {
  const kb = await makeSwapped("connector", "acc_2222222222222222");
  await kb.run();
  expect(kb.cursors).toEqual([null, null]);
  expect(await kb.readable()).toEqual(["a", "b"]);
});

describe("new credentials", () => {
  const CURRENT: SyncEvent = { t: "end", listing: "complete", permissions: "current" };
  const FEED: SyncEvent = { t: "end", listing: "partial", permissions: "current" };

  /** A connector that has listed `a` and `b`, and follows a feed that shows every change. */
  async function makeRotating(account?: { accountId?: string; scopes?: string[] }) {
    const cursors: unknown[] = [];
    const kb = await makeMirror(
      (run) => {
        cursors.push(run.cursor);
        if (run.mode !== "full") return [FEED];
        return [...listed("a", "b")].toSpliced(2, 0, { t: "checkpoint", cursor: { told: cursors.length } });
      },
      ["workspace"],
      { freshness: "feed" },
    );
    kb.world.account = account;
    const rotate = async (next: typeof account, token: string) => {
      kb.world.account = next;
      kb.kb.clock.advance(1);
      await kb.kb.as(kb.owner).patch(`/api/connectors/${kb.connectorId}`, { credentials: { token } });
    };
    await rotate(account, "first");
    await kb.work();
    return { ...kb, cursors, rotate };
  }

  test("of the same account go on where the former ones were, and nothing is withheld", async ({ expect }) => {
    const kb = await makeRotating({ accountId: "7", scopes: ["read"] });
    await kb.rotate({ accountId: "7", scopes: ["read"] }, "second");
    expect(await kb.readable()).toEqual(["a", "b"]);
    await kb.work();
    expect(await kb.readable()).toEqual(["a", "b"]);
  });

  test("of another account withhold what it does not name", async ({ expect }) => {
    const kb = await makeRotating({ accountId: "7" });
    await kb.rotate({ accountId: "8" }, "second");
    kb.world.script = () => [upsert("a", "text of a", { access: OPEN }), { ...FEED, permissions: "not_checked" }];
    await kb.work();
    expect(await kb.readable()).toEqual(["a"]);
  });

  test("of no one knows whom withhold nothing, and the feed proves nothing before all was listed", async ({
    expect,
  }) => {
    const kb = await makeRotating();
    expect(await kb.readable()).toEqual(["a", "b"]);
    await kb.rotate(undefined, "second");
    kb.world.script = ({ mode, cursor }) => {
      kb.cursors.push(cursor);
      return mode === "full"
        ? [upsert("a", "text of a", { access: OPEN }), { ...FEED, permissions: "not_checked" }]
        : [FEED];
    };
    await kb.work();
    expect(kb.cursors.at(-1)).toBeNull();
    expect(await kb.readable()).toEqual(["a", "b"]);
    for (let hour = 0; hour < 26; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["a"]);
    kb.world.script = () => [upsert("a", "text of a", { access: OPEN }), CURRENT];
    await kb.sync();
    expect(await kb.readable()).toEqual(["a"]);
  });

  test("of another account withhold what was read at once, also where nothing runs: after a pause no one reads it", async ({
    expect,
  }) => {
    const kb = await makeRotating({ accountId: "7" });
    const act = (path: string) => kb.kb.as(kb.owner).post(`/api/connectors/${kb.connectorId}/${path}`, {});
    await act("pause");
    await kb.rotate({ accountId: "7" }, "second");
    expect(await kb.readable()).toEqual(["a", "b"]);
    await kb.rotate({ accountId: "8" }, "third");
    expect(await kb.readable()).toEqual([]);
    await kb.work();
    await act("resume");
    expect(await kb.readable()).toEqual([]);
    kb.world.script = ({ mode, cursor }) => {
      kb.cursors.push(`${mode} ${String(cursor)}`);
      return [upsert("a", "text of a", { access: OPEN }), FEED];
    };
    await kb.work();
    expect([await kb.readable(), kb.cursors.at(-1)]).toEqual([["a"], "full null"]);
  });

  test("with other scopes read everything again", async ({ expect }) => {
    const kb = await makeRotating({ accountId: "7", scopes: ["read", "write"] });
    const { workspaceId } = kb.owner;
    const row = { workspaceId, connectorId: kb.connectorId, key: "seen", value: "1" };
    await kb.kb.database.write.insertInto("source_state").values(row).execute();
    const kept = async () => (await kb.kb.database.read.selectFrom("source_state").select("key").execute()).length;
    await kb.rotate({ accountId: "7", scopes: ["write", "read"] }, "second");
    await kb.work();
    expect(await kept()).toBe(1);
    await kb.rotate({ accountId: "7", scopes: ["read"] }, "third");
    await kb.work();
    expect([await kept(), kb.cursors.at(-1)]).toEqual([0, null]);
    expect(await kb.readable()).toEqual(["a", "b"]);
  });
});

test("a clock of before an account was another comes back with no later one, nor with a look that failed", async ({
  expect,
}) => {
  const kb = await makeSwapped("container", null);
  const own = async () => {
    const { read } = kb.kb.database;
    return (await read.selectFrom("items").select(["externalId", "ownClockAt"]).execute()).filter(
      ({ ownClockAt }) => ownClockAt !== null,
    );
  };
  // The connector's clock is old enough for what is read to have its own, at full quarters of an hour.
  kb.world.script = () => [
    upsert("a", "text of a", { access: OPEN }),
    upsert("b", "text of b", { access: OPEN }),
    { t: "end", listing: "partial", permissions: "not_checked" },
  ];
  kb.kb.clock.advance(20 * HOUR_MS - (kb.kb.clock.now() % HOUR_MS));
  await kb.run();
  expect((await own()).length).toBe(2);
  const accountId = "acc_3333333333333333";
  await useAccount(kb.kb, kb.owner, { connectorId: kb.connectorId, accountId, providerId: "mirror" });
  kb.world.script = () => [
    upsert("a", "text of a", { access: OPEN }),
    { t: "end", listing: "partial", permissions: "not_checked", notLookedAt: [{ externalId: "b" }] },
  ];
  await kb.run();
  expect(await kb.readable()).toEqual(["a"]);
});
