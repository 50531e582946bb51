import { describe, test } from "vitest";
import { makeShareServer, textOf, type ShareWorld } from "./share.ts";

const FILES = Array.from({ length: 30 }, (_, at) => `f${String(at + 10)}`);
const of = (root: string, token?: string, files = FILES) => files.map((path) => textOf(root, path, token));

/** Two roots with 30 files each, all of them for two tokens, and one file for the first token alone. */
function makeWorld(): ShareWorld {
  const tokens = ["alice", "dan"];
  const files = FILES.map((path) => ({ path, tokens }));
  return { roots: { "/a": [...files, { path: "hidden", tokens: ["alice"] }], "/b": files, "/empty": [] } };
}

async function makeOwned(body: Record<string, unknown> = {}, world = makeWorld()) {
  const kb = await makeShareServer(world);
  const id = await kb.connect(kb.owner, { credentials: { token: "alice" }, ...body });
  await kb.work();
  const held = async () => (await kb.as(kb.admin).get(`/api/connectors/${id}`)).json.connector.counts.held;
  return { ...kb, id, held, before: [...of("/a", "alice"), textOf("/a", "hidden", "alice")] };
}

describe("someone else's connector", () => {
  test("is opened by no admin, with readers and credentials of their own or without", async ({ expect }) => {
    const kb = await makeOwned({ config: { root: "/a", readers: ["grp_2222222222222222"] } });
    const config = { root: "/a", readers: ["workspace"] };
    for (const user of [kb.admin, kb.top]) {
      for (const body of [{ config }, { config, credentials: { token: "junk" } }, { credentials: { token: "dan" } }]) {
        expect((await kb.patch(user, kb.id, body)).status).toBe(403);
      }
    }
    await kb.work();
    expect(await kb.texts(kb.member)).toEqual([]);
  });

  test("takes nothing in that its owner left out", async ({ expect }) => {
    const kb = await makeOwned({ scope: { include: ["f10", "f11"], exclude: ["f11"] } });
    const refused = [
      { include: [], exclude: ["f11"] },
      { include: ["f10", "f12"], exclude: ["f11"] },
      { include: ["f10"], exclude: [] },
      { include: ["f1"], exclude: ["f11"] },
    ];
    for (const scope of refused) {
      expect((await kb.scope(kb.admin, kb.id, scope)).json.code).toBe("forbidden");
      expect((await kb.as(kb.admin).patch(`/api/connectors/${kb.id}/scope?dryRun=true`, scope)).status).toBe(403);
    }
    await kb.work();
    expect(await kb.texts(kb.member)).toEqual([textOf("/a", "f10", "alice")]);
    const narrowed = await kb.scope(kb.admin, kb.id, {
      include: ["f10"],
      exclude: ["f11", "f10"],
      titles: { f10: "x" },
    });
    expect([narrowed.status, await kb.texts(kb.member)]).toEqual([202, []]);
    // What its owner chose entries by is theirs to name.
    expect((await kb.recordOf(kb.id))?.scope.titles).toBeUndefined();
    const { entries } = (await kb.as(kb.top).get("/api/audit?action=connector.scope_changed")).json;
    expect(entries[0].details).toMatchObject({ include: { removed: ["f11"] }, exclude: { added: ["f10"], count: 2 } });
  });

  test("is judged again when the change is stored: by today's scope, and by today's role", async ({ expect }) => {
    const kb = await makeOwned({ scope: { include: ["f10", "f11"], exclude: [] } });
    // Its owner leaves out more while an admin, who saw the former scope, leaves out something else.
    const [, second] = await Promise.all([
      kb.scope(kb.owner, kb.id, { include: ["f10"], exclude: [] }),
      kb.scope(kb.admin, kb.id, { include: ["f10", "f11"], exclude: ["f10"] }),
    ]);
    const { scope } = (await kb.recordOf(kb.id)) ?? {};
    expect(second.status === 403 || scope?.include.length === 1).toBe(true);
    const own = await kb.connect(kb.admin, { credentials: { token: "dan" } });
    kb.world.onCheck = async () => void (await kb.setRole(kb.admin, "member"));
    const changed = await kb.patch(kb.admin, own, { config: { root: "/b" }, credentials: {} });
    expect([changed.status, (await kb.recordOf(own))?.config["root"]]).toEqual([403, "/a"]);
  });

  test("is resumed by an admin only after an admin has paused it", async ({ expect }) => {
    const kb = await makeOwned();
    const act = async (user: typeof kb.owner, what: string) =>
      (await kb.as(user).post(`/api/connectors/${kb.id}/${what}`)).status;
    expect(await act(kb.owner, "pause")).toBe(200);
    // To pause it again makes it nobody else's pause.
    expect([await act(kb.admin, "pause"), await act(kb.admin, "resume")]).toEqual([200, 403]);
    expect([await act(kb.owner, "resume"), await act(kb.admin, "pause")]).toEqual([200, 200]);
    expect([await act(kb.top, "resume"), await act(kb.admin, "pause")]).toEqual([200, 200]);
    expect([await act(kb.owner, "pause"), await act(kb.admin, "resume")]).toEqual([200, 403]);
  });
});

describe("an owner who is no admin any more", () => {
  test("changes nothing of what a folder of the server gives, by any route", async ({ expect }) => {
    const kb = await makeShareServer({ roots: { "/a": FILES.map((path) => ({ path })) } });
    const id = await kb.connect(kb.admin, { providerId: "plain", scope: { include: [], exclude: ["f1"] } });
    await kb.work();
    await kb.setRole(kb.admin, "member");
    const statuses = [
      await kb.patch(kb.admin, id, { config: { root: "/b" } }),
      await kb.scope(kb.admin, id, { include: [], exclude: [] }),
      await kb.scope(kb.admin, id, { include: [], exclude: ["f1", "f2"] }),
      await kb.as(kb.admin).post(`/api/connectors/${id}/browse`, {}),
    ].map(({ status }) => status);
    expect(statuses).toEqual([403, 403, 403, 403]);
    expect((await kb.patch(kb.admin, id, { access: { visibility: "private" } })).status).toBe(200);
    expect((await kb.as(kb.admin).delete(`/api/connectors/${id}`)).status).toBe(202);
  });
});

describe("another place", () => {
  for (const providerId of ["share", "plain"]) {
    test(`of a connector on "${providerId}" withholds at once what was read at the old one`, async ({ expect }) => {
      const kb = await makeOwned({ providerId });
      expect(await kb.texts(kb.member)).toEqual(kb.before);
      await kb.patch(kb.owner, kb.id, { config: { root: "/b" } });
      expect([await kb.texts(kb.member), await kb.texts(kb.owner)]).toEqual([[], []]);
      const [row] = (await kb.as(kb.top).get("/api/audit?action=connector.changed")).json.entries;
      expect(row.details).toMatchObject({ config: { root: { from: "/a", to: "/b" } }, isWithheld: true });
      await kb.work();
      expect([await kb.texts(kb.member), await kb.held()]).toEqual([of("/b", "alice"), 0]);
      // What isn't there goes without waiting for anybody, also where it is everything.
      await kb.patch(kb.owner, kb.id, { config: { root: "/empty" } });
      await kb.work();
      expect([await kb.texts(kb.member), await kb.held()]).toEqual([[], 0]);
    });
  }

  test("of another account is withheld at once too: by its user name, or as the server tells", async ({ expect }) => {
    const ann = { token: "alice", user: "ann" };
    const told = makeWorld();
    told.accounts = { alice: "1", dan: "2" };
    for (const { world, former, other } of [
      { world: makeWorld(), former: ann, other: { token: "dan", user: "dan" } },
      { world: makeWorld(), former: ann, other: { token: "dan" } },
      { world: told, former: { token: "alice" }, other: { token: "dan" } },
    ]) {
      const kb = await makeOwned({ providerId: "plain", credentials: former }, world);
      expect((await kb.patch(kb.owner, kb.id, { credentials: other })).status).toBe(200);
      expect([await kb.texts(kb.member), await kb.texts(kb.owner)]).toEqual([[], []]);
      await kb.work();
      // Each is read again, though its version is the same there, and what isn't there waits for nobody.
      expect([await kb.texts(kb.member), await kb.held()]).toEqual([of("/a", "dan"), 0]);
    }
  });

  test("starts no clock of a connector that runs when it is told to", async ({ expect }) => {
    const kb = await makeOwned({ schedule: null });
    const { connectors } = kb.store.in(kb.top.workspaceId);
    await connectors.update(kb.id, { state: "needs_reauth", stateReason: "The token has ended." });
    expect((await kb.patch(kb.owner, kb.id, { credentials: { token: "dan" } })).status).toBe(200);
    expect(await kb.recordOf(kb.id)).toMatchObject({ state: "active", everyMinutes: null, nextRunAt: null });
  });

  test("is not another password or token of the same account", async ({ expect }) => {
    const world = makeWorld();
    world.accounts = { alice: "1", renewed: "1" };
    const told = await makeOwned({ providerId: "plain" }, world);
    await told.patch(told.owner, told.id, { credentials: { token: "renewed" } });
    expect(await told.texts(told.member)).toEqual(told.before);
    const named = await makeOwned({ providerId: "plain", credentials: { token: "alice", user: "ann" } });
    await named.patch(named.owner, named.id, { credentials: { token: "renewed", user: "ann" } });
    expect(await named.texts(named.member)).toEqual(named.before);
  });

  test("ends a run that still reads the old one", async ({ expect }) => {
    const kb = await makeOwned();
    let isMoved = false;
    kb.world.between = async () => {
      if (isMoved) return;
      isMoved = true;
      await kb.patch(kb.owner, kb.id, { config: { root: "/b" } });
    };
    await kb.as(kb.owner).post(`/api/connectors/${kb.id}/syncs`, { mode: "full" });
    await kb.work();
    expect(await kb.texts(kb.member)).toEqual(of("/b", "alice"));
  });

  test("stays withheld until everything from before is gone, should the process end meanwhile", async ({ expect }) => {
    const kb = await makeOwned();
    const { syncs } = kb.deps.connectorDeps;
    const { removeHidden } = syncs;
    syncs.removeHidden = () => Promise.reject(new Error("The process ends here."));
    await kb.patch(kb.owner, kb.id, { config: { root: "/b", readers: ["workspace"] } });
    expect(await kb.texts(kb.member)).toEqual([]);
    syncs.removeHidden = removeHidden;
    await kb.work();
    expect([await kb.texts(kb.member), (await kb.recordOf(kb.id))?.withheldAt]).toEqual([of("/b", "alice"), null]);
  });
});

describe("readers that the owner names", () => {
  async function makeRead() {
    const kb = await makeOwned({ access: { visibility: "workspace" } });
    const few = { name: "Few", memberIds: [kb.member.userId] };
    const { group } = (await kb.as(kb.top).post("/api/groups", few)).json;
    const name = (readers: string[]) => kb.patch(kb.owner, kb.id, { config: { root: "/a", readers } });
    const counts = async () => [(await kb.texts(kb.member)).length, (await kb.texts(kb.outsider)).length];
    return { ...kb, group: group.id as string, name, counts };
  }

  test("are in force at once, fewer and more, also while the source doesn't answer", async ({ expect }) => {
    const kb = await makeRead();
    expect(await kb.counts()).toEqual([31, 31]);
    kb.world.problem = "It is down.";
    expect([(await kb.name([kb.group])).status, await kb.counts()]).toEqual([200, [31, 0]]);
    expect([(await kb.name(["grp_2222222222222222"])).status, await kb.counts()]).toEqual([200, [0, 0]]);
    expect([(await kb.name(["workspace"])).status, await kb.counts()]).toEqual([200, [31, 31]]);
    delete kb.world.problem;
    await kb.work();
    expect(await kb.counts()).toEqual([31, 31]);
  });

  test("are not taken back by a run that began with the former ones", async ({ expect }) => {
    const kb = await makeRead();
    const { sourcePeople } = kb.store.in(kb.owner.workspaceId);
    const group = `group:${kb.id}:readers`;
    const record = await kb.recordOf(kb.id);
    await kb.name([kb.group]);
    const late = {
      connectorId: kb.id,
      toldIn: "identities",
      isTrusted: false,
      runId: "syn_2222222222222222",
      mode: "whole",
      scopeVersion: record?.scopeVersion ?? 0,
      now: kb.clock.now(),
      maxAclAgeMs: 86_400_000,
    } as const;
    const { position } = await sourcePeople.begin(late);
    const events = [
      { t: "group", group, members: '["workspace"]', count: 1, digest: "d", etag: null, at: late.now },
    ] as const;
    const told = await sourcePeople.apply({ ...late, since: position, events });
    expect(told).toEqual({ isApplied: false, reason: "scope_changed" });
    expect(await kb.counts()).toEqual([31, 0]);
  });
});

describe("a connector whose owner left", () => {
  /** Shared with the admin and a member; its owner has left. */
  async function makeLeft(body: Record<string, unknown> = {}) {
    const kb = await makeShareServer({ ...makeWorld(), accounts: { alice: "1", dan: "2" } });
    const memberIds = [kb.member.userId, kb.admin.userId];
    const group = (await kb.as(kb.top).post("/api/groups", { name: "Few", memberIds })).json.group.id as string;
    const id = await kb.connect(kb.owner, {
      credentials: { token: "alice" },
      access: { visibility: "members", memberIds },
      config: { root: "/a", readers: [group] },
      ...body,
    });
    await kb.work();
    await kb.leave(kb.owner);
    const held = async () => (await kb.as(kb.top).get(`/api/connectors/${id}`)).json.connector.counts.held;
    const before = [...of("/a", "alice"), textOf("/a", "hidden", "alice")];
    return { ...kb, id, group, held, before, all: { access: { visibility: "workspace" } } };
  }

  const own = { credentials: { token: "dan" } };

  test("stays as it was for its readers when it is taken over, until the new credentials have read it", async ({
    expect,
  }) => {
    const kb = await makeLeft();
    expect((await kb.patch(kb.admin, kb.id, own)).json.connector.owner.id).toBe(kb.admin.userId);
    expect([await kb.texts(kb.member), await kb.texts(kb.outsider)]).toEqual([kb.before, []]);
    await kb.work();
    // What the former owner alone could read goes without approval, however much it is.
    expect([await kb.texts(kb.member), await kb.held()]).toEqual([of("/a", "dan"), 0]);
  });

  test("loses at once what the new owner's credentials don't find, past the guard over removals", async ({
    expect,
  }) => {
    const kb = await makeLeft();
    await kb.patch(kb.admin, kb.id, { credentials: { token: "junk" } });
    await kb.work();
    expect([await kb.texts(kb.member), await kb.held()]).toEqual([[], 0]);
  });

  test("opens nothing with readers, config or access that change with it", async ({ expect }) => {
    for (const more of [
      { config: { root: "/a", readers: ["workspace"] } },
      { config: { root: "/a", depth: 2 } },
      { access: { visibility: "workspace" } },
    ]) {
      const kb = await makeLeft();
      expect((await kb.patch(kb.admin, kb.id, { credentials: { token: "junk" }, ...more })).status).toBe(200);
      for (const user of [kb.admin, kb.member, kb.outsider]) expect(await kb.texts(user)).toEqual([]);
      await kb.work();
      expect([await kb.texts(kb.admin), await kb.held()]).toEqual([[], 0]);
    }
  });

  test("opens nothing with what its new owner changes later, before their credentials have read it", async ({
    expect,
  }) => {
    const kb = await makeLeft();
    await kb.patch(kb.admin, kb.id, { credentials: { token: "junk" } });
    await kb.patch(kb.admin, kb.id, kb.all);
    await kb.patch(kb.admin, kb.id, { config: { root: "/a", readers: ["workspace"] } });
    expect([await kb.texts(kb.outsider), await kb.texts(kb.member)]).toEqual([[], []]);
    const scoped = await makeLeft({ scope: { include: ["f1"], exclude: [] } });
    await scoped.patch(scoped.admin, scoped.id, own);
    await scoped.scope(scoped.admin, scoped.id, { include: [], exclude: [] });
    expect(await scoped.texts(scoped.member)).toEqual([]);
    await scoped.work();
    expect(await scoped.texts(scoped.member)).toEqual(of("/a", "dan"));
    // Once everything was read, it is the new owner's to open.
    await scoped.patch(scoped.admin, scoped.id, { ...scoped.all, config: { root: "/a", readers: ["workspace"] } });
    expect(await scoped.texts(scoped.outsider)).toEqual(of("/a", "dan"));
  });

  test("opens nothing to a taker who could not see it", async ({ expect }) => {
    const kb = await makeLeft();
    await kb.patch(kb.top, kb.id, { credentials: { token: "junk" } });
    expect([await kb.texts(kb.top), await kb.texts(kb.member)]).toEqual([[], []]);
  });

  test("is not theirs any more when they come back: they open nothing of it, and read nothing", async ({ expect }) => {
    for (const [role, visibility] of [
      ["member", "private"],
      ["admin", "members"],
    ] as const) {
      const kb = await makeLeft({ access: { visibility } });
      // Another change of the access while they are away lets them in no more than their return does.
      await kb.patch(kb.top, kb.id, { access: { visibility: "private" } });
      const back = await kb.comeBack(kb.owner, role);
      const opened = await kb.patch(back, kb.id, kb.all);
      expect(opened.json.code).toBe(role === "member" ? "not_found" : "forbidden");
      expect([await kb.texts(back), await kb.texts(kb.outsider)]).toEqual([[], []]);
      const { connectors } = (await kb.as(back).get("/api/connectors/mine")).json;
      expect(connectors).toEqual([]);
      const listed = await kb.as(back).get(`/api/connectors/${kb.id}/files`);
      expect(listed.status).toBe(role === "member" ? 404 : 200);
      if (role === "member") continue;
      const taken = await kb.patch(back, kb.id, { credentials: { token: "junk" } });
      expect([taken.status, await kb.texts(back)]).toEqual([200, []]);
    }
  });

  test("without credentials waits for an owner too, and goes on by its schedule once it has one", async ({
    expect,
  }) => {
    const kb = await makeShareServer({ roots: { "/a": [{ path: "pub" }] } });
    const maker = await kb.addMember(kb.top.workspaceId, "admin");
    const id = await kb.connect(maker, { providerId: "plain" });
    await kb.work();
    await kb.leave(maker);
    const record = await kb.recordOf(id);
    expect(record).toMatchObject({ state: "needs_owner", stateReason: expect.stringContaining("take it over") });
    expect((await kb.texts(kb.member)).length).toBe(1);
    const token = kb.withToken(await kb.token(kb.admin, ["kb:api"]));
    expect((await token.patch(`/api/connectors/${id}`, { takeOver: true })).status).toBe(404);
    expect((await kb.patch(kb.admin, id, { takeOver: true })).json.connector.owner.id).toBe(kb.admin.userId);
    const taken = await kb.recordOf(id);
    expect([taken?.state, taken?.createdBy, taken?.nextRunAt === null]).toEqual(["active", kb.admin.userId, false]);
    await kb.work();
    expect((await kb.texts(kb.member)).length).toBe(1);
    expect((await kb.patch(kb.top, id, { takeOver: true })).json.code).toBe("forbidden");
  });

  test("is taken over by the first of two, whose credentials stay", async ({ expect }) => {
    const kb = await makeLeft();
    // The first to ask waits at the source until somebody else has taken it.
    kb.world.onCheck = async () => {
      delete kb.world.onCheck;
      await kb.patch(kb.top, kb.id, { credentials: { token: "alice" } });
    };
    const late = await kb.patch(kb.admin, kb.id, own);
    expect([late.status, late.json.code, late.json.detail]).toEqual([
      409,
      "connector_state_conflict",
      "Someone else took over this connector.",
    ]);
    const { connectors } = kb.store.in(kb.top.workspaceId);
    expect(await kb.recordOf(kb.id)).toMatchObject({ ownerUserId: kb.top.userId, state: "active" });
    expect(await connectors.findCredentials(kb.id)).toMatchObject({ givenBy: kb.top.userId });
    const { entries } = (await kb.as(kb.top).get("/api/audit?action=connector.taken_over")).json;
    expect(entries).toHaveLength(1);
  });
});
