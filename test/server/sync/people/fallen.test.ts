import { describe, test } from "vitest";
import { HOUR_MS } from "../mirror.ts";
import { BASE_URL, makeForge, openTo, person, WHOLE } from "./forge.ts";

/**
 * The access of `plan` names Ann's user at the source alone; that of `all` names everybody. Her own connector and the owner's
 * read the same instance.
 */
async function makeNamed(role: "owner" | "admin", provenBy: "herself" | "both") {
  const kb = await makeForge({
    [BASE_URL]: {
      items: ({ user }) => [openTo("plan", user("1")), openTo("all", "everyone")],
      people: ({ user }) => [person(user("1"), "ann@acme.test"), WHOLE],
    },
  });
  const ann = await kb.addMember(kb.owner.workspaceId, role, "ann@acme.test");
  await kb.verify(ann);
  await kb.setDomains(["acme.test"]);
  await kb.register();
  await kb.connect(ann);
  if (provenBy === "both") await kb.connect(kb.owner);
  const setRole = (to: string) => kb.as(kb.owner).patch(`/api/workspace/members/${ann.userId}`, { role: to });
  const reads = async () => [...new Set(await kb.readable(ann))];
  return { kb, ann, setRole, reads };
}

describe("who stands in an item's own access list", () => {
  test("reads on as a member, where an admin's connector tells who they are", async ({ expect }) => {
    for (const role of ["owner", "admin"] as const) {
      const { kb, setRole, reads } = await makeNamed(role, "both");
      expect(await reads()).toEqual(["all", "plan"]);
      expect((await setRole("member")).status).toBe(200);
      expect(await reads()).toEqual(["all", "plan"]);
      await kb.pass(HOUR_MS);
      expect(await reads()).toEqual(["all", "plan"]);
    }
  });

  test("doesn't as a member, where only their own connector tells it", async ({ expect }) => {
    for (const role of ["owner", "admin"] as const) {
      const { kb, setRole, reads } = await makeNamed(role, "herself");
      expect(await reads()).toEqual(["all", "plan"]);
      await setRole("member");
      expect(await reads()).toEqual(["all"]);
      // Their connector goes on, and what it says of people counts for nothing.
      for (let hour = 0; hour < 13; hour++) await kb.pass(HOUR_MS);
      expect(await reads()).toEqual(["all"]);
    }
  });

  test("reads nothing once they have left, and nothing by that list when they come back with the same address", async ({
    expect,
  }) => {
    for (const role of ["owner", "admin"] as const) {
      const { kb, ann } = await makeNamed(role, "both");
      expect((await kb.as(kb.owner).delete(`/api/workspace/members/${ann.userId}`)).status).toBe(204);
      expect((await kb.as(ann).get("/api/session")).status).toBe(401);
      await kb.store.transaction((tx) =>
        tx.in(ann.workspaceId).members.insert({ userId: ann.userId, role: "member", joinedAt: 0 }),
      );
      const back = await kb.signIn(ann);
      expect(await kb.readable(back)).toEqual(["all"]);
      for (let hour = 0; hour < 13; hour++) await kb.pass(HOUR_MS);
      expect(await kb.readable(back)).toEqual(["all"]);
    }
  });
});
