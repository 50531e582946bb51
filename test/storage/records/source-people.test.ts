import { describe, test } from "vitest";
import { makeGroupPages } from "#storage/batch/group-pages.ts";
import { explainAccess } from "#storage/policy/explain.ts";
import { DAY_MS, makePeopleKit } from "./source-people-kit.ts";

const MINUTE_MS = 60_000;

describe("what a whole run does not name", () => {
  test("ends with it: groups, users and their joins; what could not be looked at stays", async ({ expect }) => {
    const kb = await makePeopleKit();
    const [ana, bo] = [await kb.member(), await kb.member()];
    await kb.run([
      kb.whole("team", [kb.user("1")]),
      kb.whole("closed", [kb.user("1")]),
      kb.identity("1"),
      kb.identity("2"),
    ]);
    await kb.join(kb.user("1"), ana.userId);
    await kb.join(kb.user("2"), bo.userId);
    expect(await kb.standsFor(ana.userId)).toEqual(["closed", "team", "1"]);
    const { ended } = await kb.run([kb.identity("1")], { runId: "next", notLookedAt: [kb.group("closed")] });
    expect(ended).toMatchObject({
      counts: { ended: 1 },
      endedJoins: [{ principal: kb.user("2"), userId: bo.userId, reason: "vanished" }],
    });
    expect(await kb.standsFor(ana.userId)).toEqual(["closed", "1"]);
    expect(await kb.standsFor(bo.userId)).toEqual([]);
    expect(await kb.store.identities.joinsOf(kb.user("2"))).toMatchObject([{ endReason: "vanished" }]);
  });

  test("stays where the listing was not complete, the run was not whole, or it was told beside the run", async ({
    expect,
  }) => {
    const kb = await makePeopleKit();
    await kb.run([kb.whole("team", [kb.user("1")])]);
    await kb.run([], { runId: "partial", isComplete: false });
    await kb.run([], { runId: "feed", mode: "changes" });
    await kb.run([], { runId: "some", mode: "groups" });
    await kb.run([kb.whole("folder", [kb.user("1")])], { runId: "sync", toldIn: "sync" });
    const whole = kb.teller({ runId: "long" });
    await kb.sourcePeople.begin(whole);
    await kb.run([kb.whole("fresh", [kb.user("1")])], { runId: "hint", mode: "groups" });
    await kb.sourcePeople.end({ ...whole, isComplete: true, notLookedAt: [] });
    const found = await kb.sourcePeople.findGroups(kb.connectorId, ["team", "folder", "fresh"].map(kb.group));
    expect([...found.keys()]).toEqual(["folder", "fresh"].map(kb.group));
  });

  test("stays where it was named before a kill", async ({ expect }) => {
    const kb = await makePeopleKit();
    await kb.run([kb.whole("old", []), kb.whole("team", [])]);
    await kb.run([kb.same("team")], { runId: "killed", isLeftOpen: true, checkpoint: { cursor: '"page 2"' } });
    expect((await kb.sourcePeople.begin(kb.teller({ runId: "killed" }))).cursor).toBe('"page 2"');
    await kb.run([], { runId: "killed" });
    const found = await kb.sourcePeople.findGroups(kb.connectorId, ["old", "team"].map(kb.group));
    expect([...found.keys()]).toEqual([kb.group("team")]);
  });

  test("stays where another connector told it, whose word alone ends it", async ({ expect }) => {
    const kb = await makePeopleKit();
    const ana = await kb.member();
    const weaker = await kb.connector(kb.workspaceId, { providerId: "github" });
    await kb.run([kb.identity("1")]);
    await kb.join(kb.user("1"), ana.userId);
    await kb.run([kb.identity("1")], { connectorId: weaker });
    await kb.run([], { connectorId: weaker, runId: "next" });
    expect(await kb.standsFor(ana.userId)).toEqual(["1"]);
    await kb.run([kb.identity("1", { state: "suspended" })], {
      connectorId: weaker,
      runId: "stolen",
      isTrusted: false,
    });
    expect(await kb.standsFor(ana.userId)).toEqual(["1"]);
    await kb.run([kb.identity("1", { state: "suspended" })], { connectorId: weaker, runId: "last" });
    expect(await kb.standsFor(ana.userId)).toEqual([]);
    expect(await kb.store.identities.joinsOf(kb.user("1"))).toMatchObject([{ endReason: "suspended" }]);
  });

  test("of a container ends with its listing", async ({ expect }) => {
    const kb = await makePeopleKit();
    const sync = { toldIn: "sync", mode: "changes" } as const;
    const [a, b] = [{ homes: ["drive:a", "drives"] }, { homes: ["drive:b", "drives"] }];
    await kb.run([kb.whole("x", [], a), kb.whole("y", [], a), kb.whole("z", [], b)], sync);
    await kb.run([kb.whole("x", [], a)], { ...sync, home: "drive:a", runId: "next" });
    const found = await kb.sourcePeople.findGroups(kb.connectorId, ["x", "y", "z"].map(kb.group));
    expect([...found.keys()]).toEqual(["x", "z"].map(kb.group));
    await kb.run([kb.whole("x", [], { homes: ["drive:b"] })], { ...sync, home: "drives", runId: "later" });
    expect([...(await kb.sourcePeople.findGroups(kb.connectorId, ["x", "z"].map(kb.group))).keys()]).toEqual([
      kb.group("x"),
    ]);
    await kb.run([], { ...sync, home: "drive:a", runId: "last" });
    expect((await kb.sourcePeople.findGroups(kb.connectorId, [kb.group("x")])).size).toBe(1);
  });
});

describe("a change of members", () => {
  test("counts for a group that was told whole, and only if it is newer", async ({ expect }) => {
    const kb = await makePeopleKit();
    const ana = await kb.member();
    await kb.run([kb.identity("1"), kb.whole("team", [])], { checkpoint: { cursor: '"head"' } });
    await kb.join(kb.user("1"), ana.userId);
    const feed = { mode: "changes", runId: "feed" } as const;
    expect((await kb.run([kb.delta("never", kb.user("1"))], feed)).counts).toMatchObject({ added: 0, stale: 1 });
    expect((await kb.sourcePeople.begin(kb.teller(feed))).cursor).toBe('"head"');
    await kb.run([kb.delta("team", kb.user("1"))], feed);
    expect(await kb.standsFor(ana.userId)).toEqual(["team", "1"]);
    await kb.run([kb.delta("team", kb.user("1"), true)], feed);
    expect(await kb.standsFor(ana.userId)).toEqual(["1"]);
  });

  test("that is told again after a crash brings no one back", async ({ expect }) => {
    const kb = await makePeopleKit();
    const ana = await kb.member();
    await kb.run([kb.identity("1"), kb.whole("team", [])]);
    await kb.join(kb.user("1"), ana.userId);
    const feed = { mode: "changes", runId: "feed" } as const;
    // The run dies after it has let her in; she is taken out at the source, and the group is read whole.
    await kb.run([kb.delta("team", kb.user("1"))], { ...feed, isLeftOpen: true, checkpoint: { cursor: '"before"' } });
    await kb.run([kb.whole("team", [])], { mode: "groups", runId: "hint" });
    const { counts } = await kb.run([kb.delta("team", kb.user("1"))], feed);
    expect(counts).toMatchObject({ added: 0, stale: 1 });
    expect(await kb.standsFor(ana.userId)).toEqual(["1"]);
    // What the feed says of the group may be wrong from now on: its clock alone keeps it.
    kb.clock.ms += DAY_MS - 1;
    await kb.run([], { ...feed, runId: "later", currentAt: kb.clock.ms });
    const group = (await kb.sourcePeople.findGroups(kb.connectorId, [kb.group("team")])).get(kb.group("team"));
    expect(group).toMatchObject({ checkedAt: kb.clock.ms - DAY_MS + 1 });
    await kb.run([kb.delta("team", kb.user("1"))], { ...feed, runId: "later" });
    expect(await kb.standsFor(ana.userId)).toEqual(["team", "1"]);
  });

  test("is not stored without a checkpoint, nor by a run that another one has overtaken", async ({ expect }) => {
    const kb = await makePeopleKit();
    await kb.run([kb.whole("team", [])]);
    const feed = kb.teller({ mode: "changes", runId: "feed" });
    const { position } = await kb.sourcePeople.begin(feed);
    const batch = { ...feed, since: position, events: [kb.delta("team", kb.user("1"))] };
    await expect(kb.sourcePeople.apply(batch)).rejects.toThrow("without a checkpoint");
    await kb.run([], { runId: "next" });
    const late = await kb.sourcePeople.apply({ ...batch, checkpoint: { cursor: null } });
    expect(late).toEqual({ isApplied: false, reason: "overtaken" });
  });
});

describe("the clock of a group", () => {
  test("withholds at the very millisecond, and the one who lost it regains it without anything else", async ({
    expect,
  }) => {
    const kb = await makePeopleKit();
    const ana = await kb.member();
    await kb.run([kb.identity("1"), kb.whole("team", [kb.user("1")])]);
    await kb.join(kb.user("1"), ana.userId);
    const start = kb.clock.ms;
    const holds = async () => (await kb.policy.viewerOf(ana)).principals.includes(kb.group("team"));
    const lookAgain = () => kb.database.write.updateTable("connectors").set({ aclCheckedAt: kb.clock.ms }).execute();
    kb.clock.ms += 1_000;
    await kb.run([kb.identity("1")], { mode: "groups" });
    await lookAgain();
    expect(await holds()).toBe(true);
    expect((await kb.policy.viewerOf(ana)).validUntil).toBe(start + DAY_MS);
    kb.clock.ms = start + DAY_MS - 1;
    expect(await holds()).toBe(true);
    kb.clock.ms += 1;
    expect(await holds()).toBe(false);
    await lookAgain();
    await kb.run([kb.identity("1")], { mode: "groups" });
    expect(await holds()).toBe(false);
    // The same members: nothing is written but the clock.
    expect((await kb.run([kb.whole("team", [kb.user("1")])], { mode: "groups" })).counts.unchanged).toBe(1);
    expect(await holds()).toBe(true);
    kb.clock.ms += DAY_MS;
    expect(await holds()).toBe(false);
    await kb.run([kb.same("team"), kb.identity("1")], { mode: "groups" });
    expect(await holds()).toBe(true);
    kb.clock.ms += DAY_MS;
    expect(await holds()).toBe(false);
    await kb.run([], { mode: "changes", currentAt: kb.clock.ms });
    expect(await holds()).toBe(true);
  });

  test("is what an explanation names once it is too old", async ({ expect }) => {
    const kb = await makePeopleKit();
    const ana = await kb.member();
    await kb.run([kb.identity("1"), kb.whole("old", [kb.user("1")]), kb.whole("team", [kb.group("old")])]);
    await kb.join(kb.user("1"), ana.userId);
    const access = { known: true, all: [[kb.group("team")]] } as const;
    const kbId = await kb.item(kb.workspaceId, { connectorId: kb.connectorId, providerId: "github", access });
    const explain = () =>
      explainAccess({ store: kb.world, policy: kb.policy }, { ...ana, role: "admin", scopes: ["kb:admin"] }, kbId);
    const chain = [`user:${ana.userId}`, kb.user("1"), kb.group("old"), kb.group("team")];
    expect((await explain()).lists[1]).toMatchObject({ isMet: true, chain });
    kb.clock.ms += DAY_MS;
    await kb.database.write.updateTable("connectors").set({ aclCheckedAt: kb.clock.ms }).execute();
    await kb.run([kb.identity("1"), kb.same("team")], { mode: "groups" });
    expect(await explain()).toMatchObject({ isAllowed: false, reason: "permissions_too_old" });
    await kb.run([kb.whole("old", [])], { mode: "groups" });
    expect(await explain()).toMatchObject({ isAllowed: false, reason: "list_unmet" });
  });

  test("of a fresh viewer moves without a rise of the epoch", async ({ expect }) => {
    const kb = await makePeopleKit();
    const ana = await kb.member();
    await kb.run([kb.identity("1"), kb.whole("team", [kb.user("1")])]);
    await kb.join(kb.user("1"), ana.userId);
    await kb.run([], { runId: "feed", mode: "changes", currentAt: kb.clock.ms });
    const before = await kb.store.access.epoch();
    kb.clock.ms += DAY_MS / 2;
    await kb.run([kb.identity("1"), kb.whole("team", [kb.user("1")])], { runId: "next" });
    await kb.run([kb.identity("1"), kb.same("team")], { runId: "third" });
    await kb.run([], { runId: "feed", mode: "changes", currentAt: kb.clock.ms });
    expect(await kb.store.access.epoch()).toBe(before);
  });

  test("that stands in the future counts as never", async ({ expect }) => {
    const kb = await makePeopleKit();
    const ana = await kb.member();
    await kb.run([kb.identity("1"), kb.whole("near", [kb.user("1")], { at: kb.clock.ms + 5 * MINUTE_MS })]);
    await kb.run([kb.whole("far", [kb.user("1")], { at: kb.clock.ms + 5 * MINUTE_MS + 1 })], { mode: "groups" });
    await kb.join(kb.user("1"), ana.userId);
    expect(await kb.standsFor(ana.userId)).toEqual(["near", "1"]);
    await kb.run([kb.same("far")], { mode: "groups" });
    expect(await kb.standsFor(ana.userId)).toEqual(["far", "near", "1"]);
  });

  test("of what a gapless feed shows moves, but for what could not be looked at", async ({ expect }) => {
    const kb = await makePeopleKit();
    const ana = await kb.member();
    await kb.run([kb.identity("1"), kb.whole("a", [kb.user("1")]), kb.whole("b", [kb.user("1")])]);
    await kb.join(kb.user("1"), ana.userId);
    kb.clock.ms += DAY_MS / 2;
    await kb.run([], { mode: "changes", currentAt: kb.clock.ms });
    kb.clock.ms += DAY_MS / 4;
    await kb.run([], { mode: "changes", currentAt: kb.clock.ms, notLookedAt: [kb.group("b")] });
    kb.clock.ms += DAY_MS / 4;
    expect(await kb.standsFor(ana.userId)).toEqual(["a", "b", "1"]);
    kb.clock.ms += DAY_MS / 2;
    expect(await kb.standsFor(ana.userId)).toEqual(["a", "1"]);
    const due = await kb.sourcePeople.listDue(kb.connectorId, { before: kb.clock.ms - DAY_MS * 0.8, limit: 10 });
    expect(due).toEqual({ groups: [kb.group("b")], users: [] });
  });

  test("closes the groups in which the group is as well; circles are harmless", async ({ expect }) => {
    const kb = await makePeopleKit();
    const ana = await kb.member();
    await kb.run([
      kb.identity("1"),
      kb.whole("inner", [kb.user("1"), kb.group("outer")]),
      kb.whole("outer", [kb.group("inner")]),
    ]);
    await kb.join(kb.user("1"), ana.userId);
    expect(await kb.standsFor(ana.userId)).toEqual(["inner", "outer", "1"]);
    kb.clock.ms += DAY_MS;
    await kb.run([kb.identity("1"), kb.same("outer")], { mode: "groups" });
    expect(await kb.standsFor(ana.userId)).toEqual(["1"]);
    await kb.run([kb.same("inner")], { mode: "groups" });
    expect(await kb.standsFor(ana.userId)).toEqual(["inner", "outer", "1"]);
  });

  test("stands still when what was read is known to have changed since", async ({ expect }) => {
    const kb = await makePeopleKit();
    await kb.run([kb.whole("team", [], { etag: "e1" })]);
    await kb.run([kb.delta("team", kb.user("1"))], { mode: "changes" });
    const find = async () =>
      (await kb.sourcePeople.findGroups(kb.connectorId, [kb.group("team")])).get(kb.group("team"));
    expect(await find()).toMatchObject({ etag: null, members: 1 });
    const { unknown, counts } = await kb.run([kb.same("team", "never")], { mode: "groups" });
    expect({ unknown, same: counts.same }).toEqual({ unknown: [kb.group("team"), kb.group("never")], same: 0 });
    await kb.run([kb.whole("team", [], { etag: "e3" })], { mode: "groups" });
    expect(await find()).toMatchObject({ etag: "e3", members: 0 });
  });
});

describe("a join", () => {
  test("counts while its user is told active, and a second id of that user counts with it", async ({ expect }) => {
    const kb = await makePeopleKit();
    const ana = await kb.member();
    await kb.join(kb.user("1"), ana.userId);
    expect(await kb.standsFor(ana.userId)).toEqual([]);
    const both = () => kb.identity("1", { sameAs: [kb.user("perm-1"), "user:github:elsewhere:1"] });
    await kb.run([both()]);
    expect(await kb.standsFor(ana.userId)).toEqual(["1", "perm-1"]);
    kb.clock.ms += DAY_MS;
    expect(await kb.standsFor(ana.userId)).toEqual([]);
    await kb.run([both()], { mode: "groups" });
    expect(await kb.standsFor(ana.userId)).toEqual(["1", "perm-1"]);
    await kb.run([kb.identity("1")], { mode: "groups" });
    expect(await kb.standsFor(ana.userId)).toEqual(["1"]);
    await kb.run([both(), kb.identity("1", { state: "gone" })], { mode: "groups" });
    expect(await kb.standsFor(ana.userId)).toEqual([]);
    await kb.run([both()], { mode: "groups" });
    expect(await kb.standsFor(ana.userId)).toEqual([]);
  });

  test("by email needs an address that is verified twice, in a domain, and of one active user alone", async ({
    expect,
  }) => {
    const kb = await makePeopleKit();
    const ana = await kb.member();
    const email = "Ana@Corp.test";
    const verify = (emailVerifiedAt: number | null, address = email) =>
      kb.database.write
        .updateTable("users")
        .set({ email: address, emailKey: address.toLowerCase(), emailVerifiedAt })
        .where("userId", "=", ana.userId)
        .execute();
    const match = () => kb.store.identities.matchEmails(kb.connectorId, ["corp.test"], 10);
    const tell = (...events: ReturnType<typeof kb.identity>[]) => kb.run(events, { mode: "groups" });
    const one = [{ principal: kb.user("1"), userId: ana.userId }];
    await tell(kb.identity("1", { email }));
    expect(await match()).toEqual([]);
    await verify(1);
    expect(await match()).toEqual(one);
    expect(await kb.store.identities.matchEmails(kb.connectorId, ["orp.test", "x.corp.test"], 10)).toEqual([]);
    await tell(kb.identity("1", { email, isEmailVerified: false }));
    expect(await match()).toEqual([]);
    await tell(kb.identity("1", { email }), kb.identity("2", { email, isEmailVerified: false }));
    expect(await match()).toEqual([]);
    await tell(kb.identity("2", { email, state: "gone" }));
    expect(await match()).toEqual(one);
    await kb.run([kb.identity("1", { email })], { mode: "groups", isTrusted: false });
    expect(await match()).toEqual([]);
    await tell(kb.identity("1", { email, sameAs: [kb.user("perm-1")] }));
    expect(await match()).toEqual(one);
    await kb.join(kb.user("1"), ana.userId, "email");
    expect(await match()).toEqual([]);
  });

  test("by email is never of an address that a former member had", async ({ expect }) => {
    const kb = await makePeopleKit();
    const email = "joe@corp.test";
    const [joe, newJoe] = [await kb.member(), await kb.member()];
    const setEmail = (userId: string, address: string) => kb.world.users.setEmail(userId, address, null);
    const verify = () => kb.database.write.updateTable("users").set({ emailVerifiedAt: 1 }).execute();
    const match = () => kb.store.identities.matchEmails(kb.connectorId, ["corp.test"], 10);
    await setEmail(joe.userId, email);
    await verify();
    await kb.run([kb.identity("1", { email })]);
    expect(await match()).toEqual([{ principal: kb.user("1"), userId: joe.userId }]);
    // Another address: the former one says nothing of its next holder, but he can take it back.
    await setEmail(joe.userId, "joseph@corp.test");
    await setEmail(joe.userId, email);
    await verify();
    expect(await match()).toEqual([{ principal: kb.user("1"), userId: joe.userId }]);
    await setEmail(joe.userId, "joseph@corp.test");
    await setEmail(newJoe.userId, email);
    await verify();
    expect(await match()).toEqual([]);
    await setEmail(newJoe.userId, "new@corp.test");
    await kb.join(kb.user("1"), joe.userId, "email");
    await kb.leave(joe.userId);
    expect(await kb.store.identities.joinsOf(kb.user("1"))).toMatchObject([{ endReason: "left" }]);
    await setEmail(joe.userId, "away@x.test");
    await setEmail(newJoe.userId, email);
    await verify();
    expect(await match()).toEqual([]);
    // The user of the source was his: another address makes nobody of him.
    await kb.run([kb.identity("1", { email: "new@corp.test" })], { mode: "groups" });
    await setEmail(newJoe.userId, "new@corp.test");
    await verify();
    expect(await match()).toEqual([]);
  });

  test("makes a user one member at a time, whose tie an admin alone can move", async ({ expect }) => {
    const kb = await makePeopleKit();
    const [ana, bo] = [await kb.member(), await kb.member()];
    await kb.run([kb.identity("1")]);
    await kb.join(kb.user("1"), ana.userId, "account");
    await expect(kb.join(kb.user("1"), bo.userId, "email")).rejects.toThrow("another member");
    expect(await kb.join(kb.user("1"), bo.userId, "admin")).toMatchObject({ userId: ana.userId, reason: "untied" });
    expect([await kb.standsFor(ana.userId), await kb.standsFor(bo.userId)]).toEqual([[], ["1"]]);
    const listed = await kb.store.identities.list(kb.connectorId, { limit: 5, isJoined: true });
    expect(listed).toMatchObject([{ principal: kb.user("1"), userId: bo.userId, basis: "admin" }]);
    expect(await kb.store.identities.list(kb.connectorId, { limit: 5, isJoined: false })).toEqual([]);
    expect(await kb.sourcePeople.summaryOf(kb.connectorId)).toMatchObject({ users: 1, joined: 1, oldestAt: null });
  });

  test("and all that it told end with a connector", async ({ expect }) => {
    const kb = await makePeopleKit();
    const ana = await kb.member();
    await kb.run([kb.identity("1", { sameAs: [kb.user("perm-1")] }), kb.whole("team", [kb.user("1")])]);
    await kb.join(kb.user("1"), ana.userId);
    await kb.store.access.dropReported(kb.connectorId, kb.clock.ms);
    expect(await kb.standsFor(ana.userId)).toEqual([]);
    expect(await kb.store.identities.joinsOfMember(ana.userId)).toMatchObject([{ endReason: "connector_removed" }]);
    const rest = await kb.database.read
      .selectFrom("memberships")
      .select("groupPrincipal")
      .where("groupPrincipal", "not like", "group:connector:%")
      .execute();
    expect(rest).toEqual([]);
  });
});

test("what a sync tells of groups is stored with its items, or not at all", async ({ expect }) => {
  const kb = await makePeopleKit();
  const who = kb.teller({ toldIn: "sync" });
  const { position } = await kb.sourcePeople.begin(who);
  const people = {
    ...who,
    since: position,
    events: [kb.whole("folder", [kb.user("1")])],
    checkpoint: { cursor: null },
  };
  const batch = { connectorId: kb.connectorId, always: [], highest: 0, now: kb.clock.ms, ops: [], people };
  expect(await kb.store.itemWrites.applyBatch(batch)).toMatchObject({
    isApplied: true,
    people: { counts: { groups: 1 } },
  });
  await kb.sourcePeople.end({ ...who, isComplete: true, notLookedAt: [] });
  expect(await kb.store.itemWrites.applyBatch(batch)).toEqual({ isApplied: false, reason: "lease_lost" });
});

test("pages of a group are one reading, from the time of the first", ({ expect }) => {
  const pages = makeGroupPages();
  const group = "group:con_aaaaaaaaaaaaaaaa:team";
  expect(pages.add({ group, members: ["b", "d"], hasMore: true, at: 1, etag: "e" })).toBeUndefined();
  expect(pages.open()).toEqual([group]);
  const whole = pages.add({ group, members: ["a", "d", "c"], hasMore: false, at: 2 });
  expect(whole).toMatchObject({ members: '["b","d","a","d","c"]', at: 1, etag: "e" });
  expect(pages.open()).toEqual([]);
});

test("the same members in another order, or one named twice, are unchanged", async ({ expect }) => {
  const kb = await makePeopleKit();
  const [one, two] = [kb.user("1"), kb.user("2")];
  const counts = [];
  for (const members of [[two, one], [two, one], [one, two, one], [one]]) {
    counts.push((await kb.run([kb.whole("team", members)], { mode: "groups" })).counts);
  }
  expect(counts.map(({ unchanged, added, removed }) => [unchanged, added, removed])).toEqual([
    [0, 2, 0],
    [1, 0, 0],
    [1, 0, 0],
    [0, 0, 1],
  ]);
  expect((await kb.sourcePeople.summaryOf(kb.connectorId)).memberships).toBe(1);
});
