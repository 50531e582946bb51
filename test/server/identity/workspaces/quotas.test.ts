import { describe, test } from "vitest";
import type { Quotas } from "#server/identity/workspaces/quotas.ts";
import type { Source } from "#sources/contract.ts";
import type { SourceItem } from "#sources/item.ts";
import { makePushSource } from "#sources/push/index.ts";
import { composeFeatures } from "../../../features.ts";
import { makeServer } from "../../../helpers.ts";
import { FOLDER, folderSource, pushed } from "../../connectors/server.ts";
import { fakeExtractor, item } from "../../sync/harness.ts";

const FEED = { providerId: "push", name: "Feed", config: {}, access: { visibility: "workspace" } };

async function makeLimited(quotas: Partial<Quotas>) {
  const world: { items: SourceItem[] } = { items: [] };
  const sources: Source[] = [folderSource(world), makePushSource() as Source];
  const registry = {
    find: async (id: string) => sources.find((s) => s.spec.providerId === id),
    list: async () => sources,
  };
  const kb = await makeServer({ settings: { mode: "managed", rateLimits: "off", quotas } }, (core, database) =>
    composeFeatures(core, database, { sources: registry, extractor: fakeExtractor }),
  );
  const owner = await kb.addOwner();
  return { ...kb, world, owner, me: kb.as(owner), other: kb.as(await kb.addOwner("Other")) };
}

describe("quotas of a workspace", () => {
  test("connectors, members with open invitations, and tokens: no more than there is room for", async ({ expect }) => {
    const { me, other } = await makeLimited({ connectors: 1, members: 2, tokens: 1 });
    const creates: [string, object][] = [
      ["/api/connectors", FEED],
      ["/api/workspace/invitations", { email: "cy@acme.test", role: "member" }],
      ["/api/api-tokens", { name: "ci" }],
    ];
    for (const [path, body] of creates) {
      const next = { ...body, ...("email" in body && { email: "di@acme.test" }) };
      expect([path, (await me.post(path, body)).status]).toEqual([path, 201]);
      const refused = await me.post(path, next);
      expect(refused).toMatchObject({ status: 409, json: { code: "quota_reached" } });
      expect(refused.json.detail).toMatch(/which is its limit/);
      // Each workspace has its own.
      expect((await other.post(path, body)).status).toBe(201);
    }
    // What goes makes room; asking the same person again is no further one.
    expect((await me.post("/api/workspace/invitations", { email: "cy@acme.test", role: "member" })).status).toBe(201);
    const { tokens } = (await me.get("/api/api-tokens")).json;
    await me.delete(`/api/api-tokens/${tokens[0].id}`);
    expect((await me.post("/api/api-tokens", { name: "ci" })).status).toBe(201);
    const { connectors } = (await me.get("/api/connectors")).json;
    await me.delete(`/api/connectors/${connectors[0].id}`);
    expect((await me.post("/api/connectors", FEED)).status).toBe(201);
  });

  test("parallel creates do not pass together through the last place", async ({ expect }) => {
    const { me } = await makeLimited({ tokens: 3 });
    const made = await Promise.all(Array.from({ length: 12 }, (_, n) => me.post("/api/api-tokens", { name: `t${n}` })));
    expect(made.filter(({ status }) => status === 201)).toHaveLength(3);
  });

  test("a full workspace takes no new item from a sync, keeps what is there up to date, and says so", async ({
    expect,
  }) => {
    const kb = await makeLimited({ items: 2 });
    const { me, world } = kb;
    world.items = [item("a.md", "alpha"), item("b.md", "beta"), item("c.md", "gamma"), item("d.md", "delta")];
    const run = async () => {
      await kb.deps.worker.runUntilIdle();
      const { connector } = (await me.get(`/api/connectors/${id}`)).json;
      const { syncs } = (await me.get(`/api/connectors/${id}/syncs`)).json;
      const { files } = (await me.get("/api/connectors/all-files?sort=title")).json;
      return { sync: syncs[0], connector, ids: files.map((file: { externalId: string }) => file.externalId).sort() };
    };
    const created = await me.post("/api/connectors", { ...FOLDER, access: { visibility: "workspace" } });
    const id: string = created.json.connector.id;
    const first = await run();
    expect(first.sync).toMatchObject({
      state: "partial",
      problem: { code: "quota_reached", message: expect.stringContaining("2 items, which is its limit") },
      counts: { upserted: 2, skipped: 2, failed: 0 },
    });

    expect(first.connector).toMatchObject({ state: "active", stateReason: expect.stringContaining("its limit") });
    const [kept = "", gone = ""] = first.ids;

    // Changes and removals go on while it is full; a removal makes room.
    world.items = world.items
      .filter(({ externalId }) => externalId !== gone)
      .map((one) => (one.externalId === kept ? item(kept, "omega") : one));
    kb.clock.advance(60_000);
    await me.post(`/api/connectors/${id}/syncs`, {});
    await run();
    kb.clock.advance(60_000);
    await me.post(`/api/connectors/${id}/syncs`, {});
    const last = await run();
    expect(last.ids).toHaveLength(2);
    expect(last.ids).toContain(kept);
    expect(last.ids).not.toContain(gone);
    const { results } = (await me.get("/api/connectors/search?query=omega")).json;
    expect(results).toHaveLength(1);
  });

  test("pushed lines: new items are refused each with the reason, known ones go through", async ({ expect }) => {
    const kb = await makeLimited({ items: 2 });
    const { connector, key } = (await kb.me.post("/api/connectors", FEED)).json;
    const push = async (...lines: object[]) => {
      const answer = await kb.withToken(key).request("POST", `/api/connectors/${connector.id}/items`, {
        raw: lines.map((line) => JSON.stringify(line)).join("\n"),
        headers: { "content-type": "application/x-ndjson" },
      });
      return answer.text
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line));
    };
    const results = await push(pushed("1"), pushed("2"), pushed("3"));
    expect(results.map(({ result, error }) => [result, error?.code])).toEqual([
      ["upserted", undefined],
      ["upserted", undefined],
      ["error", "quota_reached"],
    ]);
    const again = await push(pushed("2", { version: "2", text: "changed" }), pushed("4"), {
      t: "delete",
      externalId: "1",
    });
    expect(again.map(({ result }) => result)).toEqual(["upserted", "error", "removed"]);
    kb.clock.advance(30_000);
    expect((await push(pushed("3")))[0]).toMatchObject({ result: "upserted" });
  });

  test("text counts too, in millions of characters", async ({ expect }) => {
    const kb = await makeLimited({ textMb: 1 });
    const { connector, key } = (await kb.me.post("/api/connectors", FEED)).json;
    const raw = ["1", "2", "3"].map((id) => JSON.stringify(pushed(id, { text: "word ".repeat(120_000) }))).join("\n");
    const headers = { "content-type": "application/x-ndjson" };
    const answer = await kb.withToken(key).request("POST", `/api/connectors/${connector.id}/items`, { raw, headers });
    const results = answer.text
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line));
    expect(results.map(({ result }) => result)).toEqual(["upserted", "upserted", "error"]);
    expect(results[2].error.message).toContain("1 million characters of text");
  });

  test("without any, nothing is counted", async ({ expect }) => {
    const { me } = await makeLimited({});
    for (let n = 0; n < 5; n++) expect((await me.post("/api/connectors", FEED)).status).toBe(201);
  });
});
