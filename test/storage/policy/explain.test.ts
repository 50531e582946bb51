import { describe, test } from "vitest";
import { explainAccess } from "#storage/policy/explain.ts";
import { makeWorld } from "../access/fixtures.ts";

describe("access explain", () => {
  test("a member sees their own chain, other principals as a number", async ({ expect }) => {
    const world = await makeWorld();
    const wsp = await world.workspace();
    const ana = await world.user(wsp);
    const con = await world.connector(wsp, { members: ["group:grp_b"] });
    const { access } = world.store.in(wsp);
    await access.setMembers("group:grp_a", [`user:${ana.userId}`], "kb");
    await access.setMembers("group:grp_b", ["group:grp_a"], "kb");
    const kbId = await world.item(wsp, {
      connectorId: con,
      title: "Plan",
      access: { known: true, all: [["group:grp_a", "user:usr_ceo", "user:usr_cfo"]] },
    });
    expect(await explainAccess(world, ana, kbId)).toEqual({
      kbId,
      userId: ana.userId,
      isAllowed: true,
      reason: "allowed",
      title: "Plan",
      connectorId: con,
      isAdminRead: false,
      lists: [
        {
          origin: "connector",
          isMet: true,
          size: 1,
          chain: [`user:${ana.userId}`, "group:grp_a", "group:grp_b", `group:connector:${con}`],
          principals: null,
        },
        { origin: "source", isMet: true, size: 3, chain: [`user:${ana.userId}`, "group:grp_a"], principals: null },
      ],
    });
  });

  test("a member gets the same answer for a hidden item as for none, and nothing about others", async ({ expect }) => {
    const world = await makeWorld();
    const wsp = await world.workspace();
    const [ana, bo] = [await world.user(wsp), await world.user(wsp)];
    const con = await world.connector(wsp);
    const kbId = await world.item(wsp, { connectorId: con, access: { known: true, all: [["user:x"]] } });
    const hidden = await explainAccess(world, ana, kbId).catch((e: unknown) => e);
    const forbidden = await explainAccess(world, ana, kbId, bo.userId).catch((e: unknown) => e);
    await world.database.write.deleteFrom("items").execute();
    expect(await explainAccess(world, ana, kbId).catch((e: unknown) => e)).toEqual(hidden);
    expect(hidden).toMatchObject({ code: "not_found" });
    expect(forbidden).toMatchObject({ code: "forbidden" });
  });

  test("an admin is told about any member, with the reason and without the title they may not read", async ({
    expect,
  }) => {
    const world = await makeWorld();
    const [wsp, other] = [await world.workspace(), await world.workspace("Other")];
    const [ana, admin, eve] = [await world.user(wsp), await world.user(wsp, "admin"), await world.user(other)];
    const con = await world.connector(wsp, { providerId: "github", aclCheckedAt: world.clock.ms });
    const items = {
      allowed: await world.item(wsp, { connectorId: con, access: { known: true, all: [[`user:${ana.userId}`]] } }),
      list_unmet: await world.item(wsp, { connectorId: con, access: { known: true, all: [["user:x"]] } }),
      access_unknown: await world.item(wsp, { connectorId: con, access: { known: false } }),
      removed: await world.item(wsp, { connectorId: con, removedAt: 1 }),
    };
    for (const [reason, kbId] of Object.entries(items)) {
      const explained = await explainAccess(world, admin, kbId, ana.userId);
      expect(explained).toMatchObject({ reason, title: null, isAdminRead: true, isAllowed: reason === "allowed" });
    }
    world.clock.ms += 25 * 3_600_000;
    expect(await explainAccess(world, admin, items.allowed, ana.userId)).toMatchObject({
      reason: "permissions_too_old",
    });
    await world.database.write.updateTable("connectors").set({ state: "deleting" }).execute();
    await world.store.in(wsp).access.raiseEpoch();
    expect(await explainAccess(world, admin, items.allowed, ana.userId)).toMatchObject({
      reason: "connector_deleting",
    });
    await expect(explainAccess(world, admin, items.allowed, eve.userId)).rejects.toMatchObject({ code: "not_found" });
    const withoutScope = { ...admin, scopes: ["kb:api"] as const };
    await expect(explainAccess(world, withoutScope, items.allowed, ana.userId)).rejects.toMatchObject({
      code: "forbidden",
    });
  });
});
