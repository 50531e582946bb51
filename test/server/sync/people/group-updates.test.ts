import { describe, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import type { Principal } from "#core/principals.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { BASE_URL, type ForgeContext, makeForge, openTo, person } from "./forge.ts";
import { HOUR_MS, makeMirror } from "../mirror.ts";
import { upsert } from "../harness.ts";

const DAY_MS = 24 * HOUR_MS;
const CURRENT: SyncEvent = { t: "end", listing: "complete", permissions: "current" };
const PARTIAL: SyncEvent = { t: "end", listing: "partial", permissions: "not_checked" };

/** A connector whose only item is for a group, of which the owner of the connector may be a member by `everyone`. */
async function makeRoom(spec: Parameters<typeof makeMirror>[2] = {}) {
  const kb = await makeMirror(() => [], [], spec);
  const group: Principal = `group:${kb.connectorId}:room`;
  const room = (...members: Principal[]): SyncEvent => ({ t: "group", group, members });
  const plan = upsert("plan", "text", { access: { known: true, all: [[group]] } });
  return {
    ...kb,
    group,
    room,
    plan,
    /** What a run that says this leaves to read. */
    async after(...events: SyncEvent[]): Promise<string[]> {
      kb.world.script = () => events;
      await kb.sync();
      return kb.readable();
    },
    /** Steps of the store of accesses: one item's access is one of them. */
    accesses: async () =>
      (await kb.kb.database.read.selectFrom("items").select(["externalId", "aclId"]).execute()).map(
        ({ aclId }) => aclId,
      ),
    memberships: async () =>
      (
        await kb.kb.database.read
          .selectFrom("memberships")
          .select("memberPrincipal")
          .where("groupPrincipal", "=", group)
          .execute()
      ).map((row) => row.memberPrincipal),
  };
}

describe("a group that a sync tells of", () => {
  test("lets in whom it holds, and a public room that is closed is one row", async ({ expect }) => {
    const kb = await makeRoom();
    expect(await kb.after(kb.room("everyone"), kb.plan, CURRENT)).toEqual(["plan"]);
    const before = await kb.accesses();
    expect(await kb.after(kb.room(), { t: "seen", externalIds: ["plan"] }, CURRENT)).toEqual([]);
    expect([await kb.accesses(), await kb.memberships()]).toEqual([before, []]);
    expect(await kb.after(kb.room("everyone"), PARTIAL)).toEqual(["plan"]);
  });

  test("is emptied by a complete run that does not name it, by no other one, and not while it can't be looked at", async ({
    expect,
  }) => {
    const kb = await makeRoom();
    const seen: SyncEvent = { t: "seen", externalIds: ["plan"] };
    expect(await kb.after(kb.room("everyone"), kb.plan, CURRENT)).toEqual(["plan"]);
    expect(await kb.after(seen, PARTIAL)).toEqual(["plan"]);
    expect(await kb.after(seen, { ...CURRENT, notLookedAt: [{ group: kb.group }] })).toEqual(["plan"]);
    expect(await kb.after(seen, CURRENT)).toEqual([]);
    expect(await kb.memberships()).toEqual([]);
    expect(await kb.after(kb.room("everyone"), seen, CURRENT)).toEqual(["plan"]);
  });

  test("stays as it is where its container can't be looked at, unless the run names it all the same", async ({
    expect,
  }) => {
    const kb = await makeRoom();
    const seen: SyncEvent = { t: "seen", externalIds: ["plan"] };
    const container = { type: "folder", id: "hall" } as const;
    const group = { t: "group", group: kb.group, containers: [container] } as const;
    const room = (...members: Principal[]): SyncEvent => ({ ...group, members });
    const failing: SyncEvent = { ...CURRENT, notLookedAt: [{ container }] };
    expect(await kb.after(room("everyone"), kb.plan, CURRENT)).toEqual(["plan"]);
    expect(await kb.after(seen, failing)).toEqual(["plan"]);
    expect(await kb.after(seen, { ...CURRENT, notLookedAt: [{ container: { type: "folder", id: "other" } }] })).toEqual(
      [],
    );
    expect(await kb.after(room("everyone"), seen, CURRENT)).toEqual(["plan"]);
    expect(await kb.after(room(), seen, failing)).toEqual([]);
    expect(await kb.after(room("everyone"), seen, failing)).toEqual(["plan"]);
    // It grows old as what could not be looked at does.
    kb.world.script = () => [seen, failing];
    for (let hour = 0; hour < 26; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual([]);
  });

  test("takes changes from the run after its reading on", async ({ expect }) => {
    const kb = await makeRoom();
    const change = (member: Principal, more: { removed?: true } = {}): SyncEvent => ({
      t: "member",
      group: kb.group,
      member,
      ...more,
    });
    expect(await kb.after(change("everyone"), PARTIAL)).toEqual([]);
    expect(await kb.after(kb.room(), kb.plan, CURRENT)).toEqual([]);
    expect(await kb.after(change("everyone"), { t: "checkpoint", cursor: 1 }, PARTIAL)).toEqual(["plan"]);
    expect(await kb.after(change("everyone", { removed: true }), PARTIAL)).toEqual([]);
    expect(await kb.after(change("everyone"), PARTIAL)).toEqual(["plan"]);
  });

  test("loses the members that its connector may not name, who are counted", async ({ expect }) => {
    const kb = await makeRoom();
    const foreign: SyncEvent = { t: "group", group: "group:con_3333333333333333:room", members: ["everyone"] };
    expect(await kb.after(kb.room("workspace", "user:usr_3333333333333333"), foreign, kb.plan, CURRENT)).toEqual([]);
    expect(await kb.memberships()).toEqual([]);
    expect(await kb.lastSync()).toMatchObject({
      state: "succeeded",
      problem: { code: "names_strangers", message: expect.stringContaining("3 names were") },
    });
    expect(await kb.after(kb.room("workspace", "everyone"), kb.plan, CURRENT)).toEqual(["plan"]);
  });

  test("has a clock where permissions are mirrored, which current runs move for unnamed groups too", async ({
    expect,
  }) => {
    const kb = await makeRoom({ freshness: "feed" });
    expect(await kb.after(kb.room("everyone"), kb.plan, CURRENT)).toEqual(["plan"]);
    kb.world.script = () => [{ t: "end", listing: "partial", permissions: "current" }];
    for (let hour = 0; hour < 30; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["plan"]);
    kb.world.script = () => [{ t: "seen", externalIds: ["plan"] }, PARTIAL];
    for (let hour = 0; hour < 26; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual([]);
  });

  test("that is refused lets no one in from then on, until it is read whole again", async ({ expect }) => {
    const kb = await makeRoom({ freshness: "feed" });
    const seen: SyncEvent = { t: "seen", externalIds: ["plan"] };
    const refused: SyncEvent = { t: "refused", what: { group: kb.group }, code: "source_forbidden" };
    expect(await kb.after(kb.room("everyone"), kb.plan, CURRENT)).toEqual(["plan"]);
    expect(await kb.after(refused, PARTIAL)).toEqual([]);
    expect(await kb.after(seen, CURRENT)).toEqual([]);
    expect(await kb.after({ t: "end", listing: "partial", permissions: "current" })).toEqual([]);
    expect(await kb.after({ t: "member", group: kb.group, member: "everyone" }, PARTIAL)).toEqual([]);
    expect(await kb.after(kb.room("everyone"), PARTIAL)).toEqual(["plan"]);
    // Refused behind a change that no cursor covers yet, by a run that dies there.
    kb.world.script = function* () {
      yield { t: "member", group: kb.group, member: `group:${kb.connectorId}:other` };
      yield kb.room("everyone");
      yield refused;
      throw new ApiError("source_rate_limited", { message: "429", retryAfterMs: HOUR_MS });
    };
    await kb.sync();
    expect(await kb.readable()).toEqual([]);
  });

  test("that someone else's connector owns is refused by no one", async ({ expect }) => {
    const kb = await makeRoom();
    const refused: SyncEvent = { t: "refused", what: { group: "group:con_3333333333333333:x" }, code: "source_gone" };
    expect(await kb.after(kb.room("everyone"), kb.plan, refused, CURRENT)).toEqual(["plan"]);
    expect(await kb.lastSync()).toMatchObject({ problem: { code: "names_strangers" } });
  });

  test("keeps its clock while it can't be looked at", async ({ expect }) => {
    const kb = await makeRoom({ freshness: "feed" });
    expect(await kb.after(kb.room("everyone"), kb.plan, CURRENT)).toEqual(["plan"]);
    kb.world.script = () => [
      { t: "end", listing: "partial", permissions: "current", notLookedAt: [{ group: kb.group }] },
    ];
    for (let hour = 0; hour < 23; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual(["plan"]);
    for (let hour = 0; hour < 2; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable()).toEqual([]);
  });

  test("ends with the listing of a container that it is in and does not name it", async ({ expect }) => {
    const kb = await makeRoom();
    const folder = (id: string) => ({ type: "folder" as const, id });
    const room = (...members: Principal[]): SyncEvent => ({
      t: "group",
      group: kb.group,
      members,
      containers: [folder("a"), folder("top")],
    });
    const seen: SyncEvent = { t: "seen", externalIds: ["plan"] };
    const listed = (id: string, from?: number): SyncEvent => ({
      t: "listed",
      container: folder(id),
      ...(from !== undefined && { from }),
    });
    for (const id of ["a", "top"]) {
      expect(await kb.after(room("everyone"), kb.plan, CURRENT)).toEqual(["plan"]);
      expect(await kb.after(seen, listed("b"), listed(id, 0), PARTIAL)).toEqual(["plan"]);
      expect(await kb.after(seen, room("everyone"), listed(id), PARTIAL)).toEqual(["plan"]);
      const refused: SyncEvent = { t: "refused", what: { group: kb.group }, code: "source_forbidden" };
      expect(await kb.after(seen, refused, listed(id), PARTIAL)).toEqual([]);
      expect(await kb.memberships()).toEqual(["everyone"]);
      expect(await kb.after(seen, listed(id), PARTIAL)).toEqual([]);
      expect(await kb.memberships()).toEqual([]);
    }
  });

  test("never grows old where access is set in kb", async ({ expect }) => {
    const kb = await makeRoom({ acl: "connector" });
    expect(await kb.after(kb.room("everyone"), kb.plan, CURRENT)).toEqual(["plan"]);
    kb.world.script = () => [PARTIAL];
    await kb.pass(3 * DAY_MS);
    expect(await kb.readable()).toEqual(["plan"]);
    expect(await kb.after(kb.room(), PARTIAL)).toEqual([]);
  });

  test("is read from its first page when a run dies between two, and then holds the same", async ({ expect }) => {
    const kb = await makeRoom();
    const events: SyncEvent[] = [
      { t: "group", group: `group:${kb.connectorId}:one`, members: ["everyone"] },
      { t: "checkpoint", cursor: 1 },
      { t: "group", group: kb.group, members: [`group:${kb.connectorId}:one`], more: true },
      { t: "checkpoint", cursor: 3 },
      kb.plan,
      { t: "group", group: kb.group, members: [`group:${kb.connectorId}:two`], more: true },
      { t: "checkpoint", cursor: 6 },
      { t: "group", group: kb.group, members: [`group:${kb.connectorId}:three`] },
      { t: "checkpoint", cursor: 8 },
      CURRENT,
    ];
    for (let kill = 1; kill < events.length; kill++) {
      const cursors: unknown[] = [];
      kb.world.script = function* ({ cursor }) {
        cursors.push(cursor);
        for (const [at, event] of [...events.entries()].slice(Number(cursor ?? 0))) {
          if (cursors.length === 1 && at === kill)
            throw new ApiError("source_rate_limited", { message: "429", retryAfterMs: 1_000 });
          yield event;
        }
      };
      kb.kb.clock.advance(1);
      await kb.kb.as(kb.owner).post(`/api/connectors/${kb.connectorId}/syncs`, { mode: "full" });
      await kb.work();
      await kb.pass(5 * 60_000);
      // No cursor was stored between the first page and the last.
      expect([kill, cursors]).toEqual([kill, [null, kill < 2 ? null : kill < 9 ? 1 : 8]]);
      expect([kill, (await kb.memberships()).length, await kb.readable()]).toEqual([kill, 3, ["plan"]]);
      expect(await kb.after(CURRENT)).toEqual([]);
    }
  });
});

test("a folder that has moved takes along who may read all that is in it, by one change of a group", async ({
  expect,
}) => {
  const kb = await makeRoom({ freshness: "feed" });
  const [parent, closed] = [`group:${kb.connectorId}:parent`, `group:${kb.connectorId}:closed`];
  const told = (group: Principal, ...members: Principal[]): SyncEvent => ({ t: "group", group, members });
  const deep = upsert("deep", "text", { partOf: "plan", access: { known: true, all: [["everyone"]] } });
  const all = [told(parent, "everyone"), told(closed), kb.room(parent), kb.plan, deep];
  expect(await kb.after(...all, CURRENT)).toEqual(["deep", "plan"]);
  const before = await kb.accesses();
  expect(await kb.after(kb.room(closed), { ...PARTIAL, permissions: "current" })).toEqual([]);
  expect(await kb.accesses()).toEqual(before);
});

describe("a user that a sync tells of", () => {
  test("is linked as in a run of identities, and ends with the listing that does not name them", async ({ expect }) => {
    const world = { isListed: true };
    const items = ({ user, group }: ForgeContext): SyncEvent[] => {
      const told = person(user("1"), "ann@acme.test");
      if (told.t !== "identity") throw new Error("No user.");
      return [
        ...(world.isListed ? [told, { t: "group" as const, group: group("team"), members: [user("1")] }] : []),
        openTo("plan", group("team")),
      ];
    };
    const kb = await makeForge({ [BASE_URL]: { items, people: () => [] } });
    const ann = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
    await kb.verify(ann);
    await kb.setDomains(["acme.test"]);
    await kb.register();
    const connectorId = await kb.connect(kb.owner);
    expect((await kb.people(connectorId)).people).toMatchObject([{ member: { id: ann.userId }, linkedBy: "email" }]);
    expect(await kb.readable(ann)).toEqual(["plan"]);
    world.isListed = false;
    kb.clock.advance(1);
    await kb.as(kb.owner).post(`/api/connectors/${connectorId}/syncs`, { mode: "full" });
    await kb.work();
    expect(await kb.readable(ann)).toEqual([]);
    expect((await kb.people(connectorId)).people).toEqual([]);
    const { entries } = (await kb.as(kb.owner).get("/api/audit?action=person.unlinked")).json;
    expect(entries[0].details).toMatchObject({ reason: "vanished", from: ann.userId });
  });
});
