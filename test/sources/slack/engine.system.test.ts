import { describe, expect, test } from "vitest";
import { threadId } from "#sources/slack/map.ts";
import { openEngine } from "../../kit/engine.ts";
import { expectSame, shownTo } from "../chat/readers.ts";
import { makeSlackFixture, makeWorld, whoSees, type World } from "./fixture.ts";

const HOUR_MS = 3_600_000;

describe("slack in the server, with an emulator", { timeout: 120_000 }, () => {
  async function open() {
    const world = await makeWorld();
    const kb = await openEngine(await makeSlackFixture(world));
    await kb.readPeople();
    await kb.work();
    return { world, kb };
  }
  const people = ({ ids, more }: World) =>
    [ids.ann, ids.ben, ids.cid, ids.dan].filter((id) => !more.deactivated.has(id)).map((id) => ({ id }));
  const same = (kb: Awaited<ReturnType<typeof open>>["kb"], world: World) =>
    expectSame(kb, people(world), (externalId) => whoSees(world, externalId));

  test("people find what they read there: first, after a removal alone, and after a day of increments", async () => {
    const { world, kb } = await open();
    const { act, say, ids, channels, messages, more } = world;
    await same(kb, world);
    // A guest reads the channels that they are in, public ones too.
    const ofGuest: { source: string }[] = (await shownTo(kb, ids.cid)).listed;
    expect(ofGuest.map(({ source }) => source)).toEqual(["slack:#lobby"]);

    await act("ann", "conversations.kick", { channel: channels.team, user: ids.dan });
    more.guests.add(ids.ben);
    await kb.readPeople();
    expect(await kb.whoSees(threadId(channels.team, messages.secret))).toEqual([ids.ann]);
    await same(kb, world);

    more.deactivated.set(ids.dan, {});
    const said = await say("ann", channels.team, "Said while time went on.");
    await act("ann", "chat.update", {
      channel: channels.engineering,
      ts: messages.edited,
      text: "Passwords come first.",
    });
    for (let hours = 0; hours < 26; hours += 2) await kb.pass(2 * HOUR_MS);
    expect(await kb.whoSees(threadId(channels.team, said))).toEqual([ids.ann]);
    expect((await shownTo(kb, ids.dan)).listed).toEqual([]);
    expect(await kb.textOf(threadId(channels.engineering, messages.edited))).toBe("Passwords come first.");
    await same(kb, world);
  });

  test("a thread grows, loses replies and goes, and a channel that is left goes with it", async () => {
    const { world, kb } = await open();
    const { act, say, channels, messages } = world;
    const root = threadId(channels.engineering, messages.root);
    expect(await kb.textOf(root)).toBe(
      "ann: Where do we deploy the *blue* service? @admin & all\n\nben: To the second cluster.\n\ndan: Since Monday, yes.",
    );
    await say("ben", channels.engineering, "We moved it again.", messages.root);
    await act("dan", "chat.delete", { channel: channels.engineering, ts: messages.reply });
    await kb.sync();
    expect(await kb.textOf(root)).toMatch(/To the second cluster\.\n\nben: We moved it again\.$/);
    await act("ben", "chat.delete", { channel: channels.engineering, ts: messages.alone });
    await act("ann", "conversations.rename", { channel: channels.engineering, name: "platform" });
    await act("ann", "conversations.kick", { channel: channels.team, user: world.ids.kb });
    await kb.sync();
    const rows = (await kb.rows()).map(({ externalId }) => externalId);
    expect(rows).not.toContain(threadId(channels.engineering, messages.alone));
    const files: { source: string }[] = (await shownTo(kb, world.ids.ann)).listed;
    expect([...new Set(files.map(({ source }) => source))].sort()).toEqual(["slack:#lobby", "slack:#platform"]);
    for (const externalId of rows)
      if (externalId.startsWith(channels.team)) expect(await kb.whoSees(externalId)).toEqual([]);
  });
});
