import type { ConnectorState } from "#storage/records/connectors.ts";
import { describe, test } from "vitest";
import { connectorPrincipal } from "#storage/access/item-clocks.ts";
import { itemNotFound } from "#storage/policy/policy.ts";
import { internIn } from "../access/intern.ts";
import { makeWorld, type ConnectorInput } from "../access/fixtures.ts";

const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;

async function start() {
  const world = await makeWorld();
  const wsp = await world.workspace();
  const ana = await world.user(wsp);
  const connector = (providerId: string, more: ConnectorInput = {}) =>
    world.connector(wsp, { providerId, aclCheckedAt: world.clock.ms, ...more });
  const set = (
    connectorId: string,
    columns: { state?: ConnectorState; refusedAt?: number | null; withheldAt?: number | null },
  ) =>
    world.database.write
      .updateTable("connectors")
      .set(columns)
      .where("workspaceId", "=", wsp)
      .where("connectorId", "=", connectorId)
      .execute();
  /** Gives an item the clock of an instant of its own. */
  const clockAt = async (connectorId: string, kbId: string, checkedAt: number) => {
    const all = internIn(world.database, wsp, { known: true, all: [["everyone"]] }, [
      connectorPrincipal(connectorId, checkedAt),
    ]);
    await world.database.write.updateTable("items").set({ aclId: all }).where("kbId", "=", kbId).execute();
    await world.database.write.insertInto("item_clocks").values({ workspaceId: wsp, connectorId, checkedAt }).execute();
    await world.store.in(wsp).access.raiseEpoch();
  };
  const reads = async (...kbIds: string[]) => {
    await world.store.in(wsp).access.raiseEpoch();
    const open = await world.policy.mayRead(ana, kbIds);
    return kbIds.map((kbId) => open.has(kbId));
  };
  return { world, wsp, ana, connector, set, clockAt, reads };
}

describe("a connector that may not be believed", () => {
  test("shuts its items: a mirror also without an owner or refused, any while withheld or being deleted", async ({
    expect,
  }) => {
    const { world, wsp, connector, set, reads } = await start();
    const [mirror, folder] = [await connector("github"), await connector("filesystem")];
    const items = [await world.item(wsp, { connectorId: mirror }), await world.item(wsp, { connectorId: folder })];
    const cases: [Parameters<typeof set>[1], boolean[]][] = [
      [{}, [true, true]],
      [{ state: "needs_owner" }, [false, true]],
      [{ state: "active", refusedAt: 1 }, [false, true]],
      [{ refusedAt: null, withheldAt: 1 }, [false, false]],
      [{ withheldAt: null, state: "deleting" }, [false, false]],
      [{ state: "paused" }, [true, true]],
    ];
    for (const [columns, expected] of cases) {
      for (const id of [mirror, folder]) if (Object.keys(columns).length > 0) await set(id, columns);
      expect([columns, await reads(...items)]).toEqual([columns, expected]);
    }
  });
});

describe("an item with a clock of its own", () => {
  test("is open until that has run out, however fresh its connector is", async ({ expect }) => {
    const { world, wsp, ana, connector, clockAt, reads } = await start();
    const con = await connector("github");
    const [plain, own] = [await world.item(wsp, { connectorId: con }), await world.item(wsp, { connectorId: con })];
    const at = world.clock.ms - 23 * HOUR_MS;
    await clockAt(con, own, at);
    expect(await reads(plain, own)).toEqual([true, true]);
    const viewer = await world.policy.viewerOf(ana);
    expect(viewer.validUntil).toBe(at + DAY_MS);
    expect(viewer.principals).toEqual(
      ["everyone", connectorPrincipal(con), connectorPrincipal(con, at), `user:${ana.userId}`, "workspace"].toSorted(),
    );
    world.clock.ms = at + DAY_MS - 1;
    expect((await world.policy.mayRead(ana, [plain, own])).size).toBe(2);
    world.clock.ms += 1;
    expect(await world.policy.mayRead(ana, [plain, own])).toEqual(new Set([plain]));
    expect((await world.policy.viewerOf(ana)).validUntil).toBeGreaterThan(at + DAY_MS);
  });

  test("is open beside a connector that has grown old, not beside one that is shut, to others, or by a clock of tomorrow", async ({
    expect,
  }) => {
    const { world, wsp, connector, set, clockAt, reads } = await start();
    const old = await connector("github", { aclCheckedAt: world.clock.ms - 25 * HOUR_MS });
    const closed = await connector("github", { members: ["user:usr_other"] });
    const pushed = await connector("push");
    const [ofOld, ofClosed, ofPushed] = [
      await world.item(wsp, { connectorId: old }),
      await world.item(wsp, { connectorId: closed }),
      await world.item(wsp, { connectorId: pushed }),
    ];
    const at = world.clock.ms - HOUR_MS;
    await clockAt(old, ofOld, at);
    await clockAt(closed, ofClosed, at);
    // Of a source that mirrors nothing, no item has a clock that counts.
    await clockAt(pushed, ofPushed, at);
    expect(await reads(ofOld, ofClosed, ofPushed)).toEqual([true, false, false]);
    const ahead = await world.item(wsp, { connectorId: old });
    await clockAt(old, ahead, world.clock.ms + HOUR_MS);
    expect(await reads(ahead)).toEqual([false]);
    await set(old, { refusedAt: 1 });
    expect(await reads(ofOld)).toEqual([false]);
    await set(old, { refusedAt: null, state: "needs_owner" });
    expect(await reads(ofOld)).toEqual([false]);
    await set(old, { state: "active" });
    expect(await reads(ofOld)).toEqual([true]);
  });
});

describe("what someone stands for", () => {
  test("is kept until the epoch moves on, time takes something, or the clock goes back", async ({ expect }) => {
    const { world, wsp, ana, connector } = await start();
    await connector("github");
    const first = await world.policy.viewerOf(ana);
    expect(await world.policy.viewerOf(ana)).toBe(first);
    await world.store.in(wsp).access.raiseEpoch();
    const second = await world.policy.viewerOf(ana);
    expect([second === first, second.epoch]).toEqual([false, first.epoch + 1]);
    world.clock.ms += DAY_MS - 1;
    expect(await world.policy.viewerOf(ana)).toBe(second);
    world.clock.ms += 1;
    const third = await world.policy.viewerOf(ana);
    expect(third).not.toBe(second);
    world.clock.ms -= 1;
    expect(await world.policy.viewerOf(ana)).not.toBe(third);
  });

  test("is nothing for who is no member, until they are", async ({ expect }) => {
    const { world, wsp } = await start();
    const eve = await world.user(await world.workspace("Other"));
    const epoch = await world.store.in(wsp).access.epoch();
    expect(await world.policy.viewerOf({ ...eve, workspaceId: wsp })).toEqual({
      principals: [],
      epoch,
      madeAt: world.clock.ms,
      validUntil: Infinity,
    });
  });

  test("opens a list by the numbers of its accesses", async ({ expect }) => {
    const { world, wsp, ana, connector } = await start();
    const con = await connector("filesystem");
    const [open, hidden] = [
      await world.item(wsp, { connectorId: con }),
      await world.item(wsp, { connectorId: con, access: { known: true, all: [["user:usr_other"]] } }),
    ];
    const seen = await world.policy.readList(ana, async ({ store, viewer, accesses }) => {
      const items = await store.items.accessOf([open, hidden]);
      expect(viewer.principals).toContain(`user:${ana.userId}`);
      return items.filter(({ aclId }) => accesses.has(aclId)).map(({ kbId }) => kbId);
    });
    expect(seen).toEqual([open]);
  });
});

describe("a question to an index that has moved on", () => {
  test("is asked with who was kept, then with who they are now", async ({ expect }) => {
    const { world, wsp, ana } = await start();
    const kept = await world.policy.viewerOf(ana);
    await world.store.in(wsp).access.raiseEpoch();
    const asked: number[] = [];
    const answer = await world.policy.askAs(ana, async ({ epoch }) => {
      asked.push(epoch);
      return epoch === kept.epoch ? undefined : "found";
    });
    expect([answer, asked]).toEqual(["found", [kept.epoch, kept.epoch + 1]]);
    // Nothing and zero are answers.
    for (const given of [0, null, ""]) expect(await world.policy.askAs(ana, async () => given)).toBe(given);
  });

  test("is given up after 50 tries, as what can be repeated", async ({ expect }) => {
    const { world, ana } = await start();
    let asked = 0;
    const never = world.policy.askAs(ana, async () => void asked++);
    await expect(never).rejects.toMatchObject({
      code: "unavailable",
      message: "Permissions are changing too fast to search. Repeat the search in a moment.",
      retryAfterMs: 1_000,
    });
    expect(asked).toBe(50);
  });
});

test("an item that is not found is named by what was asked, cut at 200 characters", ({ expect }) => {
  const failure = itemNotFound("x".repeat(300));
  expect([failure.code, failure.message]).toEqual([
    "not_found",
    `No item "${"x".repeat(200)}" that this person can see. Use a kbId from a search, or search for its title.`,
  ]);
});
