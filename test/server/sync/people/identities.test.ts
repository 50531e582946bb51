import { describe, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import { BASE_URL, makeForge, openTo, person, WHOLE, type ForgeWorld } from "./forge.ts";

const HOUR_MS = 3_600_000;

describe("a user of a source", () => {
  /** The plan is for user 1, and for the team that user 1 is in. */
  const forge = (address: string): ForgeWorld => ({
    items: ({ user, group }) => [openTo("plan", user("1")), openTo("notes", group("team"))],
    people: ({ user, group }) => [
      person(user("1"), address),
      { t: "group", group: group("team"), members: [user("1")] },
      WHOLE,
    ],
  });

  test("is the member with the same verified address in an identity domain", async ({ expect }) => {
    const kb = await makeForge({ [BASE_URL]: forge("ann@acme.test") });
    const ann = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
    await kb.register();
    const connectorId = await kb.connect(kb.owner);
    expect(await kb.readable(ann)).toEqual([]);
    expect((await kb.people(connectorId)).people[0].reason).toBe("email_domain_not_listed");
    await kb.setDomains(["acme.test"]);
    await kb.pass(HOUR_MS);
    // Not proved here.
    expect((await kb.people(connectorId)).people[0].reason).toBe("no_match");
    await kb.verify(ann);
    await kb.pass(HOUR_MS);
    expect(await kb.readable(ann)).toEqual(["notes", "plan"]);
    expect(await kb.readable(kb.owner)).toEqual([]);
    const { people, summary } = await kb.people(connectorId);
    expect(people).toMatchObject([
      { name: "Name of 1", member: { id: ann.userId }, linkedBy: "email", reason: null, state: "active" },
    ]);
    expect(summary).toMatchObject({ users: 1, linked: 1, groups: 1, canLink: true, lastSync: { state: "succeeded" } });
    const { entries } = (await kb.as(kb.owner).get("/api/audit?action=person.linked")).json;
    expect(entries).toMatchObject([{ details: { basis: "email", to: ann.userId } }]);
  });

  test("is linked on the word of an admin's connector while its maker is one", async ({ expect }) => {
    const kb = await makeForge({ [BASE_URL]: forge("ann@acme.test") });
    const ann = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
    const maker = await kb.addMember(kb.owner.workspaceId, "admin");
    await kb.verify(ann);
    await kb.setDomains(["acme.test"]);
    await kb.register();
    const connectorId = await kb.connect(maker);
    expect(await kb.readable(ann)).toEqual(["notes", "plan"]);
    const setRole = (role: string) => kb.as(kb.owner).patch(`/api/workspace/members/${maker.userId}`, { role });
    expect((await setRole("member")).status).toBe(200);
    expect(await kb.readable(ann)).toEqual([]);
    expect((await kb.people(connectorId)).people).toMatchObject([{ member: null, reason: "connector_not_admin_made" }]);
    const { entries } = (await kb.as(kb.owner).get("/api/audit?action=person.unlinked")).json;
    expect(entries).toMatchObject([{ details: { connectorId, from: ann.userId, to: null, reason: "untrusted" } }]);
    await kb.pass(HOUR_MS);
    expect(await kb.readable(ann)).toEqual([]);
    await setRole("admin");
    await kb.pass(HOUR_MS);
    expect(await kb.readable(ann)).toEqual(["notes", "plan"]);
    // Told by two, she stays who the other one says she is.
    await kb.connect(kb.owner);
    await setRole("member");
    expect((await kb.people(connectorId)).people).toMatchObject([{ member: { id: ann.userId } }]);
  });

  test("of a user list that a member serves below a path of their own on the same host is no one", async ({
    expect,
  }) => {
    const forged = `${BASE_URL}/mallory/fake/raw/branch/main`;
    const kb = await makeForge({ [BASE_URL]: forge("ceo@acme.test"), [forged]: forge("mallory@acme.test") });
    const mallory = await kb.addMember(kb.owner.workspaceId, "member", "mallory@acme.test");
    await kb.verify(mallory);
    await kb.setDomains(["acme.test"]);
    await kb.register();
    await kb.connect(kb.owner);
    const own = await kb.connect(mallory, forged);
    await kb.pass(HOUR_MS);
    expect(await kb.readable(mallory)).toEqual([]);
    const [{ principal, reason, member }] = (await kb.people(own)).people;
    expect([reason, member]).toEqual(["instance_not_registered", null]);
    expect(principal).toBe(`user:forge:${own}:1`);
    // Neither does the genuine server say who somebody is to a connector that no admin made.
    const second = await kb.connect(mallory);
    expect((await kb.people(second)).people[0].reason).toBe("connector_not_admin_made");
    expect((await kb.link(kb.owner, second, `user:forge:git.acme.test:1`, mallory.userId)).json.code).toBe(
      "instance_not_trusted",
    );
  });

  test("ends with the instance's registration, and with the word of the source", async ({ expect }) => {
    const world = { state: undefined as "suspended" | undefined };
    const kb = await makeForge({
      [BASE_URL]: {
        ...forge("ann@acme.test"),
        people: ({ user }) => [person(user("1"), "ann@acme.test", world.state ? { state: world.state } : {}), WHOLE],
      },
    });
    const ann = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
    await kb.verify(ann);
    await kb.setDomains(["acme.test"]);
    await kb.register();
    const connectorId = await kb.connect(kb.owner);
    expect(await kb.readable(ann)).toEqual(["plan"]);
    await kb.as(kb.owner).patch("/api/workspace", { instances: [] });
    expect(await kb.readable(ann)).toEqual([]);
    await kb.register();
    await kb.pass(HOUR_MS);
    expect(await kb.readable(ann)).toEqual(["plan"]);
    world.state = "suspended";
    await kb.pass(HOUR_MS);
    expect(await kb.readable(ann)).toEqual([]);
    expect((await kb.people(connectorId)).people[0]).toMatchObject({ reason: "suspended", member: null });
    const { entries } = (await kb.as(kb.owner).get("/api/audit?action=person.unlinked")).json;
    expect(entries[0].details).toMatchObject({ reason: "suspended" });
  });
});

test("a connector tells how old its oldest group is, and what its last run of groups sent", async ({ expect }) => {
  const groups = ["team", "crew"];
  const kb = await makeForge({
    [BASE_URL]: {
      items: () => [],
      people: ({ group }) => [
        ...groups.map((id) => ({ t: "group" as const, group: group(id), members: [] })),
        { t: "end", listing: "partial" },
      ],
    },
  });
  const freshness = async () =>
    (await kb.as(kb.owner).get(`/api/connectors/${connectorId}`)).json.connector.freshness as unknown;
  const connectorId = await kb.connect(kb.owner);
  const first = new Date(kb.clock.now()).toISOString();
  expect(await freshness()).toEqual({ oldestGroupAt: first, requests: 0 });
  groups.pop();
  await kb.pass(HOUR_MS);
  expect(await freshness()).toEqual({ oldestGroupAt: first, requests: 0 });
  groups.push("crew");
  await kb.pass(HOUR_MS);
  expect(await freshness()).toEqual({ oldestGroupAt: new Date(kb.clock.now()).toISOString(), requests: 0 });
});

describe("tying a user of a source by hand", () => {
  const world: ForgeWorld = {
    items: ({ user }) => [openTo("plan", user("1"))],
    people: ({ user }) => [
      person(user("1")),
      person(user("2")),
      person(user("3"), undefined, { state: "gone" }),
      WHOLE,
    ],
  };

  test("is for admins, never to themselves, and is recorded", async ({ expect }) => {
    const kb = await makeForge({ [BASE_URL]: world });
    const [admin, ann] = [
      await kb.addMember(kb.owner.workspaceId, "admin"),
      await kb.addMember(kb.owner.workspaceId, "member"),
    ];
    await kb.register();
    const connectorId = await kb.connect(admin);
    const one = "user:forge:git.acme.test:1";
    expect((await kb.link(ann, connectorId, one, ann.userId)).status).toBe(403);
    for (const who of [admin, kb.owner]) {
      expect((await kb.link(who, connectorId, one, who.userId)).json.code).toBe("forbidden");
    }
    expect((await kb.link(admin, connectorId, "user:forge:git.acme.test:9", ann.userId)).json.code).toBe(
      "unknown_person",
    );
    expect((await kb.link(admin, connectorId, "user:forge:git.acme.test:3", ann.userId)).json.code).toBe(
      "unknown_person",
    );
    expect((await kb.link(admin, connectorId, one, "usr_2222222222222222")).json.code).toBe("unknown_member");
    expect((await kb.link(admin, connectorId, one, ann.userId)).json.people).toMatchObject([
      { principal: one, member: { id: ann.userId }, linkedBy: "admin", reason: null },
    ]);
    expect(await kb.readable(ann)).toEqual(["plan"]);
    // The admin's own tie is made by the owner; it takes the user from the one who had it.
    expect((await kb.link(kb.owner, connectorId, one, admin.userId)).status).toBe(200);
    expect([await kb.readable(ann), await kb.readable(admin)]).toEqual([[], ["plan"]]);
    const { entries } = (await kb.as(kb.owner).get("/api/audit?action=person.linked")).json;
    expect(entries[0].details).toMatchObject({ from: ann.userId, to: admin.userId, basis: "admin", isWidened: true });
    expect((await kb.link(admin, connectorId, one, null)).status).toBe(200);
    expect(await kb.readable(admin)).toEqual([]);
  });

  test("the list is paged, and can leave out who is linked", async ({ expect }) => {
    const kb = await makeForge({ [BASE_URL]: world });
    const ann = await kb.addMember(kb.owner.workspaceId, "member");
    await kb.register();
    const connectorId = await kb.connect(kb.owner);
    await kb.link(kb.owner, connectorId, "user:forge:git.acme.test:1", ann.userId);
    const first = await kb.people(connectorId, "?limit=2");
    expect(first.people.map(({ principal }: { principal: string }) => principal.at(-1))).toEqual(["1", "2"]);
    const second = await kb.people(connectorId, `?limit=2&cursor=${first.nextCursor}`);
    expect(second).toMatchObject({ people: [{ reason: "gone" }], nextCursor: null });
    const unlinked = await kb.people(connectorId, "?unlinked=true");
    expect(unlinked.people.map(({ reason }: { reason: string }) => reason)).toEqual(["email_missing", "gone"]);
    expect((await kb.as(ann).get(`/api/connectors/${connectorId}/people`)).status).toBe(404);
  });
});

describe("runs of identities", () => {
  test("read everything once, then what changed, and everything again in half the time that permissions are believed", async ({
    expect,
  }) => {
    const kb = await makeForge({
      [BASE_URL]: {
        items: () => [],
        people: ({ group }) => [
          { t: "group", group: group("team"), members: [] },
          { t: "checkpoint", cursor: kb.clock.now() },
          WHOLE,
        ],
      },
    });
    await kb.connect(kb.owner);
    for (let hour = 0; hour < 26; hour++) await kb.pass(HOUR_MS);
    const modes = kb.runs.map(({ mode }) => mode);
    expect(modes).toHaveLength(27);
    expect(modes.flatMap((mode, hour) => (mode === "whole" ? [hour] : []))).toEqual([0, 12, 24]);
    expect([kb.runs[0]?.cursor, kb.runs[1]?.cursor]).toEqual([null, kb.clock.now() - 26 * HOUR_MS]);
    const { syncs } = (await kb.as(kb.owner).get(`/api/connectors/${kb.runs[0]?.connectorId}/syncs?limit=200`)).json;
    const modesOfSyncs = syncs.map(({ mode }: { mode: string }) => mode);
    expect(modesOfSyncs.filter((mode: string) => mode === "identities")).toHaveLength(27);
  });

  test("go on where one stopped that could not reach the provider, and from the beginning after another failure", async ({
    expect,
  }) => {
    const world = { code: undefined as "source_unavailable" | "source_forbidden" | undefined };
    const kb = await makeForge({
      [BASE_URL]: {
        items: () => [],
        *people({ group, user }, { cursor }) {
          if (cursor !== "half") {
            yield { t: "group", group: group("first"), members: [user("1")] };
            yield { t: "checkpoint", cursor: "half" };
          }
          if (world.code) throw new ApiError(world.code, { message: "The forge fails.", retryAfterMs: HOUR_MS });
          yield { t: "group", group: group("second"), members: [user("2")] };
          yield WHOLE;
        },
      },
    });
    world.code = "source_unavailable";
    const connectorId = await kb.connect(kb.owner);
    await kb.pass(HOUR_MS);
    expect(kb.runs.map(({ mode, cursor }) => [mode, cursor])).toEqual([
      ["whole", null],
      ["whole", "half"],
    ]);
    world.code = undefined;
    await kb.pass(HOUR_MS);
    expect(kb.runs.at(-1)?.cursor).toBe("half");
    // What the first half told is not ended by the second.
    expect((await kb.people(connectorId)).summary).toMatchObject({ groups: 2, lastSync: { state: "succeeded" } });
    world.code = "source_forbidden";
    await kb.pass(12 * HOUR_MS);
    await kb.pass(HOUR_MS);
    expect(kb.runs.slice(-2).map(({ mode, cursor }) => [mode, cursor])).toEqual([
      ["whole", null],
      ["whole", null],
    ]);
  });

  test("is given up after five workers that died over it, says so, and is tried again by the clock", async ({
    expect,
  }) => {
    const kb = await makeForge({
      [BASE_URL]: {
        items: ({ group }) => [openTo("notes", group("team"))],
        people: ({ group }) => [{ t: "group", group: group("team"), members: [`user:${kb.owner.userId}`] }, WHOLE],
      },
    });
    const connectorId = await kb.add(kb.owner);
    // The first one: nobody has read a group before it.
    await kb.database.write
      .updateTable("syncs")
      .set({ state: "running", attempt: 5, startedAt: 1 })
      .where("mode", "=", "identities")
      .execute();
    await kb.work();
    expect((await kb.people(connectorId)).summary.lastSync).toMatchObject({
      state: "failed",
      problem: { code: "internal", message: expect.stringContaining("5 times") },
    });
    expect(await kb.readable(kb.owner)).toEqual([]);
    await kb.pass(HOUR_MS / 2);
    expect((await kb.people(connectorId)).summary.lastSync).toMatchObject({ state: "succeeded" });
    expect(await kb.readable(kb.owner)).toEqual(["notes"]);
  });

  test("follow one that was cancelled before it began", async ({ expect }) => {
    const kb = await makeForge({
      [BASE_URL]: {
        items: () => [],
        people: ({ group }) => [{ t: "group", group: group("team"), members: [] }, WHOLE],
      },
    });
    const connectorId = await kb.add(kb.owner);
    const { syncs } = (await kb.as(kb.owner).get(`/api/connectors/${connectorId}/syncs`)).json;
    const first = syncs.find(({ mode }: { mode: string }) => mode === "identities");
    expect((await kb.as(kb.owner).post(`/api/connectors/${connectorId}/syncs/${first.id}/cancel`, {})).status).toBe(
      202,
    );
    await kb.work();
    expect(kb.runs).toEqual([]);
    await kb.pass(HOUR_MS / 2);
    expect(kb.runs).toHaveLength(1);
  });

  test("whose worker dies goes on as long as each gets further, and counts each group and user once", async ({
    expect,
  }) => {
    let dies = true;
    const kb = await makeForge({
      [BASE_URL]: {
        items: () => [],
        async *people({ group, user }, { cursor }) {
          const from = typeof cursor === "number" ? cursor : 0;
          for (let i = from; i < 20; i++) {
            yield { t: "group", group: group(`g${i}`), members: [user("1")] };
            yield person(user(`${i}`));
            yield { t: "group", group: "group:con_bbbbbbbbbbbbbbbb:x", members: [] };
            yield { t: "checkpoint", cursor: i + 1 };
            if (!dies || i < from + 1) continue;
            // Another worker has taken the job: this one stores nothing any more.
            await kb.database.write.updateTable("jobs").set({ leaseOwner: "other" }).execute();
          }
          yield WHOLE;
        },
      },
    });
    const connectorId = await kb.add(kb.owner);
    const find = async () => (await kb.people(connectorId)).summary.lastSync;
    for (let attempt = 0; attempt < 7; attempt++) {
      await kb.work();
      kb.clock.advance(60_000);
    }
    expect([await find(), kb.runs.map(({ cursor }) => cursor)]).toEqual([null, [null, 2, 4, 6, 8, 10, 12]]);
    dies = false;
    await kb.work();
    expect(await find()).toMatchObject({
      state: "succeeded",
      counts: { seen: 40, upserted: 20, unchanged: 0, skipped: 20 },
    });
  });

  test("a group that is no longer told empties; a user that is no longer told is no one", async ({ expect }) => {
    const world = { isThere: true };
    const kb = await makeForge({
      [BASE_URL]: {
        items: ({ user, group }) => [openTo("plan", user("1")), openTo("notes", group("team"))],
        people: ({ user, group }) =>
          world.isThere
            ? [person(user("1"), "ann@acme.test"), { t: "group", group: group("team"), members: [user("1")] }, WHOLE]
            : [WHOLE],
      },
    });
    const ann = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
    await kb.verify(ann);
    await kb.setDomains(["acme.test"]);
    await kb.register();
    await kb.connect(kb.owner);
    expect(await kb.readable(ann)).toEqual(["notes", "plan"]);
    world.isThere = false;
    // A run of changes ends nothing by its silence.
    await kb.pass(HOUR_MS);
    expect(await kb.readable(ann)).toEqual(["notes", "plan"]);
    for (let hour = 0; hour < 12; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable(ann)).toEqual([]);
  });

  test("what belongs to others is left out and counted: their groups, their users, this service's own", async ({
    expect,
  }) => {
    const kb = await makeForge({
      [BASE_URL]: {
        items: ({ group }) => [openTo("open", group("public")), openTo("notes", group("team"))],
        people: ({ user, group }) => [
          { t: "group", group: "group:con_bbbbbbbbbbbbbbbb:x", members: [user("1")] },
          { t: "group", group: "group:grp_bbbbbbbbbbbbbbbb", members: [user("1")] },
          {
            t: "group",
            group: group("team"),
            members: ["workspace", "user:forge:evil.test:1", `user:${kb.owner.userId}`],
          },
          { t: "group", group: group("public"), members: ["everyone"] },
          person("user:forge:evil.test:1", "ann@acme.test"),
          person(`user:${kb.owner.userId}`),
          WHOLE,
        ],
      },
    });
    const ann = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
    await kb.verify(ann);
    await kb.setDomains(["acme.test"]);
    await kb.register();
    const connectorId = await kb.connect(kb.owner);
    // Its owner may be named, and what is public to everyone opens by one row.
    expect([await kb.readable(ann), await kb.readable(kb.owner)]).toEqual([["open"], ["notes", "open"]]);
    const { people, summary } = await kb.people(connectorId);
    expect(people).toEqual([]);
    expect(summary.lastSync).toMatchObject({
      state: "succeeded",
      problem: { code: "names_strangers", message: expect.stringMatching(/^6 names/u) },
    });
  });
});
