import { randomBytes } from "node:crypto";
import { describe, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import { requestIdentities } from "#server/sync/schedule/identity-requests.ts";
import { HOUR_MS } from "../mirror.ts";
import { BASE_URL, makeForge, openTo, person, WHOLE } from "./forge.ts";
import { useAccount } from "../other-account.ts";

// Sequences by which somebody became a user of a source again whom nobody meant to be that user any more, and by which a few
// groups that could not be read hid what the others are for.

const ANN = "user:forge:git.acme.test:1";

/** Ann is linked by her address. */
async function makeLinked() {
  const kb = await makeForge({
    [BASE_URL]: {
      items: ({ user }) => [openTo("plan", user("1"))],
      people: ({ user }, { mode }) => (mode === "whole" ? [person(user("1"), "ann@acme.test"), WHOLE] : [WHOLE]),
    },
  });
  const ann = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
  await kb.verify(ann);
  await kb.setDomains(["acme.test"]);
  await kb.register();
  const connectorId = await kb.connect(kb.owner);
  const links = async () => (await kb.as(kb.owner).get("/api/audit?action=person.linked")).json.entries.length;
  return { kb, ann, connectorId, links };
}

describe("an address that matches", () => {
  test("links no one again whom an admin has unlinked", async ({ expect }) => {
    const { kb, ann, connectorId, links } = await makeLinked();
    expect([await kb.readable(ann), await links()]).toEqual([["plan"], 1]);
    await kb.link(kb.owner, connectorId, ANN, null);
    for (let hour = 0; hour < 13; hour++) await kb.pass(HOUR_MS);
    expect([await kb.readable(ann), await links()]).toEqual([[], 1]);
    await kb.link(kb.owner, connectorId, ANN, ann.userId);
    expect(await kb.readable(ann)).toEqual(["plan"]);
  });

  test("links no one once the instance is not registered any more", async ({ expect }) => {
    const { kb, ann, links } = await makeLinked();
    await kb.as(kb.owner).patch("/api/workspace", { instances: [] });
    for (let hour = 0; hour < 3; hour++) await kb.pass(HOUR_MS);
    expect([await kb.readable(ann), await links()]).toEqual([[], 1]);
    await kb.register();
    for (let hour = 0; hour < 13; hour++) await kb.pass(HOUR_MS);
    expect(await kb.readable(ann)).toEqual(["plan"]);
  });
});

describe("an address that someone else has now", () => {
  test("says nothing of them: neither of who left nor of who has another one", async ({ expect }) => {
    const { kb, ann, links } = await makeLinked();
    expect(await kb.readable(ann)).toEqual(["plan"]);
    const setAddress = (userId: string, email: string) =>
      kb.store.transaction(async (tx) => {
        await tx.users.setEmail(userId, email, kb.clock.now());
      });
    // She leaves, and the company gives her mailbox to another Ann; the source goes on listing the former one with it.
    await kb.as(kb.owner).delete(`/api/workspace/members/${ann.userId}`);
    await setAddress(ann.userId, "ann@elsewhere.test");
    const next = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
    await kb.verify(next);
    for (let hour = 0; hour < 26; hour++) await kb.pass(HOUR_MS);
    expect([await kb.readable(next), await links()]).toEqual([[], 1]);
  });
});

test("a feed that tells again who came, after the group was read without them, lets no one back in", async ({
  expect,
}) => {
  const world = { isIn: true, isFailing: true };
  const kb = await makeForge({
    [BASE_URL]: {
      items: ({ group }) => [openTo("plan", group("team"))],
      *people({ user, group }, { mode, groups }) {
        if (mode === "whole") {
          yield person(user("1"), "ann@acme.test");
          yield { t: "group", group: group("team"), members: [] };
          yield { t: "checkpoint", cursor: "page 1" };
          yield WHOLE;
        } else if (groups) {
          yield { t: "group", group: group("team"), members: world.isIn ? [user("1")] : [] };
          yield { t: "end", listing: "partial" };
        } else {
          yield { t: "member", group: group("team"), member: user("1") };
          yield { t: "checkpoint", cursor: "page 1" };
          if (world.isFailing) throw new ApiError("source_unavailable", { message: "503" });
          yield { t: "end", listing: "partial" };
        }
      },
    },
  });
  const ann = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
  await kb.verify(ann);
  await kb.setDomains(["acme.test"]);
  await kb.register();
  const connectorId = await kb.connect(kb.owner);
  expect(await kb.readable(ann)).toEqual([]);
  await kb.pass(HOUR_MS);
  expect(await kb.readable(ann)).toEqual(["plan"]);
  // The run has failed behind that page; at the source she is taken out, which a notification tells.
  world.isIn = false;
  const { workspaceId } = kb.owner;
  const connector = await kb.store.in(workspaceId).connectors.find(connectorId);
  if (!connector) throw new Error("The connector is gone.");
  const wish = { trigger: "webhook", groups: [`group:${connectorId}:team`], now: kb.clock.now(), randomBytes } as const;
  await kb.store.transaction((tx) => requestIdentities(tx, workspaceId, connector, wish));
  await kb.work();
  expect(await kb.readable(ann)).toEqual([]);
  world.isFailing = false;
  await kb.pass(HOUR_MS);
  expect([kb.runs.map(({ mode }) => mode), await kb.readable(ann)]).toEqual([
    ["whole", "changes", "groups", "changes"],
    [],
  ]);
});

test("another account's groups are read whole, and not from the cursor of the one before", async ({ expect }) => {
  const kb = await makeForge({
    [BASE_URL]: {
      items: () => [],
      people: ({ group }, { cursor }) => [
        { t: "group", group: group("team"), members: [] },
        { t: "checkpoint", cursor: Number(cursor ?? 0) + 1 },
        WHOLE,
      ],
    },
  });
  const connectorId = await kb.connect(kb.owner);
  await kb.pass(HOUR_MS);
  await useAccount(kb, kb.owner, { connectorId, accountId: "acc_2222222222222222", providerId: "forge" });
  await kb.as(kb.owner).post(`/api/connectors/${connectorId}/syncs`, {});
  await kb.work();
  await kb.pass(HOUR_MS);
  const runs = kb.runs.map(({ mode, cursor }) => [mode, cursor]);
  expect(runs).toEqual([
    ["whole", null],
    ["changes", 1],
    // Before the items that she asks for, and then by the clock.
    ["whole", null],
    ["changes", 1],
  ]);
});

test("another instance's group is not the one of the same name, and is asked for when a pause ends", async ({
  expect,
}) => {
  const OTHER = "https://git.other.test";
  const kb = await makeForge({
    [BASE_URL]: {
      items: ({ group }) => [openTo("plan", group("7"))],
      people: ({ user, group }) => [
        person(user("1"), "ann@acme.test"),
        { t: "group", group: group("7"), members: [user("1")] },
        WHOLE,
      ],
    },
    [OTHER]: {
      items: ({ group }) => [openTo("plan", group("7")), openTo("secret", group("7"))],
      people() {
        throw new ApiError("source_unavailable", { message: "It can't be reached." });
      },
    },
  });
  const ann = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
  await kb.verify(ann);
  await kb.setDomains(["acme.test"]);
  await kb.register();
  const connectorId = await kb.connect(kb.owner);
  expect(await kb.readable(ann)).toEqual(["plan"]);
  await kb.as(kb.owner).post(`/api/connectors/${connectorId}/pause`, {});
  kb.clock.advance(1);
  await kb
    .as(kb.owner)
    .patch(`/api/connectors/${connectorId}`, { config: { url: OTHER }, credentials: { token: "u" } });
  expect(await kb.readable(ann)).toEqual([]);
  await kb.as(kb.owner).post(`/api/connectors/${connectorId}/resume`, {});
  await kb.work();
  expect(await kb.readable(ann)).toEqual([]);
  expect(kb.runs.map(({ mode }) => mode)).toEqual(["whole", "whole"]);
});

test("one repository whose readers can't be read darkens itself, and no other", async ({ expect }) => {
  const kb = await makeForge({
    [BASE_URL]: {
      items: ({ group }) => [openTo("open", group("open")), openTo("broken", group("broken"))],
      people: ({ user, group }) =>
        isBroken
          ? [
              person(user("1"), "ann@acme.test"),
              { t: "group", group: group("open"), members: [user("1")] },
              { ...WHOLE, notLookedAt: [group("broken")] },
            ]
          : [
              person(user("1"), "ann@acme.test"),
              { t: "group", group: group("open"), members: [user("1")] },
              { t: "group", group: group("broken"), members: [user("1")] },
              WHOLE,
            ],
    },
  });
  let isBroken = false;
  const ann = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
  await kb.verify(ann);
  await kb.setDomains(["acme.test"]);
  await kb.register();
  await kb.connect(kb.owner);
  expect(await kb.readable(ann)).toEqual(["broken", "open"]);
  isBroken = true;
  for (let hour = 0; hour < 20; hour++) await kb.pass(HOUR_MS);
  expect(await kb.readable(ann)).toEqual(["broken", "open"]);
  for (let hour = 0; hour < 20; hour++) await kb.pass(HOUR_MS);
  expect(await kb.readable(ann)).toEqual(["open"]);
});

test("an item appears once its own group was read, however long the others take", async ({ expect }) => {
  const kb = await makeForge({
    [BASE_URL]: {
      items: ({ group }) => [openTo("early", group("early")), openTo("late", group("late"))],
      *people({ user, group }, { cursor }) {
        yield person(user("1"), "ann@acme.test");
        yield { t: "group", group: group("early"), members: [user("1")] };
        yield { t: "checkpoint", cursor: 1 };
        if (cursor === null) throw new ApiError("source_rate_limited", { message: "429", retryAfterMs: 2 * HOUR_MS });
        yield { t: "group", group: group("late"), members: [user("1")] };
        yield WHOLE;
      },
    },
  });
  const ann = await kb.addMember(kb.owner.workspaceId, "member", "ann@acme.test");
  await kb.verify(ann);
  await kb.setDomains(["acme.test"]);
  await kb.register();
  const connectorId = await kb.connect(kb.owner);
  await kb.link(kb.owner, connectorId, "user:forge:git.acme.test:1", ann.userId);
  expect(await kb.readable(ann)).toEqual(["early"]);
  await kb.pass(3 * HOUR_MS);
  expect(await kb.readable(ann)).toEqual(["early", "late"]);
});
