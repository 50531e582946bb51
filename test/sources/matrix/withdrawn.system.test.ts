import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { openEngine } from "../../kit/engine.ts";
import { startProxy } from "../proxy.ts";
import { all, countFound, syncNow } from "../withdrawn.ts";
import { type Crowd, makeCrowd, makeMatrixFixture, makeWorld } from "./fixture.ts";
import { findSynapse, startSynapse, type Synapse } from "./synapse.ts";

const PYTHON = findSynapse();
const MINUTE_MS = 60_000;
let server: Synapse;
let crowd: Crowd;

describe.skipIf(PYTHON === undefined)("what is withdrawn on a real homeserver", { timeout: 300_000 }, () => {
  beforeAll(async () => {
    if (PYTHON === undefined) return undefined;
    server = await startSynapse(PYTHON);
    crowd = await makeCrowd(server.url);
    return () => server.stop();
  }, 180_000);

  /** A room with six messages, in which ann, ben and dan are, read by a server in which each of them is a member. */
  async function open() {
    const proxy = await startProxy(server.port);
    onTestFinished(() => proxy.stop());
    const world = await makeWorld(server.url, crowd);
    const { ann, ben, dan, bot } = world.people;
    const vault = await world.room("Vault", [bot, ben, dan]);
    for (let i = 1; i <= 6; i++) await ann.say(vault, `Secret ${i} of the vault.`);
    const engine = await openEngine(makeMatrixFixture(world, proxy, server.url));
    await engine.readPeople();
    await engine.work();
    engine.kb.clock.advance(MINUTE_MS);
    const isInVault = (externalId: string) => externalId.startsWith(`${vault}/`) || externalId.startsWith(vault);
    const finds = (who: { id: string }) => countFound(engine, who.id, isInVault);
    return { ...world.people, engine, proxy, vault, finds };
  }

  test("is found by no one once Sync now has ended, and what is given is found", async () => {
    const { engine, vault, finds, ann, ben, cid, dan } = await open();
    expect([await finds(ben), await finds(dan), await finds(cid)]).toEqual([all(6), all(6), all(0)]);
    await ben.leave(vault);
    await ann.kick(vault, dan);
    await ann.invite(vault, cid);
    await cid.join(vault);
    expect(await syncNow(engine)).toMatchObject({ state: "succeeded", people: { state: "read" } });
    expect([await finds(ann), await finds(ben), await finds(dan), await finds(cid)]).toEqual([
      all(6),
      all(0),
      all(0),
      all(6),
    ]);
    engine.kb.clock.advance(MINUTE_MS);
    await ann.ban(vault, cid);
    await syncNow(engine, { mode: "identities" });
    expect(await finds(cid)).toEqual(all(0));
  });

  test("costs few requests where nothing was", async () => {
    const { engine, proxy } = await open();
    await syncNow(engine);
    engine.kb.clock.advance(MINUTE_MS);
    proxy.requests.length = 0;
    await syncNow(engine);
    process.stderr.write(`Matrix: Sync now without news: ${proxy.requests.length} requests\n`);
    expect(proxy.requests.length).toBeLessThanOrEqual(5);
  });
});
