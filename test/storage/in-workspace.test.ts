import { describe, test } from "vitest";
import { acrossWorkspaces, inWorkspace } from "#storage/in-workspace.ts";
import { CONNECTOR_TENANTS, IDENTITY_SCHEDULES } from "#storage/tables/connectors.ts";
import { GROUPS } from "#storage/tables/people.ts";
import { makeWorld } from "./access/fixtures.ts";

async function makeTwo() {
  const world = await makeWorld();
  const [one, two] = [await world.workspace("One"), await world.workspace("Two")];
  const groupsOf = (workspaceId: string) => inWorkspace(world.database, workspaceId, GROUPS);
  const group = { groupId: "grp_a", name: "A", ownerUserId: null, isClosed: false, createdAt: 1 };
  await groupsOf(one).insert(group);
  await groupsOf(two).insert({ ...group, name: "B", isClosed: true });
  return { world, one, two, group, mine: groupsOf(one), others: groupsOf(two) };
}

describe("a table in a workspace", () => {
  test("finds, changes and deletes rows of this workspace alone", async ({ expect }) => {
    const { group, mine, others } = await makeTwo();
    expect(await mine.find({ groupId: "grp_a" })).toEqual(group);
    expect(await mine.update({ groupId: "grp_a" }, { name: "C", isClosed: true })).toBe(1);
    expect(await mine.find({ isClosed: 1 })).toEqual({ ...group, name: "C", isClosed: true });
    expect(await others.find({ name: "B" })).toMatchObject({ name: "B" });
    expect(await mine.remove({ groupId: "grp_a" })).toBe(1);
    expect(await mine.find({ groupId: "grp_a" })).toBeUndefined();
    expect(await others.find({ groupId: "grp_a" })).toMatchObject({ name: "B", isClosed: true });
  });

  test("begins queries that have the workspace already", async ({ expect }) => {
    const { group, mine, others } = await makeTwo();
    expect((await mine.select().select("name").execute()).map(({ name }) => name)).toEqual(["A"]);
    await mine.updating({ ownerUserId: null }).set({ name: "C" }).where("createdAt", ">", 0).execute();
    expect(await others.find({})).toMatchObject({ name: "B" });
    await mine.deleting().where("createdAt", ">", 0).execute();
    expect(await others.find({})).toMatchObject({ name: "B" });
    await mine
      .inserting({ ...group, name: "D" })
      .onConflict((found) => found.doNothing())
      .execute();
    expect(await mine.find({})).toMatchObject({ name: "D" });
  });

  test("never takes the workspace from a record", async ({ expect }) => {
    const { world, one, two, group, others } = await makeTwo();
    const foreign = { ...group, groupId: "grp_b", workspaceId: two };
    await inWorkspace(world.database, one, GROUPS).insert(foreign);
    expect(await others.find({ groupId: "grp_b" })).toBeUndefined();
  });

  test("changes nothing where nothing is to be changed", async ({ expect }) => {
    const { mine } = await makeTwo();
    expect(await mine.update({ groupId: "grp_a" }, {})).toBe(0);
    expect(await mine.update({ groupId: "grp_a" }, { name: undefined })).toBe(0);
  });

  test("refuses to compare with undefined, which would be of all rows", async ({ expect }) => {
    const { mine } = await makeTwo();
    const unknown: { groupId: string } = JSON.parse("{}");
    await expect(mine.remove({ groupId: unknown.groupId })).rejects.toThrow("groups.groupId");
    expect(await mine.find({ groupId: "grp_a" })).toBeDefined();
  });

  test("puts a row in the place of one with its key, or leaves that one", async ({ expect }) => {
    const { world, one } = await makeTwo();
    const tenants = inWorkspace(world.database, one, CONNECTOR_TENANTS);
    await tenants.insert({ connectorId: "con_a", tenantId: "t1" }, { tenantId: "t1" });
    await tenants.insert({ connectorId: "con_a", tenantId: "t2" }, { tenantId: "t2" });
    expect(await tenants.find({ connectorId: "con_a" })).toEqual({ connectorId: "con_a", tenantId: "t2" });
    await tenants.insert({ connectorId: "con_a", tenantId: "t3" }, {});
    expect(await tenants.find({ connectorId: "con_a" })).toMatchObject({ tenantId: "t2" });
    await expect(tenants.insert({ connectorId: "con_a", tenantId: "t4" })).rejects.toThrow();
  });

  test("is bounded by what is asked alone when it is read across workspaces", async ({ expect }) => {
    const { world } = await makeTwo();
    const groups = acrossWorkspaces(world.database, GROUPS);
    const rows = await groups.select({ groupId: "grp_a" }).select("name").orderBy("name").execute();
    expect(rows.map(({ name }) => name)).toEqual(["A", "B"]);
    expect(await groups.update({ name: "B" }, { name: "C" })).toBe(1);
    expect(await groups.find({ name: "C" })).toMatchObject({ isClosed: true });
  });

  test("leaves to the database what it fills", async ({ expect }) => {
    const { world, one } = await makeTwo();
    const connectorId = await world.connector(one);
    const schedules = inWorkspace(world.database, one, IDENTITY_SCHEDULES);
    await schedules.insert({ connectorId, nextRunAt: 5 });
    expect(await schedules.find({ connectorId })).toEqual({ askedAt: null, paidUntil: null });
  });
});
