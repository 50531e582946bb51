import { describe, test } from "vitest";
import { noticesOf } from "#cli/records/notices.ts";
import type { TestUser } from "../../../helpers.ts";
import { BASE_URL, makeForge, person, WHOLE, type ForgeContext, type ForgeWorld } from "../../sync/people/forge.ts";

const DAY_MS = 86_400_000;
const ONE = "user:forge:git.acme.test:1";
const TWO = "user:forge:git.acme.test:2";

type Said = ReturnType<ForgeWorld["people"]>;

const nameOf = ({ email }: TestUser) => email.split("@")[0];

/** A workspace with an admin who links people, two members, and a connector. */
async function makeLinking() {
  const world = { people: ({ user }: ForgeContext): Said => [person(user("1")), person(user("2")), WHOLE] };
  const kb = await makeForge({ [BASE_URL]: { items: () => [], people: (at) => world.people(at) } });
  const { workspaceId } = kb.owner;
  const admin = await kb.addMember(workspaceId, "admin");
  const ann = await kb.addMember(workspaceId);
  const bob = await kb.addMember(workspaceId);
  await kb.register();
  const connectorId = await kb.connect(kb.owner);
  return {
    ...kb,
    world,
    admin,
    ann,
    bob,
    connectorId,
    tie: async (principal: string, userId: string | null) => {
      const { status, text } = await kb.link(admin, connectorId, principal, userId);
      if (status !== 200) throw new Error(text);
    },
    told: async (who: TestUser) => (await kb.as(who).get("/api/session")).json.notices,
  };
}

describe("a link by hand", () => {
  test("is shown to the member and to every owner, and to no one else", async ({ expect }) => {
    const kb = await makeLinking();
    const second = await kb.addMember(kb.owner.workspaceId, "owner");
    await kb.tie(ONE, kb.ann.userId);
    const about = {
      at: new Date(kb.clock.now()).toISOString(),
      by: nameOf(kb.admin),
      person: { principal: ONE, providerId: "forge", name: "Name of 1" },
      count: 1,
      isEnded: false,
    };
    expect(await kb.told(kb.ann)).toEqual([{ type: "person_linked", ...about, connector: null, member: null }]);
    const ofOwners = { ...about, connector: `Forge ${BASE_URL}`, member: nameOf(kb.ann) };
    for (const owner of [kb.owner, second]) {
      expect(await kb.told(owner)).toEqual([{ type: "people_linked", ...ofOwners }]);
    }
    for (const other of [kb.admin, kb.bob]) expect(await kb.told(other)).toEqual([]);
  });

  test("is shown to who was that person until then, also when the link was removed first", async ({ expect }) => {
    const kb = await makeLinking();
    await kb.tie(ONE, kb.ann.userId);
    kb.clock.advance(1000);
    await kb.tie(ONE, null);
    kb.clock.advance(1000);
    await kb.tie(ONE, kb.bob.userId);
    expect(await kb.told(kb.ann)).toMatchObject([
      { type: "person_linked", isEnded: true },
      { type: "person_unlinked", person: { principal: ONE }, by: nameOf(kb.admin), member: null, isEnded: true },
    ]);
    // Who came after her is no matter of hers.
    const eve = await kb.addMember(kb.owner.workspaceId);
    kb.clock.advance(1000);
    await kb.tie(ONE, eve.userId);
    const unlinked = ({ type }: { type: string }) => type === "person_unlinked";
    expect((await kb.told(kb.ann)).filter(unlinked)).toHaveLength(1);
    expect((await kb.told(kb.bob)).filter(unlinked)).toHaveLength(1);
    expect((await kb.told(eve)).filter(unlinked)).toEqual([]);
  });

  test("is one of many in one notice for owners, and stays theirs when it ends", async ({ expect }) => {
    const kb = await makeLinking();
    await kb.tie(ONE, kb.ann.userId);
    kb.clock.advance(1000);
    await kb.tie(TWO, kb.bob.userId);
    await kb.tie(TWO, null);
    expect(await kb.told(kb.owner)).toMatchObject([
      { type: "people_linked", count: 2, member: nameOf(kb.bob), person: { principal: TWO } },
    ]);
    expect((await kb.as(kb.owner).delete(`/api/connectors/${kb.connectorId}`)).status).toBeLessThan(300);
    await kb.work();
    expect(await kb.told(kb.owner)).toMatchObject([
      { connector: null, count: 2, person: { principal: TWO, name: null } },
    ]);
  });

  test("says what they are called to no one who is not them any more", async ({ expect }) => {
    const kb = await makeLinking();
    await kb.tie(ONE, kb.ann.userId);
    await kb.tie(TWO, kb.bob.userId);
    expect(await kb.told(kb.bob)).toMatchObject([{ person: { principal: TWO, name: "Name of 2" } }]);
    kb.clock.advance(1000);
    await kb.tie(ONE, null);
    const renamed = { name: "Renamed" };
    kb.world.people = ({ user }) => [
      { ...person(user("1")), ...renamed },
      { ...person(user("2"), undefined, { state: "suspended" }), ...renamed },
      WHOLE,
    ];
    await kb.pass(DAY_MS / 2);
    for (const [who, principal] of [
      [kb.ann, ONE],
      [kb.bob, TWO],
    ] as const) {
      const told = await kb.told(who);
      expect(told).toMatchObject([{ type: "person_linked", person: { principal, name: null }, isEnded: true }]);
      expect(noticesOf({ notices: told }).join()).toContain("to a user of forge. The link has ended. ");
    }
    expect(JSON.stringify(await kb.told(kb.owner))).toContain("Renamed");
  });

  test("names the connector to anyone who manages it, and to no one else", async ({ expect }) => {
    const kb = await makeLinking();
    await kb.tie(ONE, kb.ann.userId);
    expect(await kb.told(kb.ann)).toMatchObject([{ type: "person_linked", connector: null }]);
    const { status } = await kb.link(kb.owner, kb.connectorId, TWO, kb.admin.userId);
    expect(status).toBe(200);
    expect(await kb.told(kb.admin)).toMatchObject([{ type: "person_linked", connector: `Forge ${BASE_URL}` }]);
  });

  test("is told in its workspace alone, for a day after each sign-in, 90 days long", async ({ expect }) => {
    const kb = await makeLinking();
    await kb.tie(ONE, kb.ann.userId);
    const other = await kb.addOwner("Other");
    expect(await kb.told(other)).toEqual([]);
    const { workspaceId } = other;
    await kb.store.transaction((tx) =>
      tx.in(workspaceId).members.insert({ userId: kb.ann.userId, role: "owner", joinedAt: kb.clock.now() }),
    );
    const switched = await kb.as(kb.ann).post("/api/session/workspace", { workspaceId });
    expect([switched.status, switched.json.notices]).toEqual([200, []]);
    const token = await kb.token(kb.owner, ["kb:api"]);
    kb.clock.advance(2 * DAY_MS);
    expect(await kb.told(kb.owner)).toEqual([]);
    const byToken = async () => (await kb.withToken(token).get("/api/session")).json.notices;
    expect(await byToken()).toHaveLength(1);
    kb.clock.advance(88 * DAY_MS + 1);
    expect(await byToken()).toEqual([]);
  });

  test("is a sentence on the command line", async ({ expect }) => {
    const kb = await makeLinking();
    await kb.tie(ONE, kb.ann.userId);
    const on = `Notice: on ${new Date(kb.clock.now()).toISOString().slice(0, 16).replace("T", " ")} UTC`;
    const who = `Name of 1 of Forge ${BASE_URL}`;
    const [linked] = noticesOf({ notices: await kb.told(kb.ann) });
    expect(linked).toContain(
      `${on} ${nameOf(kb.admin)} linked your account to Name of 1 of forge. You can read what they can read there. `,
    );
    const [owners] = noticesOf({ notices: await kb.told(kb.owner) });
    expect(owners).toContain(`${on} ${nameOf(kb.admin)} linked ${nameOf(kb.ann)} to ${who}. `);
    await kb.tie(ONE, kb.bob.userId);
    const unlinked = noticesOf({ notices: await kb.told(kb.ann) }).join("\n");
    expect(unlinked).toContain(
      `${nameOf(kb.admin)} linked a user of forge to another member. Your account was linked to them before.`,
    );
  });
});
