import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { fileId, threadId } from "#sources/matrix/map.ts";
import { openEngine } from "../../kit/engine.ts";
import { expectSame, shownTo } from "../chat/readers.ts";
import { type TestProxy, startProxy } from "../proxy.ts";
import { type Crowd, makeCrowd, makeMatrixFixture, makeWorld, whoSees, type World } from "./fixture.ts";
import { findSynapse, startSynapse, type Synapse } from "./synapse.ts";

const PYTHON = findSynapse();
const HOUR_MS = 3_600_000;
let server: Synapse;
let crowd: Crowd;

type Kb = Awaited<ReturnType<typeof openEngine>>;

describe.skipIf(PYTHON === undefined)("matrix in the server, with a real homeserver", { timeout: 300_000 }, () => {
  beforeAll(async () => {
    if (PYTHON === undefined) return undefined;
    server = await startSynapse(PYTHON);
    crowd = await makeCrowd(server.url);
    return () => server.stop();
  }, 180_000);

  /** A world of its own, in the server with everything read. */
  async function open(prepare?: (world: World) => Promise<void>): Promise<{ world: World; kb: Kb; proxy: TestProxy }> {
    const proxy = await startProxy(server.port);
    onTestFinished(() => proxy.stop());
    const world = await makeWorld(server.url, crowd);
    await prepare?.(world);
    const kb = await openEngine(makeMatrixFixture(world, proxy, server.url));
    await kb.readPeople();
    await kb.work();
    return { world, kb, proxy };
  }

  test("people find what their rooms hold: first, after a kick alone, and after a day of increments", async () => {
    const { world, kb } = await open();
    const { people, rooms, messages } = world;
    await expectSame(kb, world.all, (externalId) => whoSees(world, externalId));
    expect((await shownTo(kb, people.cid.id)).listed).toEqual([]);
    expect((await shownTo(kb, people.ben.id)).listed).not.toEqual([]);

    // Nothing but who is in the room changes, and within one identity run nobody reads more than there.
    await people.ann.kick(rooms.team, people.dan);
    await kb.readPeople();
    expect(await people.dan.mayRead(rooms.team, messages.secret), "the app shows it still").toBe(true);
    expect(await kb.whoSees(threadId(rooms.team, messages.secret))).toEqual([people.ann.id]);
    await expectSame(kb, world.all, (externalId) => whoSees(world, externalId));

    await people.ann.ban(rooms.general, people.ben);
    await people.dan.leave(rooms.general);
    await people.cid.join(await world.room("Late", [people.bot, people.cid]));
    const said = await people.ann.say(rooms.team, "Said while time went on.");
    for (let hours = 0; hours < 26; hours += 2) await kb.pass(2 * HOUR_MS);
    expect(await kb.whoSees(threadId(rooms.team, said))).toEqual([people.ann.id]);
    await expectSame(kb, world.all, (externalId) => whoSees(world, externalId));
  });

  test("a thread is one item that grows, is edited and loses replies by increments", async () => {
    const { world, kb } = await open();
    const { people, rooms, messages } = world;
    const root = threadId(rooms.general, messages.root);
    const [ann, ben, dan] = [people.ann, people.ben, people.dan].map(({ id }) => id.slice(1, id.indexOf(":")));
    expect(await kb.textOf(root)).toBe(
      `${ann}: Where do we deploy the blue service?\n\n${ben}: To the second cluster.\n\n${dan}: Since Monday, yes.`,
    );
    expect(await kb.textOf(threadId(rooms.general, messages.edited))).toBe("The password policy comes first.");

    const later = await people.ben.reply(rooms.general, messages.root, "We moved it again.");
    await kb.sync();
    expect(await kb.textOf(root)).toContain(`${ben}: We moved it again.`);
    await people.ben.edit(rooms.general, later, "We moved it to the third.");
    await people.dan.redact(rooms.general, messages.reply);
    await kb.sync();
    expect(await kb.textOf(root)).toBe(
      `${ann}: Where do we deploy the blue service?\n\n${ben}: To the second cluster.\n\n${ben}: We moved it to the third.`,
    );
    await people.ann.redact(rooms.general, messages.root);
    await kb.sync();
    expect(await kb.textOf(root)).toBe(`${ben}: To the second cluster.\n\n${ben}: We moved it to the third.`);

    await people.dan.redact(rooms.general, messages.file);
    await people.ben.redact(rooms.general, messages.alone);
    await kb.sync();
    const left = (await kb.rows()).map(({ externalId }) => externalId);
    expect(left).not.toContain(fileId(rooms.general, messages.file));
    expect(left).not.toContain(threadId(rooms.general, messages.file));
    expect(left).not.toContain(threadId(rooms.general, messages.alone));
  });

  test("more messages than an answer holds leave no gap, and cost few requests", async () => {
    const { world, kb, proxy } = await open();
    const { people, rooms, messages } = world;
    const said = new Set([messages.alone]);
    for (let i = 0; i < 130; i++) said.add(await people.ben.say(rooms.general, `Message ${i}`));
    const before = proxy.requests.length;
    await kb.increment();
    const asked = proxy.requests.length - before;
    const stored = new Set((await kb.rows()).map(({ externalId }) => externalId));
    expect([...said].filter((id) => !stored.has(threadId(rooms.general, id)))).toEqual([]);
    const idle = proxy.requests.length;
    await kb.increment();
    process.stderr.write(`Matrix: 130 messages in ${asked} requests, nothing in ${proxy.requests.length - idle}\n`);
    expect(asked).toBeLessThanOrEqual(5);
    expect(proxy.requests.length - idle).toBeLessThanOrEqual(2);
  });

  test("what not every member may read is left out, whenever it was written", async () => {
    const setVisibility = (world: World, value: string) =>
      world.people.ann.setState(world.rooms.general, "m.room.history_visibility", { history_visibility: value });
    let hidden = "";
    const { world, kb } = await open(async (made) => {
      await setVisibility(made, "joined");
      hidden = await made.people.ann.say(made.rooms.general, "Between us who are here.");
      await made.people.ann.reply(made.rooms.general, made.messages.root, "Hidden answer.");
      await setVisibility(made, "shared");
    });
    const { people, rooms, messages } = world;
    // Who comes later is not shown it there, and nobody finds it here.
    await people.ann.invite(rooms.general, people.cid);
    await people.cid.join(rooms.general);
    await kb.readPeople();
    expect(await people.cid.mayRead(rooms.general, hidden)).toBe(false);
    const stored = async () => (await kb.rows()).map(({ externalId }) => externalId);
    expect(await stored()).not.toContain(threadId(rooms.general, hidden));
    const root = threadId(rooms.general, messages.root);
    expect(await kb.textOf(root)).not.toContain("Hidden answer.");
    await expectSame(kb, world.all, (externalId) => whoSees(world, externalId));

    // Neither an edit nor an answer brings it in.
    await people.ann.edit(rooms.general, hidden, "Between us, edited.");
    await people.ann.reply(rooms.general, messages.root, "Shown answer.");
    await kb.sync();
    expect(await stored()).not.toContain(threadId(rooms.general, hidden));
    expect(await kb.textOf(root)).toContain("Shown answer.");
    expect(await kb.textOf(root)).not.toContain("Hidden answer.");

    await setVisibility(world, "invited");
    const late = await people.ann.say(rooms.general, "After it was closed again.");
    await kb.sync();
    await kb.sync("full");
    expect(await stored()).not.toContain(threadId(rooms.general, late));
    expect(await stored()).toContain(root);
    await expectSame(kb, world.all, (externalId) => whoSees(world, externalId));
  });

  test("tells encrypted rooms, and leaves out spaces and conversations of two unless asked", async () => {
    let talk = "";
    let vault = "";
    const { world, kb } = await open(async ({ people, room }) => {
      const encryption = { type: "m.room.encryption", state_key: "", content: { algorithm: "m.megolm.v1.aes-sha2" } };
      vault = await room("Vault", [people.bot], { initial_state: [encryption] });
      await room("Everything", [people.bot], { creation_content: { type: "m.space" } });
      talk = await room(undefined, [people.bot]);
      await people.ann.say(talk, "Only for you.");
    });
    const client = kb.kb.as(kb.memberOf(world.people.ann.id));
    const files: { externalId: string; title: string; textState: unknown }[] = (
      await client.get("/api/connectors/all-files?limit=100")
    ).json.files;
    expect(files.find(({ externalId }) => externalId === vault)).toMatchObject({
      title: "Vault",
      textState: { reason: "encrypted" },
    });
    expect(files.filter(({ externalId }) => externalId.startsWith(talk))).toEqual([]);
    expect(files.filter(({ title }) => title === "Everything")).toEqual([]);
  });

  test("people of other servers are no one, and a room that everyone may look into is open to everyone", async () => {
    const { world, kb, proxy } = await open();
    const { people, rooms } = world;
    proxy.instead = ({ path, headers }, response) => {
      const json = (body: unknown) => (
        response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body)),
        true
      );
      if (path.includes("/joined_members") && path.includes(encodeURIComponent(rooms.general))) {
        const members = [
          people.ann.id,
          people.ben.id,
          people.dan.id,
          people.bot.id,
          "@ann-1:elsewhere.test",
          "@cid:elsewhere.test",
        ];
        return json({ joined: Object.fromEntries(members.map((id) => [id, { display_name: "Somebody" }])) });
      }
      return path.includes("/messages?") && headers.authorization === undefined ? json({ chunk: [] }) : false;
    };
    await kb.pass(13 * HOUR_MS);
    await kb.readPeople();
    const general = (await kb.rows()).filter(({ externalId }) => externalId.startsWith(rooms.general));
    for (const { externalId } of general)
      expect(await kb.whoSees(externalId)).toEqual([people.ann.id, people.ben.id, people.dan.id].sort());
    const lobby = (await kb.rows()).filter(({ externalId }) => externalId.startsWith(rooms.lobby));
    for (const { externalId } of lobby) expect(await kb.whoSees(externalId)).toContain(people.cid.id);
  });

  test("a new name is everywhere, and a room that the account left is gone", async () => {
    const { world, kb } = await open();
    const { people, rooms } = world;
    await people.ann.setState(rooms.general, "m.room.name", { name: "Everyone" });
    await people.bot.leave(rooms.team);
    await kb.sync();
    await kb.readPeople();
    const client = kb.kb.as(kb.memberOf(people.ann.id));
    const files: { source: string; externalId: string }[] = (await client.get("/api/connectors/all-files?limit=100"))
      .json.files;
    expect([...new Set(files.map(({ source }) => source))].sort()).toEqual(["matrix:Everyone", "matrix:Lobby"]);
    for (const { externalId } of await kb.rows())
      if (externalId.startsWith(rooms.team)) expect(await kb.whoSees(externalId)).toEqual([]);
  });
});
