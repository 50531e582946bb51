import { describe, test } from "vitest";
import { runsOf } from "#server/sync/run/run-session.ts";
import { ApiError } from "#api/errors.ts";
import { scripted } from "../../scripted.ts";
import { openEngine } from "../../kit/engine.ts";
import { contextOf, type KitFixture } from "../../kit/fixture.ts";
import { makeReferenceFixture } from "../../kit/reference/fixture.ts";
import { die, killDuring } from "./death.ts";
import { makeHarness, WORKSPACE } from "./harness.ts";

const HOUR_MS = 3_600_000;

async function makeWorld(change: (source: KitFixture["source"]) => Partial<KitFixture["source"]> = () => ({})) {
  const { provider, fixture } = await makeReferenceFixture();
  const source = { ...fixture.source, ...change(fixture.source as KitFixture["source"]) };
  const engine = await openEngine({ ...fixture, source } as KitFixture);
  return {
    ...engine,
    provider,
    fixture,
    async begin() {
      await engine.readPeople();
      await engine.work();
    },
    /** Pages whose readers here are others than there, each with both. */
    async differences(): Promise<string[]> {
      const found: string[] = [];
      const readers = await engine.whoSeesEach();
      for (const id of provider.pages.keys()) {
        const [here, there] = [readers.get(id) ?? [], provider.readersOf(id)];
        if (here.join() !== there.join()) found.push(`${id}: ${here.join()} instead of ${there.join()}`);
      }
      return found;
    },
  };
}

test("everyone reads what they read at the remote, by groups in groups that hold each other", async ({ expect }) => {
  const world = await makeWorld();
  await world.begin();
  expect(await world.differences()).toEqual([]);
  expect(await world.whoSees("p1")).toEqual(["u1", "u3"]);
  expect(await world.isOpenToOwner("p1")).toBe(false);
  expect(await world.isOpenToOwner("p8")).toBe(true);
});

test("a run of groups counts its requests, and where few are allowed the next one waits", async ({ expect }) => {
  const world = await makeWorld(({ spec }) => ({ spec: { ...spec, limits: { perMinute: 0.2 } } }));
  const requests = async () => (await world.connector()).freshness.requests;
  await world.begin();
  const first = await requests();
  expect(first).toBeGreaterThan(1);
  const runs = world.kb.database.read.selectFrom("syncs").select("syncId").where("mode", "=", "identities");
  const before = await runs.execute();
  await world.pass(15 * 60_000);
  expect(await runs.execute()).toEqual(before);
  await world.pass(11 * HOUR_MS);
  expect((await runs.execute()).length).toBeGreaterThan(before.length);
});

test("26 hours of good increments leave everything readable; without them and a look at the groups nothing is", async ({
  expect,
}) => {
  const world = await makeWorld();
  await world.begin();
  for (let hour = 0; hour < 26; hour++) {
    await world.pass(HOUR_MS);
  }
  expect(await world.differences()).toEqual([]);
  world.provider.fail("rate_limited");
  for (let hour = 0; hour < 25; hour++) await world.pass(HOUR_MS);
  expect(await world.whoSees("p1")).toEqual([]);
  world.provider.heal();
  await world.pass(HOUR_MS);
  await world.readPeople();
  expect(await world.differences()).toEqual([]);
});

test("a first run that waits shows what it has read to those whose groups were read", async ({ expect }) => {
  let isLimited = true;
  const world = await makeWorld((source) => ({
    sessions: scripted(async function* (ctx, run) {
      for await (const event of runsOf(source)?.(ctx, run) ?? []) {
        yield event;
        const isFirst = event.t === "checkpoint" && isLimited;
        if (isFirst) throw new ApiError("source_rate_limited", { message: "429", retryAfterMs: 12 * HOUR_MS });
      }
    }),
  }));
  await world.begin();
  expect([await world.whoSees("p1"), await world.whoSees("p5")]).toEqual([["u1", "u3"], []]);
  isLimited = false;
  await world.pass(12 * HOUR_MS);
  await world.readPeople();
  expect(await world.differences()).toEqual([]);
});

describe("what changes at the remote", () => {
  test("in a group alone changes who reads, and no item", async ({ expect }) => {
    const world = await makeWorld();
    await world.begin();
    const before = await world.rows();
    const externalId = await world.fixture.changeAccess();
    await world.readPeople();
    expect(await world.whoSees(externalId)).toEqual(["u2", "u3"]);
    expect([await world.differences(), await world.rows()]).toEqual([[], before]);
  });

  test("from private to public and back is one row", async ({ expect }) => {
    const world = await makeWorld();
    await world.begin();
    const before = await world.rows();
    for (const isPublic of [true, false]) {
      world.provider.putSpace("b", { members: ["u2"], isPublic });
      await world.readPeople();
      expect([await world.differences(), await world.isOpenToOwner("p5")]).toEqual([[], isPublic]);
    }
    expect(await world.rows()).toEqual(before);
  });

  test("by a team that is gone takes its people away with the next whole look", async ({ expect }) => {
    const world = await makeWorld();
    await world.begin();
    const gone = await world.fixture.removeGroup();
    await world.readPeople();
    expect([gone, await world.whoSees("p1"), await world.differences()]).toEqual([["u3"], ["u1"], []]);
  });

  test("by a person who left takes that person away", async ({ expect }) => {
    const world = await makeWorld();
    await world.begin();
    const id = await world.fixture.removePerson();
    await world.readPeople();
    expect([id, await world.whoSees("p1"), await world.whoSees("p2")]).toEqual(["u1", ["u3"], ["u3"]]);
  });

  test("by a move gives the page the readers of its new space, and it stays what it was", async ({ expect }) => {
    const world = await makeWorld();
    await world.begin();
    const before = await world.rows();
    const externalId = await world.fixture.moveItem();
    await world.sync();
    expect([await world.whoSees(externalId), await world.differences()]).toEqual([["u2"], []]);
    expect((await world.rows()).map(({ kbId }) => kbId).sort()).toEqual(before.map(({ kbId }) => kbId).sort());
  });

  test("by a space that is gone removes its pages and their comments", async ({ expect }) => {
    const world = await makeWorld();
    await world.begin();
    world.provider.removeSpace("c");
    await world.sync();
    expect((await world.rows()).map(({ externalId }) => externalId)).not.toContain("p8");
    expect(await world.differences()).toEqual([]);
  });

  test("beyond what the feed remembers is found by a listing of everything", async ({ expect }) => {
    const world = await makeWorld();
    await world.begin();
    world.provider.removePage("p3");
    world.provider.movePage("p4", "b");
    world.provider.forgetChanges();
    await world.sync();
    expect((await world.rows()).map(({ externalId }) => externalId)).not.toContain("p3");
    expect(await world.differences()).toEqual([]);
  });
});

describe("a refusal", () => {
  test("of one space withholds that space until it is shown again", async ({ expect }) => {
    const world = await makeWorld();
    await world.begin();
    world.provider.fail("one_container", "b");
    await world.sync("full");
    const pages = (await world.rows()).map(({ externalId }) => externalId);
    expect([await world.whoSees("p5"), await world.whoSees("r1"), pages.includes("p5")]).toEqual([[], [], true]);
    expect(await world.whoSees("p1")).toEqual(["u1", "u3"]);
    world.provider.heal();
    await world.sync("full");
    expect(await world.differences()).toEqual([]);
  });

  test("of one page's content keeps the others readable", async ({ expect }) => {
    const world = await makeWorld();
    world.provider.fail("one_item", "p5");
    await world.begin();
    expect([await world.whoSees("p6"), await world.textOf("p5")]).toEqual([["u2"], ""]);
    world.provider.heal();
    await world.sync("full");
    expect([await world.differences(), await world.textOf("p5")]).toEqual([[], "Text of p5."]);
  });

  test("of the credentials withholds everything, and a run that is let in shows it again", async ({ expect }) => {
    const world = await makeWorld();
    await world.begin();
    world.provider.fail("unauthorized");
    await world.sync();
    expect([await world.whoSees("p1"), (await world.connector()).state]).toEqual([[], "needs_reauth"]);
    world.provider.heal();
    await world.sync();
    expect([await world.differences(), (await world.connector()).state]).toEqual([[], "active"]);
  });
});

test("someone of elsewhere in a list keeps no one else out, and reads nothing", async ({ expect }) => {
  const world = await makeWorld((source) => ({
    sessions: scripted(async function* (ctx, run) {
      for await (const event of runsOf(source)?.(ctx, run) ?? []) {
        const access = event.t === "upsert" ? event.item.access : undefined;
        if (event.t !== "upsert" || !access?.known) yield event;
        else
          yield {
            t: "upsert",
            item: {
              ...event.item,
              access: { known: true, all: access.all.map((list) => [...list, "user:slack:T1:U1"]) },
            },
          };
      }
    }),
  }));
  await world.begin();
  expect(await world.differences()).toEqual([]);
});

test("content that is newer than its listing is stored only with who may read it then", async ({ expect }) => {
  let isLate = false;
  const world = await makeWorld((source) => ({
    async fetchContent(ctx, wanted) {
      if (isLate && wanted.externalId === "p2") {
        isLate = false;
        // Between its listing and the reading of its text somebody took the page away and wrote into it.
        world.provider.movePage("p2", "b");
        world.provider.putPage("p2", { text: "The secret." });
      }
      if (!source.fetchContent) throw new Error("The reference source has content.");
      return source.fetchContent(ctx, wanted);
    },
  }));
  await world.begin();
  world.provider.putPage("p2", { text: "Edited." });
  isLate = true;
  await world.sync();
  const [text, readers] = [await world.textOf("p2"), await world.whoSees("p2")];
  expect(text === "The secret." ? readers : []).not.toContain("u1");
  await world.pass(HOUR_MS);
  expect([await world.textOf("p2"), await world.whoSees("p2")]).toEqual(["The secret.", ["u2"]]);
});

test("an original that is newer than what was read is shown to no one before the next run", async ({ expect }) => {
  const world = await makeWorld();
  await world.begin();
  const { kbId } = (await world.rows()).find(({ externalId }) => externalId === "p2") ?? {};
  const ask = () => world.kb.as(world.memberOf("u3")).get(`/api/connectors/files/${kbId}/content?original=true`);
  expect(await ask()).toMatchObject({ status: 200, text: "Text of p2." });
  // Their former readers may not read what was written after it was taken from them.
  world.provider.movePage("p2", "b");
  world.provider.putPage("p2", { text: "The secret." });
  const answer = await ask();
  expect(answer).toMatchObject({ status: 409, json: { code: "source_changed" } });
  expect(answer.text).not.toContain("secret");
  await world.sync();
  expect((await ask()).status).toBe(404);
});

test("killed at any of ten moments, a run ends in the same records", async ({ expect }) => {
  const wanted = await endState("full", Number.POSITIVE_INFINITY);
  for (const [mode, moments] of [
    ["incremental", [1, 3, 5, 7]],
    ["full", [1, 2, 4, 7, 10, 13]],
  ] as const) {
    for (const at of moments) expect([mode, at, await endState(mode, at)]).toEqual([mode, at, wanted]);
  }

  /** What is stored in the end of a run over a remote that changed in every way, killed before this event of it. */
  async function endState(mode: "incremental" | "full", killAt: number): Promise<string> {
    const { provider, fixture } = await makeReferenceFixture();
    const life = { isOver: false };
    let countdown = Number.POSITIVE_INFINITY;
    const kb = await makeHarness(async function* (run, signal) {
      const { stored, state, ...request } = run;
      const ctx = { ...contextOf(fixture as KitFixture, signal), config: fixture.config, stored, state };
      for await (const event of runsOf(fixture.source)?.(ctx, request) ?? []) {
        if (--countdown === 0) die(life);
        yield event;
      }
    });
    await kb.sync("full");
    await fixture.add();
    await fixture.edit();
    await fixture.remove();
    await fixture.moveItem();
    provider.removeSpace("c");
    kb.clock.now += 1_000;
    countdown = killAt;
    const { syncId } = await kb.request(mode);
    await killDuring(kb, syncId, life);
    // It had so many events, and died before this one.
    if (Number.isFinite(killAt)) expect([mode, killAt, countdown]).toEqual([mode, killAt, 0]);
    countdown = Number.POSITIVE_INFINITY;
    await kb.makeWorker().runUntilIdle();
    expect([killAt, (await kb.store.in(WORKSPACE).syncs.find(syncId))?.state]).toEqual([killAt, "succeeded"]);
    return kb.digest();
  }
});
