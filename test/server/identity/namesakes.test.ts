import { describe, test } from "vitest";
import { makeServer } from "../../helpers.ts";

async function makeTwo(name = "Ana Owner") {
  const kb = await makeServer();
  const ana = await kb.addOwner();
  const mallory = await kb.addMember(ana.workspaceId, "member");
  await kb.as(ana).patch("/api/profile", { name: "Ana Owner" });
  await kb.as(mallory).patch("/api/profile", { name });
  return { kb, ana, mallory };
}

describe("a name that two people have", () => {
  test.for(["Ana Owner", "ANA owner"])("is told with the address in the audit: %s", async (name, { expect }) => {
    const { kb, ana, mallory } = await makeTwo(name);
    const { names } = (await kb.as(ana).get("/api/audit")).json;
    expect(names[ana.userId]).toBe(`Ana Owner (${ana.email})`);
    expect(names[mallory.userId]).toBe(`${name} (${mallory.email})`);
  });

  test.for(["Ana\u00a0Owner", "Ana  Owner", "\u2003Ana\u2009 Owner\u3000"])(
    "is one however its spaces are written: %j",
    async (name, { expect }) => {
      const { kb, ana, mallory } = await makeTwo(name);
      const { names } = (await kb.as(ana).get("/api/audit")).json;
      expect(names[mallory.userId]).toBe(`Ana Owner (${mallory.email})`);
      expect(names[ana.userId]).toBe(`Ana Owner (${ana.email})`);
    },
  );

  test("can't be taken with the address that tells it apart", async ({ expect }) => {
    for (const at of ["@", "\uff20", "\ufe6b"]) {
      const { kb, ana, mallory } = await makeTwo();
      const name = `Ana Owner (${ana.email.replace("@", at)})`;
      await kb.as(mallory).patch("/api/profile", { name });
      const { names } = (await kb.as(ana).get("/api/audit")).json;
      expect(names[mallory.userId]).toBe(`${name} (${mallory.email})`);
      // Whose name is nothing but their own address is told once.
      await kb.as(mallory).patch("/api/profile", { name: mallory.email });
      expect((await kb.as(ana).get("/api/audit")).json.names[mallory.userId]).toBe(mallory.email);
    }
  });

  test("is told alone where it is one person's", async ({ expect }) => {
    const { kb, ana, mallory } = await makeTwo("Mallory");
    const { names } = (await kb.as(ana).get("/api/audit")).json;
    expect([names[ana.userId], names[mallory.userId]]).toEqual(["Ana Owner", "Mallory"]);
    // Somebody of another workspace is nobody here.
    const other = await kb.addOwner("Other");
    await kb.as(other).patch("/api/profile", { name: "Ana Owner" });
    expect((await kb.as(ana).get("/api/audit")).json.names[ana.userId]).toBe("Ana Owner");
  });

  test("is told with the address by notices, and by what others opened of a group", async ({ expect }) => {
    const { kb, ana, mallory } = await makeTwo();
    await kb.as(ana).patch(`/api/workspace/members/${mallory.userId}`, { role: "owner" });
    const victim = await kb.addMember(ana.workspaceId, "member");
    await kb.as(mallory).post(`/api/workspace/members/${victim.userId}/password-reset`);
    const { notices } = (await kb.as(victim).get("/api/session")).json;
    expect(notices).toContainEqual(
      expect.objectContaining({ type: "reset_link_made", by: `Ana Owner (${mallory.email})` }),
    );
    const { group } = (await kb.as(ana).post("/api/groups", { name: "Ops", memberIds: [] })).json;
    await kb.as(mallory).patch(`/api/groups/${group.id}`, { memberIds: [victim.userId] });
    const opened = (await kb.as(ana).get(`/api/groups/${group.id}`)).json;
    expect(JSON.stringify(opened)).toContain(`Ana Owner (${mallory.email})`);
  });
});
