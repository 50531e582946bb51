import { describe, test } from "vitest";
import { explainAccess } from "#storage/policy/explain.ts";
import { connectorPrincipal } from "#storage/access/item-clocks.ts";
import type { SourceAccess } from "#core/principals.ts";
import { internIn } from "../access/intern.ts";
import { makeWorld } from "../access/fixtures.ts";

const HOUR_MS = 3_600_000;
const lists = (...all: string[][]): SourceAccess => ({ known: true, all });

async function start() {
  const world = await makeWorld();
  const wsp = await world.workspace();
  const [ana, admin] = [await world.user(wsp), await world.user(wsp, "admin")];
  return { world, wsp, ana, admin, on: world.store.in(wsp) };
}

describe("access explain, for an admin", () => {
  test("is a read to audit where it is about another or about what they may not read", async ({ expect }) => {
    const { world, wsp, ana, admin } = await start();
    const con = await world.connector(wsp);
    const [open, hidden] = [
      await world.item(wsp, { connectorId: con, title: "Plan" }),
      await world.item(wsp, { connectorId: con, access: lists([`user:${ana.userId}`]) }),
    ];
    const about = async (kbId: string, userId?: string) => {
      const { isAdminRead, title } = await explainAccess(world, admin, kbId, userId);
      return [isAdminRead, title];
    };
    expect(await about(open)).toEqual([false, "Plan"]);
    expect(await about(open, ana.userId)).toEqual([true, "Plan"]);
    expect(await about(hidden)).toEqual([true, null]);
    expect(await about(hidden, ana.userId)).toEqual([true, null]);
  });

  test("names at most 50 of a list, and what is unmet without a chain", async ({ expect }) => {
    const { world, wsp, admin } = await start();
    const many = Array.from({ length: 60 }, (_, n) => `user:usr_${String(n).padStart(3, "0")}`);
    const kbId = await world.item(wsp, { connectorId: await world.connector(wsp), access: lists(many) });
    const [own, source] = (await explainAccess(world, admin, kbId)).lists;
    expect(own).toMatchObject({ origin: "connector", isMet: true });
    expect(source).toMatchObject({ origin: "source", isMet: false, size: 60, chain: null });
    expect(source?.principals).toHaveLength(50);
  });

  test("tells the connector's list, the connection's and the source's apart, in that order", async ({ expect }) => {
    const { world, wsp, admin } = await start();
    const con = await world.connector(wsp);
    const access = lists(["group:connection:cxn_a"], [`group:connector:${con}`, "user:usr_zed"], ["everyone"]);
    const kbId = await world.item(wsp, { connectorId: con, access });
    const told = (await explainAccess(world, admin, kbId)).lists.map(({ origin, size }) => [origin, size]);
    expect(told).toEqual([
      ["connector", 1],
      ["connection", 1],
      ["source", 2],
      ["source", 1],
    ]);
  });

  test("refuses in words, and doesn't repeat a long id", async ({ expect }) => {
    const { world, wsp, ana, admin } = await start();
    const kbId = await world.item(wsp, { connectorId: await world.connector(wsp) });
    await expect(explainAccess(world, ana, kbId, admin.userId)).rejects.toThrow(
      "Only an admin can ask about someone else's access. Leave out userId to ask about your own.",
    );
    await expect(explainAccess(world, admin, kbId, "u".repeat(99))).rejects.toThrow(
      `This workspace has no member "${"u".repeat(60)}".`,
    );
  });
});

describe("the reason", () => {
  test("is that someone is no member, also for who was one a moment ago", async ({ expect }) => {
    const { world, wsp, admin, on } = await start();
    const kbId = await world.item(wsp, { connectorId: await world.connector(wsp), access: lists(["user:x"]) });
    await world.database.write.deleteFrom("members").where("userId", "=", admin.userId).execute();
    await on.access.raiseEpoch();
    expect(await explainAccess(world, admin, kbId)).toMatchObject({ reason: "not_a_member", isAllowed: false });
  });

  test("is of the item's own connector", async ({ expect }) => {
    const { world, wsp, admin } = await start();
    await world.connector(wsp, { connectorId: "con_aaaaaaaaaaaaaaaa", state: "deleting" });
    const con = await world.connector(wsp, { connectorId: "con_bbbbbbbbbbbbbbbb" });
    const kbId = await world.item(wsp, { connectorId: con, access: lists(["user:x"]) });
    expect((await explainAccess(world, admin, kbId)).reason).toBe("list_unmet");
  });

  test("is age where the mirror is too old, whatever the source's list says", async ({ expect }) => {
    const { world, wsp, admin } = await start();
    const old = { providerId: "github", aclCheckedAt: world.clock.ms - 25 * HOUR_MS };
    const con = await world.connector(wsp, old);
    const [unmet, met] = [
      await world.item(wsp, { connectorId: con, access: lists(["user:x"]) }),
      await world.item(wsp, { connectorId: con }),
    ];
    for (const kbId of [unmet, met]) {
      expect((await explainAccess(world, admin, kbId)).reason).toBe("permissions_too_old");
    }
    const closed = await world.connector(wsp, { ...old, members: ["user:x"] });
    const kbId = await world.item(wsp, { connectorId: closed });
    expect((await explainAccess(world, admin, kbId)).reason).toBe("list_unmet");
  });

  test("is age where only the item's own clock has run out, and its list is told as people know it", async ({
    expect,
  }) => {
    const { world, wsp, ana, admin, on } = await start();
    const con = await world.connector(wsp, { providerId: "github", aclCheckedAt: world.clock.ms });
    const kbId = await world.item(wsp, { connectorId: con });
    const at = world.clock.ms - 23 * HOUR_MS;
    const aclId = internIn(world.database, wsp, lists(["everyone"]), [connectorPrincipal(con, at)]);
    await world.database.write.updateTable("items").set({ aclId }).execute();
    await world.database.write
      .insertInto("item_clocks")
      .values({ workspaceId: wsp, connectorId: con, checkedAt: at })
      .execute();
    await on.access.raiseEpoch();
    const told = await explainAccess(world, admin, kbId, ana.userId);
    expect(told).toMatchObject({ reason: "allowed", lists: [{ origin: "connector" }, { origin: "source" }] });
    expect(told.lists[0]).toMatchObject({
      principals: [connectorPrincipal(con)],
      chain: ["workspace", connectorPrincipal(con)],
    });
    world.clock.ms += HOUR_MS;
    expect((await explainAccess(world, admin, kbId, ana.userId)).reason).toBe("permissions_too_old");
  });

  test("is found in groups that hold each other, by the shortest way", async ({ expect }) => {
    const { world, wsp, ana, on } = await start();
    const con = await world.connector(wsp);
    const members: Record<string, string[]> = {
      grp_a: [`user:${ana.userId}`, "group:grp_c"],
      grp_b: ["group:grp_a"],
      grp_c: ["group:grp_b", "group:grp_a"],
    };
    for (const [group, all] of Object.entries(members)) await on.access.setMembers(`group:${group}`, all, "kb");
    const kbId = await world.item(wsp, { connectorId: con, access: lists(["group:grp_c"]) });
    const [, source] = (await explainAccess(world, ana, kbId)).lists;
    expect(source?.chain).toEqual([`user:${ana.userId}`, "group:grp_a", "group:grp_c"]);
  });
});
