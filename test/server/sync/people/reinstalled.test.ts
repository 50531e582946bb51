import { describe, test } from "vitest";
import type { IdentityEvent } from "#sources/identity-events.ts";
import { HOUR_MS } from "../mirror.ts";
import { BASE_URL, type ForgeContext, makeForge, openTo, person, WHOLE } from "./forge.ts";

// A reinstalled server: the same address and the same ids, which are other people's now.

const ANN = "user:forge:git.acme.test:1";

const named = ({ user }: ForgeContext, id: string, login: string, isVerified = true): IdentityEvent => ({
  t: "identity",
  principal: user(id),
  state: "active",
  login,
  name: login,
  email: { address: `${login}@acme.test`, isVerified },
});

/** User 1 is whom `people` says; the plan is theirs. */
async function makeServed(people: (at: ForgeContext) => IdentityEvent[]) {
  const world = { people };
  const kb = await makeForge({
    [BASE_URL]: {
      items: ({ user }) => [openTo("plan", user("1"))],
      people: (at) => [...world.people(at), WHOLE],
    },
  });
  const member = async (name: string) => {
    const user = await kb.addMember(kb.owner.workspaceId, "member", `${name}@acme.test`);
    await kb.verify(user);
    return user;
  };
  const [ann, ben] = [await member("ann"), await member("ben")];
  await kb.setDomains(["acme.test"]);
  await kb.register();
  const connectorId = await kb.connect(kb.owner);
  const readers = async () => [await kb.readable(ann), await kb.readable(ben)];
  const halfDay = async () => {
    for (let hour = 0; hour < 13; hour++) await kb.pass(HOUR_MS);
  };
  const ended = async () =>
    (await kb.as(kb.owner).get("/api/audit?action=person.unlinked")).json.entries.map(
      ({ details }: { details: { reason: string } }) => details.reason,
    );
  return { kb, world, ann, ben, connectorId, readers, halfDay, ended };
}

describe("a reinstalled server", () => {
  test("gives an id to another person, whom the former one is not any more", async ({ expect }) => {
    const served = await makeServed((at) => [named(at, "1", "ann"), named(at, "2", "ben")]);
    expect(await served.readers()).toEqual([["plan"], []]);
    served.world.people = (at) => [named(at, "1", "ben"), named(at, "2", "ann")];
    await served.halfDay();
    expect([await served.readers(), await served.ended()]).toEqual([
      [[], ["plan"]],
      ["another_person", "another_person"],
    ]);
  });

  test("gives an id to someone who is no member: no one reads what is theirs", async ({ expect }) => {
    const served = await makeServed((at) => [named(at, "1", "ann")]);
    served.world.people = (at) => [named(at, "1", "stranger", false)];
    await served.halfDay();
    expect([await served.readers(), await served.ended()]).toEqual([[[], []], ["another_person"]]);
  });

  test("ends what an admin said of a user who has another login and another address now", async ({ expect }) => {
    const served = await makeServed((at) => [named(at, "1", "annie", false)]);
    await served.kb.link(served.kb.owner, served.connectorId, ANN, served.ann.userId);
    expect(await served.readers()).toEqual([["plan"], []]);
    served.world.people = (at) => [named(at, "1", "ben", false)];
    await served.halfDay();
    expect([await served.readers(), await served.ended()]).toEqual([[[], []], ["another_person"]]);
  });
});

describe("a user who stays who they are", () => {
  test("keeps an admin's word with another address or another login alone", async ({ expect }) => {
    const served = await makeServed((at) => [named(at, "1", "annie", false)]);
    await served.kb.link(served.kb.owner, served.connectorId, ANN, served.ann.userId);
    for (const [login, address] of [
      ["annie", "ann.smith"],
      ["ann.smith", "ann.smith"],
    ] as const) {
      served.world.people = ({ user }) => [
        { t: "identity", principal: user("1"), state: "active", login, email: { address, isVerified: false } },
      ];
      await served.halfDay();
      expect([await served.readers(), await served.ended()]).toEqual([[["plan"], []], []]);
    }
  });

  test("stays a member whose address changes here, and while the source tells none", async ({ expect }) => {
    const served = await makeServed((at) => [named(at, "1", "ann")]);
    const { kb, ann } = served;
    const emailKey = "ann.smith@acme.test";
    const address = { email: emailKey, emailKey };
    await kb.database.write.updateTable("users").set(address).where("userId", "=", ann.userId).execute();
    await served.halfDay();
    served.world.people = ({ user }) => [person(user("1"))];
    await served.halfDay();
    expect([await served.readers(), await served.ended()]).toEqual([[["plan"], []], []]);
  });

  test("is linked again once the address here is the one that the source tells", async ({ expect }) => {
    const served = await makeServed((at) => [named(at, "1", "ann")]);
    const { kb, ann } = served;
    served.world.people = (at) => [named(at, "1", "ann.smith")];
    await served.halfDay();
    expect(await served.readers()).toEqual([[], []]);
    const emailKey = "ann.smith@acme.test";
    const address = { email: emailKey, emailKey };
    await kb.database.write.updateTable("users").set(address).where("userId", "=", ann.userId).execute();
    await served.halfDay();
    expect(await served.readers()).toEqual([["plan"], []]);
  });
});

describe("a feed with gaps", () => {
  /** User 1 is in the team by the first whole reading; `changes` never says that they left. */
  async function makeFeed() {
    const feed = { isWholeRead: true, isMember: true };
    const kb = await makeForge({
      [BASE_URL]: {
        items: ({ group }) => [openTo("plan", group("team"))],
        people: ({ user, group }, { mode }) => {
          const ann = person(user("1"), "ann@acme.test");
          if (mode === "changes") return [ann, { t: "checkpoint", cursor: 1 }, WHOLE];
          if (!feed.isWholeRead) return [{ t: "end", listing: "partial" }];
          const members = feed.isMember ? [user("1")] : [];
          return [ann, { t: "group", group: group("team"), members }, { t: "checkpoint", cursor: 1 }, WHOLE];
        },
      },
    });
    const ann = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
    await kb.verify(ann);
    await kb.setDomains(["acme.test"]);
    await kb.register();
    await kb.connect(kb.owner);
    const hours = async (count: number) => {
      for (let hour = 0; hour < count; hour++) await kb.pass(HOUR_MS);
    };
    return { kb, ann, feed, hours };
  }

  test("proves nothing of groups: without a whole reading no one reads by them a day later", async ({ expect }) => {
    const { kb, ann, feed, hours } = await makeFeed();
    expect(await kb.readable(ann)).toEqual(["plan"]);
    feed.isWholeRead = false;
    await hours(23);
    expect(await kb.readable(ann)).toEqual(["plan"]);
    await hours(3);
    expect(await kb.readable(ann)).toEqual([]);
    expect(kb.runs.filter(({ mode }) => mode === "changes").length).toBeGreaterThan(5);
    feed.isWholeRead = true;
    await hours(13);
    expect(await kb.readable(ann)).toEqual(["plan"]);
  });

  test("loses who left in a gap with the next whole reading", async ({ expect }) => {
    const { kb, ann, feed, hours } = await makeFeed();
    feed.isMember = false;
    await hours(13);
    expect(await kb.readable(ann)).toEqual([]);
  });
});
