import { describe, test } from "vitest";
import { BASE_URL, makeForge, openTo, person, WHOLE, type ForgeWorld } from "../sync/people/forge.ts";

/** One item is for user 1, one for users 2 and 3 of the source. */
const WORLD: ForgeWorld = {
  items: ({ user }) => [openTo("plan", user("1")), openTo("notes", user("2"), user("3"))],
  people: ({ user }) => [person(user("1")), person(user("2")), person(user("3")), person(user("4")), WHOLE],
};
const USER = (id: string) => `user:forge:git.acme.test:${id}`;

async function start(worlds: Record<string, ForgeWorld> = { [BASE_URL]: WORLD }) {
  const kb = await makeForge(worlds);
  await kb.register();
  const admin = await kb.addMember(kb.owner.workspaceId, "admin");
  const bob = await kb.addMember(kb.owner.workspaceId, "member");
  const shown = async (who: typeof bob, connectorId: string) => {
    const { status, json } = await kb.as(who).get(`/api/connectors/${connectorId}`);
    return status === 200 ? (json.connector.readByNobody ?? "read") : status;
  };
  const listed = async (who: typeof bob) => (await kb.as(who).get("/api/connectors")).json.connectors;
  return { ...kb, admin, bob, shown, listed };
}

describe("a connector that mirrors permissions, of which no member can read anything", () => {
  test("says so to its owner and admins until one of them can", async ({ expect }) => {
    const kb = await start();
    const connectorId = await kb.connect(kb.owner);
    for (const who of [kb.owner, kb.admin]) {
      expect(await kb.shown(who, connectorId)).toEqual({ users: 4, linked: 0 });
      expect(await kb.listed(who)).toMatchObject([{ counts: { indexed: 2 }, readByNobody: { users: 4, linked: 0 } }]);
    }
    // Who is linked reads nothing of it there.
    await kb.link(kb.owner, connectorId, USER("4"), kb.bob.userId);
    expect(await kb.shown(kb.owner, connectorId)).toEqual({ users: 4, linked: 1 });
    await kb.link(kb.owner, connectorId, USER("3"), kb.bob.userId);
    expect(await kb.readable(kb.bob)).toEqual(["notes"]);
    expect(await kb.shown(kb.owner, connectorId)).toBe("read");
    expect(await kb.shown(kb.admin, connectorId)).toBe("read");
    await kb.link(kb.owner, connectorId, USER("3"), null);
    expect(await kb.shown(kb.admin, connectorId)).toEqual({ users: 4, linked: 1 });
  });

  test("is no matter of other members", async ({ expect }) => {
    const kb = await start();
    const hidden = await kb.connect(kb.owner);
    expect(await kb.shown(kb.bob, hidden)).toBe(404);
    expect(await kb.listed(kb.bob)).toEqual([]);
    await kb.link(kb.owner, hidden, USER("1"), kb.bob.userId);
    expect(await kb.listed(kb.bob)).toEqual([
      { id: hidden, name: `Forge ${BASE_URL}`, providerId: "forge", state: "active" },
    ]);
  });

  test("says it to its owner alone while it is private, of anyone who could read it at the source", async ({
    expect,
  }) => {
    const kb = await start();
    const connectorId = await kb.connect(kb.owner);
    await kb.link(kb.owner, connectorId, USER("1"), kb.bob.userId);
    await kb.as(kb.owner).patch(`/api/connectors/${connectorId}`, { access: { visibility: "private" } });
    // Bob may read it at the source, and its owner may come to it here: neither may do both.
    expect(await kb.readable(kb.bob)).toEqual([]);
    expect(await kb.shown(kb.owner, connectorId)).toEqual({ users: 4, linked: 1 });
    expect(await kb.shown(kb.admin, connectorId)).toBe("read");
    expect(JSON.stringify(await kb.listed(kb.admin))).not.toContain("readByNobody");
  });

  test("says nothing once its owner has left or it is being deleted: why nobody reads it is told elsewhere", async ({
    expect,
  }) => {
    const kb = await start();
    const left = await kb.connect(kb.admin);
    expect(await kb.shown(kb.owner, left)).toEqual({ users: 4, linked: 0 });
    await kb.as(kb.owner).delete(`/api/workspace/members/${kb.admin.userId}`);
    expect(await kb.shown(kb.owner, left)).toBe("read");
    const deleted = await kb.connect(kb.owner);
    expect(await kb.shown(kb.owner, deleted)).toEqual({ users: 4, linked: 0 });
    await kb.as(kb.owner).delete(`/api/connectors/${deleted}`);
    expect(await kb.shown(kb.owner, deleted)).toBe("read");
  });

  test("says nothing while nothing is indexed, and where its permissions are too old to be believed", async ({
    expect,
  }) => {
    const kb = await start({ [BASE_URL]: { ...WORLD, items: () => [] } });
    expect(await kb.shown(kb.owner, await kb.connect(kb.owner))).toBe("read");
    const stale = await start();
    const connectorId = await stale.connect(stale.owner);
    stale.clock.advance(25 * 3_600_000);
    const { connector } = (await stale.as(stale.owner).get(`/api/connectors/${connectorId}`)).json;
    expect([connector.aclStale?.cause, connector.readByNobody]).toEqual(["not_checked", undefined]);
  });
});

test("no one links themselves, and is told of the way that is left", async ({ expect }) => {
  const kb = await start();
  const connectorId = await kb.connect(kb.owner);
  const { status, json } = await kb.link(kb.owner, connectorId, USER("1"), kb.owner.userId);
  expect(status).toBe(403);
  expect(json.detail).toContain("Connect your own account at the source");
  expect(await kb.readable(kb.owner)).toEqual([]);
});
