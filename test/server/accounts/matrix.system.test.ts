import { beforeAll, describe, test } from "vitest";
import { makeMatrixSource } from "#sources/matrix/index.ts";
import type { Source } from "#sources/contract.ts";
import type { TestUser } from "../../helpers.ts";
import { makeCrowd, makeWorld, whoSees } from "../../sources/matrix/fixture.ts";
import { findSynapse, startSynapse, type Synapse } from "../../sources/matrix/synapse.ts";
import { makeAccountServer } from "./server.ts";

const PYTHON = findSynapse();
const HALF_A_DAY = 12 * 3_600_000;
let server: Synapse;

describe.skipIf(PYTHON === undefined)("accounts at a real homeserver", { timeout: 120_000 }, () => {
  beforeAll(async () => {
    if (PYTHON === undefined) return undefined;
    server = await startSynapse(PYTHON);
    return () => server.stop();
  }, 180_000);

  test("two people find what the homeserver shows each of them, and no more once they left", async ({ expect }) => {
    const world = await makeWorld(server.url, await makeCrowd(server.url));
    const { ann, ben, bot } = world.people;
    const source = makeMatrixSource() as unknown as Source;
    const kb = await makeAccountServer({}, { sources: [source], hosts: [`127.0.0.1:${server.port}`] });
    const instances = [{ providerId: "matrix", baseUrl: server.url }];
    await kb.as(kb.owner).patch("/api/workspace", { instances });
    const made = await kb.as(kb.owner).post("/api/connectors", {
      providerId: "matrix",
      name: "Chat",
      config: { url: server.url },
      credentials: { token: bot.token },
      access: { visibility: "source" },
    });
    expect(made.status, made.text).toBe(201);
    await kb.worker.runUntilIdle();
    const found = async (user: TestUser) => {
      const { json } = await kb.as(user).get("/api/connectors/all-files?limit=100");
      return (json.files as { externalId: string }[]).map(({ externalId }) => externalId).sort();
    };
    /** What the homeserver shows this person of all that was read. */
    const shown = async ({ id }: { id: string }) => {
      const all = await kb.database.read.selectFrom("items").select("externalId").execute();
      const readers = await Promise.all(all.map(({ externalId }) => whoSees(world, externalId)));
      return all.flatMap(({ externalId }, at) => (readers[at]?.includes(id) === true ? [externalId] : [])).sort();
    };
    const add = (user: TestUser, token: string) =>
      kb.as(user).post("/api/accounts", { providerId: "matrix", credentials: { token } });
    expect([await found(kb.anna), await found(kb.ben)]).toEqual([[], []]);
    expect(await add(kb.anna, "kb-canary-nonsense")).toMatchObject({
      status: 502,
      json: { code: "source_unauthorized" },
    });
    const { json } = await add(kb.anna, ann.token);
    expect(json.account).toMatchObject({ label: ann.id, isLinked: true });
    expect(await add(kb.ben, ann.token)).toMatchObject({ status: 409, json: { code: "account_taken" } });
    expect((await add(kb.ben, ben.token)).status).toBe(201);
    const [forAnn, forBen] = [await shown(ann), await shown(ben)];
    expect(forBen.length).toBeLessThan(forAnn.length);
    expect(await found(kb.anna)).toEqual(forAnn);
    expect(await found(kb.ben)).toEqual(forBen);
    // The homeserver is asked again whose the token is.
    kb.clock.advance(HALF_A_DAY + 1);
    await kb.worker.runUntilIdle();
    expect(Date.parse((await kb.accountsOf(kb.anna))[0].confirmedAt)).toBe(kb.clock.now());
    // Who has no account there any more is nobody there any more.
    await ben.deactivate();
    for (let times = 0; times < 3; times++) {
      kb.clock.advance(HALF_A_DAY + 1);
      await kb.worker.runUntilIdle();
    }
    expect(await kb.accountsOf(kb.ben)).toMatchObject([{ state: "needs_reauth", isLinked: false }]);
    expect(await found(kb.ben)).toEqual([]);
    expect(await found(kb.anna)).toEqual(forAnn);
  });
});
