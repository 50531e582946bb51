import { describe, test } from "vitest";
import { listOpenings } from "#storage/policy/openings.ts";
import type { AuditRecord } from "#storage/audit-chain.ts";
import { makeWorld } from "../access/fixtures.ts";

const DAY_MS = 86_400_000;
const CONNECTOR = "con_2222222222222222";

/** A workspace whose audit log a test fills, and what its owner is shown of a connector and of groups in it. */
async function makeLog() {
  const world = await makeWorld();
  const workspaceId = await world.workspace();
  const [owner, admin] = [await world.user(workspaceId), await world.user(workspaceId, "admin")];
  const on = world.store.in(workspaceId);
  const row = (details: object, more: Partial<AuditRecord> = {}) => ({
    at: world.clock.ms,
    actorUserId: admin.userId,
    credential: "session:ses_1",
    action: "connector.changed",
    targetType: "connector",
    targetId: CONNECTOR,
    outcome: "done" as const,
    ip: null,
    requestId: null,
    details: { ...details },
    ...more,
  });
  return {
    world,
    on,
    owner,
    admin,
    row,
    widened: (details: object = {}, more: Partial<AuditRecord> = {}) => row({ isWidened: true, ...details }, more),
    append: (...rows: ReturnType<typeof row>[]) =>
      world.store.transaction(async (tx) => {
        for (const each of rows) await tx.in(workspaceId).audit.append(each);
      }),
    shown: (inside: readonly string[] = []) =>
      listOpenings(on, { id: CONNECTOR, ownerId: owner.userId, inside }, world.clock.ms),
  };
}

describe("of the audit log, an owner is shown", () => {
  test("no act of their own, and no act that opened nothing", async ({ expect }) => {
    const log = await makeLog();
    await log.append(log.widened({}, { actorUserId: log.owner.userId }), log.row({ isWidened: false }), log.row({}));
    expect(await log.shown()).toEqual([]);
    await log.append(log.widened({}, { actorUserId: log.owner.userId, at: 0 }), log.widened());
    expect(await log.shown()).toMatchObject([{ by: { id: log.admin.userId }, times: 1 }]);
  });

  test("the same act of one day once, whenever on that day", async ({ expect }) => {
    const log = await makeLog();
    const hour = (n: number) => log.widened({ keyId: "key_1" }, { at: log.world.clock.ms - n * 3_600_000 });
    await log.append(hour(25), hour(2), hour(1), hour(0), log.widened({ keyId: "key_2" }));
    expect((await log.shown()).map(({ times }) => times)).toEqual([1, 3, 1]);
  });

  test("what lies behind 1,900 acts that opened nothing, and not what lies behind 2,000", async ({ expect }) => {
    const log = await makeLog();
    const nothing = Array.from({ length: 1_900 }, () => log.row({ isWidened: false }));
    await log.append(log.widened({}, { actorUserId: null, action: "group.changed" }), log.widened(), ...nothing);
    expect((await log.shown()).map(({ action }) => action)).toEqual(["connector.changed", "group.changed"]);
    await log.append(...nothing.slice(0, 99));
    expect((await log.shown()).map(({ action }) => action)).toEqual(["connector.changed"]);
    await log.append(log.row({ isWidened: false }));
    expect(await log.shown()).toEqual([]);
  });

  test("how often each of 20 acts was done, also further back", async ({ expect }) => {
    const log = await makeLog();
    const acts = Array.from({ length: 20 }, (_, n) => log.widened({ keyId: `key_${n}` }));
    const nothing = Array.from({ length: 200 }, () => log.row({ isWidened: false }));
    await log.append(log.widened({ keyId: "key_0" }), ...nothing, ...acts);
    expect((await log.shown()).map(({ times }) => times).toSorted()).toEqual([...Array(19).fill(1), 2]);
  });
});

describe("what an act opened", () => {
  test("is told from who was named before and after it, with the names of all", async ({ expect }) => {
    const log = await makeLog();
    const [ana, bo, cy] = [await log.world.user(log.on.workspaceId), log.owner, log.admin].map(
      ({ userId }) => `user:${userId}`,
    );
    const before = { principals: [ana, bo], others: 5 };
    await log.append(log.widened({ before, after: { principals: [bo, cy, "workspace"], others: 7 } }));
    const [shown] = await log.shown();
    const person = (principal = "") => ({ id: principal.slice(5), name: principal.slice(5) });
    expect(shown).toMatchObject({
      before: { named: [person(ana), person(bo)], others: 5 },
      after: { named: [person(bo), person(cy), { id: "workspace", name: null }], others: 7 },
      added: { named: [person(cy), { id: "workspace", name: null }], others: 2 },
    });
  });

  test("counts no one where fewer are left, nor where a row of another version says it in other shapes", async ({
    expect,
  }) => {
    const log = await makeLog();
    const shownOf = async (details: object) => {
      await log.append(log.widened(details));
      log.world.clock.ms += DAY_MS;
      return (await log.shown())[0];
    };
    expect(await shownOf({ before: { others: 9 }, after: { others: 2 } })).toMatchObject({
      before: { named: [], others: 9 },
      after: { named: [], others: 2 },
      added: { named: [], others: 0 },
      items: null,
    });
    const odd = {
      before: null,
      after: { principals: [1, "everyone", null], others: "many" },
      widened: "3",
      added: [1],
    };
    expect(await shownOf(odd)).toMatchObject({
      before: null,
      after: { named: [{ id: "everyone" }], others: 0 },
      added: { named: [{ id: "everyone" }], others: 0 },
      items: null,
    });
    expect(await shownOf({})).toMatchObject({ before: null, after: null, added: { named: [], others: 0 } });
    expect(await shownOf({ added: { ids: ["user:usr_a"] }, widened: 4 })).toMatchObject({
      added: { named: [{ id: "usr_a", name: null }], others: 0 },
      items: 4,
    });
  });
});

describe("acts on groups", () => {
  const group = (n: number) => `grp_${String(n).padStart(3, "0")}`;

  test("count however deep a group lies in one that is named", async ({ expect }) => {
    const log = await makeLog();
    for (const n of [0, 1, 2]) {
      const members = [`group:${group(n + 1)}`, `user:${log.owner.userId}`];
      await log.on.access.setMembers(`group:${group(n)}`, members, "kb");
    }
    await log.append(log.widened({}, { action: "group.changed", targetId: group(3) }));
    expect((await log.shown([group(0)])).map(({ target }) => target.id)).toEqual([group(3)]);
    expect(await log.shown([group(4)])).toEqual([]);
  });

  test("count for the first 100 groups", async ({ expect }) => {
    const log = await makeLog();
    const all = Array.from({ length: 101 }, (_, n) => group(n));
    await log.append(...[99, 100].map((n) => log.widened({}, { action: "group.changed", targetId: group(n) })));
    expect((await log.shown(all)).map(({ target }) => target.id)).toEqual([group(99)]);
    await log.on.access.setMembers(
      `group:${group(0)}`,
      all.slice(1).map((id) => `group:${id}`),
      "kb",
    );
    expect((await log.shown([group(0)])).map(({ target }) => target.id)).toEqual([group(99)]);
  });
});
