import { describe, expect, test } from "vitest";
import { item } from "../sync/harness.ts";
import { verifies } from "../../requirements.ts";
import type { TestClient } from "../../helpers.ts";
import { FOLDER, makeConnectorServer, pushed } from "./server.ts";

type Kb = Awaited<ReturnType<typeof makeConnectorServer>>;

/** Connects the folder under a name and syncs it. */
async function connect(kb: Kb, by: TestClient, name: string, visibility = "workspace"): Promise<string> {
  const answer = await by.post("/api/connectors", { ...FOLDER, name, access: { visibility } });
  if (answer.status !== 201) throw new Error(answer.text);
  await kb.worker.runUntilIdle();
  // Lists are ordered by age.
  kb.clock.advance(1000);
  return answer.json.connector.id;
}

/** A push connector with a key. */
async function connectPush(by: TestClient, name: string): Promise<{ id: string; key: string }> {
  const body = { providerId: "push", name, config: {}, access: { visibility: "workspace" } };
  const { json } = await by.post("/api/connectors", body);
  return { id: json.connector.id, key: json.key };
}

function push(kb: Kb, { id, key }: { id: string; key: string }, ...lines: unknown[]) {
  const raw = lines.map((line) => JSON.stringify(line)).join("\n");
  const headers = { "content-type": "application/x-ndjson" };
  return kb.withToken(key).request("POST", `/api/connectors/${id}/items`, { raw, headers });
}

const ids = (connectors: { id: string }[]): string[] => connectors.map(({ id }) => id);
const titlesOf = (files: { title: string }[]): string[] => files.map(({ title }) => title).toSorted();

describe("the connector routes of the contract", () => {
  verifies(
    ["connector-route:create", "connector-route:get", "connector-route:list"],
    "a connector that was created is there under its id and in the list, for anyone who manages it",
    async () => {
      const kb = await makeConnectorServer();
      const owner = kb.as(kb.owner);
      const created = await owner.post("/api/connectors", { ...FOLDER, access: { visibility: "private" } });
      expect(created.status).toBe(201);
      const { id } = created.json.connector;
      expect(created.json.sync).toMatchObject({ connectorId: id, state: "queued" });
      await kb.worker.runUntilIdle();
      kb.clock.advance(1000);
      const got = await owner.get(`/api/connectors/${id}`);
      expect(got.json.connector).toMatchObject({
        id,
        name: "Docs",
        providerId: "folder",
        counts: { indexed: 2 },
        lastSync: { id: created.json.sync.id, state: "succeeded" },
      });
      const other = await connect(kb, kb.as(kb.admin), "More");
      expect(ids((await owner.get("/api/connectors")).json.connectors)).toEqual([id, other]);
      expect(ids((await kb.as(kb.member).get("/api/connectors")).json.connectors)).toEqual([other]);
      expect((await kb.as(kb.stranger).get("/api/connectors")).json.connectors).toEqual([]);
      expect((await kb.as(kb.stranger).get(`/api/connectors/${id}`)).status).toBe(404);
    },
  );

  verifies("connector-route:mine", "mine are the ones I own, not all that I may manage or read", async () => {
    const kb = await makeConnectorServer();
    const owned = await connect(kb, kb.as(kb.owner), "Of the owner");
    const first = await connect(kb, kb.as(kb.admin), "Of the admin");
    const second = await connect(kb, kb.as(kb.admin), "Of the admin too", "private");
    const mine = async (user: Kb["owner"]) => ids((await kb.as(user).get("/api/connectors/mine")).json.connectors);
    expect(await mine(kb.owner)).toEqual([owned]);
    expect(await mine(kb.admin)).toEqual([first, second]);
    expect([await mine(kb.member), await mine(kb.stranger)]).toEqual([[], []]);
    // The list of all has more for each of them: an owner and an admin manage all three.
    expect(ids((await kb.as(kb.owner).get("/api/connectors")).json.connectors)).toEqual([owned, first, second]);
    expect(ids((await kb.as(kb.admin).get("/api/connectors")).json.connectors)).toEqual([owned, first, second]);
    expect(ids((await kb.as(kb.member).get("/api/connectors")).json.connectors)).toEqual([owned, first]);
  });

  verifies("connector-route:sources", "the sources are those that this server can connect", async () => {
    const kb = await makeConnectorServer();
    const { json } = await kb.as(kb.member).get("/api/connectors/sources");
    expect(json.sources).toMatchObject([
      { providerId: "folder", available: true, configSchema: { required: ["root"] } },
      { providerId: "push", available: true, auth: "key" },
    ]);
  });

  verifies("connector-route:browse", "what can be chosen is shown before anything is connected", async () => {
    const kb = await makeConnectorServer();
    const { providerId, config } = FOLDER;
    const root = await kb.as(kb.owner).post("/api/connectors/browse", { providerId, config });
    expect(root.json).toMatchObject({ nodes: [{ id: "b", selectable: true, expandable: true }], nextCursor: null });
    const below = await kb.as(kb.owner).post("/api/connectors/browse", { providerId, config, parent: "a/" });
    expect(below.json.nodes).toMatchObject([{ id: "a/b", parent: "a/" }]);
    expect((await kb.as(kb.owner).get("/api/connectors")).json.connectors).toEqual([]);
  });

  test("a connector is browsed as it is set up, by its owner alone", async () => {
    const kb = await makeConnectorServer();
    const id = await connect(kb, kb.as(kb.admin), "Docs");
    const browse = (user: Kb["owner"], body: unknown = {}) => kb.as(user).post(`/api/connectors/${id}/browse`, body);
    expect((await browse(kb.admin)).json).toMatchObject({ nodes: [{ id: "b", selectable: true }], nextCursor: null });
    expect((await browse(kb.admin, { parent: "a/" })).json.nodes).toMatchObject([{ id: "a/b", parent: "a/" }]);
    // What its credentials see is its owner's to see, also for those who manage it.
    expect(await browse(kb.owner)).toMatchObject({ status: 403, json: { code: "forbidden" } });
    expect(await browse(kb.member)).toMatchObject({ status: 404, json: { code: "not_found" } });
    expect(await browse(kb.stranger)).toMatchObject({ status: 404, json: { code: "not_found" } });
  });

  verifies(
    ["connector-route:all-files", "connector-route:files", "connector-route:file-counts"],
    "files across connectors are those of each one together, and the counts tell them by source",
    async () => {
      const kb = await makeConnectorServer();
      const docs = await connect(kb, kb.as(kb.admin), "Docs");
      kb.world.items = [item("plans/d.md", "delta")];
      const plans = await connect(kb, kb.as(kb.admin), "Plans");
      kb.world.items = [item("own.md", "mine alone")];
      const own = await connect(kb, kb.as(kb.admin), "Own", "private");
      const tracker = await connectPush(kb.as(kb.owner), "Tracker");
      await push(kb, tracker, pushed("1"), pushed("2", { access: { known: false } }));

      const list = async (user: Kb["owner"], path: string) => (await kb.as(user).get(path)).json;
      const all = (user: Kb["owner"]) => list(user, "/api/connectors/all-files");
      const everybodys = ["a.md", "b/c.md", "plans/d.md", "Task 1"].toSorted();
      const seen = await all(kb.member);
      expect([titlesOf(seen.files), seen.total]).toEqual([everybodys, 4]);
      const bySource = new Map(
        seen.files.map((file: { title: string; connectorId: string }) => [file.title, file.connectorId]),
      );
      expect(Object.fromEntries(bySource)).toEqual({
        "a.md": docs,
        "b/c.md": docs,
        "plans/d.md": plans,
        "Task 1": tracker.id,
      });
      expect(titlesOf((await all(kb.admin)).files)).toEqual([...everybodys, "own.md"].toSorted());
      expect((await all(kb.stranger)).files).toEqual([]);

      const of = async (user: Kb["owner"], id: string) => (await list(user, `/api/connectors/${id}/files`)).files;
      expect(titlesOf(await of(kb.admin, docs))).toEqual(["a.md", "b/c.md"]);
      expect(titlesOf(await of(kb.admin, plans))).toEqual(["plans/d.md"]);
      expect(titlesOf(await of(kb.admin, own))).toEqual(["own.md"]);
      expect(titlesOf(await of(kb.owner, tracker.id))).toEqual(["Task 1"]);

      const { counts } = await list(kb.member, "/api/connectors/file-counts-by-source");
      const found = counts.map((one: { source: string; kind: string; indexed: number }) => [
        one.source,
        one.kind,
        one.indexed,
      ]);
      expect(found.toSorted()).toEqual([
        ["folder:Docs", "file", 2],
        ["folder:Plans", "file", 1],
        ["push:Tracker", "task", 1],
      ]);
    },
  );

  verifies(
    ["connector-route:search", "connector-route:content"],
    "a file is found by its words and read by its id, by anyone who may see it",
    async () => {
      const kb = await makeConnectorServer();
      await connect(kb, kb.as(kb.admin), "Docs");
      const search = async (user: Kb["owner"]) => (await kb.as(user).get("/api/connectors/search?query=alpha")).json;
      const { results, total } = await search(kb.member);
      expect([total, titlesOf(results)]).toEqual([1, ["a.md"]]);
      const path = `/api/connectors/files/${results[0].kbId}/content`;
      expect((await kb.as(kb.member).get(path)).text).toContain("alpha");
      expect((await search(kb.stranger)).total).toBe(0);
      expect((await kb.as(kb.stranger).get(path)).status).toBe(404);
    },
  );

  verifies(
    ["connector-route:progress", "connector-route:sync"],
    "progress tells how far the runs are and how the last of each connector ended, to anyone who manages it",
    async () => {
      const kb = await makeConnectorServer();
      const owner = kb.as(kb.owner);
      const docs = await connect(kb, owner, "Docs");
      kb.world.items = Array.from({ length: 5 }, (_, i) => item(`p${i}.md`, `words ${i}`));
      const plans = await connect(kb, kb.as(kb.admin), "Plans");
      const progress = async (user: Kb["owner"]) => (await kb.as(user).get("/api/connectors/progress")).json.syncs;
      const told = (syncs: { connectorId: string; state: string; counts: { upserted: number } }[]) =>
        syncs.map(({ connectorId, state, counts }) => [connectorId, state, counts.upserted]);
      expect(told(await progress(kb.owner)).toSorted()).toEqual(
        [
          [docs, "succeeded", 2],
          [plans, "succeeded", 5],
        ].toSorted(),
      );

      // Asked for and not begun; begun and half done; over.
      const asked = await owner.post(`/api/connectors/${docs}/syncs`, { mode: "full" });
      expect([asked.status, asked.json.sync.mode]).toEqual([202, "full"]);
      const [queued] = await progress(kb.owner);
      expect(queued).toMatchObject({ id: asked.json.sync.id, connectorId: docs, state: "queued", finishedAt: null });
      let during: { state: string; counts: { upserted: number }; progress: { done: number } }[] = [];
      kb.world.between = async () => void (during = await progress(kb.owner));
      kb.world.items = [item("a.md", "alpha"), item("b/c.md", "beta"), item("new.md", "gamma")];
      await kb.worker.runUntilIdle();
      expect(during[0]).toMatchObject({ id: asked.json.sync.id, connectorId: docs, state: "running" });
      const after = await progress(kb.owner);
      expect(after.filter((sync: { finishedAt: string | null }) => sync.finishedAt === null)).toEqual([]);
      const last = after.find((sync: { connectorId: string }) => sync.connectorId === docs);
      expect(last).toMatchObject({ id: asked.json.sync.id, state: "succeeded", counts: { upserted: 1, unchanged: 2 } });
      expect(await progress(kb.member)).toEqual([]);
      expect(await progress(kb.stranger)).toEqual([]);
    },
  );

  verifies(
    ["connector-route:scope", "connector-route:rotate-key"],
    "a narrower scope takes items out, and a rotated key takes the place of the old one",
    async () => {
      const kb = await makeConnectorServer();
      const owner = kb.as(kb.owner);
      const docs = await connect(kb, owner, "Docs");
      const answer = await owner.patch(`/api/connectors/${docs}/scope`, { include: [], exclude: ["b/"] });
      expect([answer.status, answer.json.connector.scope]).toEqual([202, { include: [], exclude: ["b/"] }]);
      await kb.worker.runUntilIdle();
      expect(titlesOf((await owner.get("/api/connectors/all-files")).json.files)).toEqual(["a.md"]);

      const tracker = await connectPush(owner, "Tracker");
      const rotated = await owner.post(`/api/connectors/${tracker.id}/rotate-key`, { overlapSeconds: 0 });
      expect(rotated.json.key).not.toBe(tracker.key);
      expect((await push(kb, tracker, pushed("1"))).status).toBe(401);
      expect((await push(kb, { ...tracker, key: rotated.json.key }, pushed("1"))).status).toBe(200);
      expect(titlesOf((await owner.get(`/api/connectors/${tracker.id}/files`)).json.files)).toEqual(["Task 1"]);
    },
  );

  verifies(
    "connector-route:delete",
    "a deleted connector takes its items, texts and runs along at once, and nothing of another one",
    async () => {
      const kb = await makeConnectorServer();
      const owner = kb.as(kb.owner);
      const docs = await connect(kb, owner, "Docs");
      const twin = await connect(kb, owner, "Twin");
      const of = async (id: string) => (await owner.get(`/api/connectors/${id}/files`)).json.files;
      const [kept, gone] = [await of(twin), await of(docs)];
      expect([gone.length, kept.length]).toEqual([2, 2]);
      const total = async () => (await owner.get("/api/connectors/search?query=alpha")).json.total;
      expect(await total()).toBe(2);

      expect((await owner.delete(`/api/connectors/${docs}`)).status).toBe(202);
      const isGone = async () => {
        expect(titlesOf((await owner.get("/api/connectors/all-files")).json.files)).toEqual(titlesOf(kept));
        expect(await total()).toBe(1);
        for (const { kbId } of gone) {
          expect((await owner.get(`/api/connectors/files/${kbId}`)).status).toBe(404);
          expect((await owner.get(`/api/connectors/files/${kbId}/content`)).status).toBe(404);
        }
      };
      // Before the work behind it has run, and after.
      await isGone();
      await kb.worker.runUntilIdle();
      await isGone();
      expect((await owner.get(`/api/connectors/${docs}`)).status).toBe(404);
      expect(ids((await owner.get("/api/connectors")).json.connectors)).toEqual([twin]);
      for (const table of ["items", "syncs", "connectors"] as const) {
        const rows = await kb.database.read.selectFrom(table).select("connectorId").distinct().execute();
        expect([table, ids(rows.map((row) => ({ id: row.connectorId })))]).toEqual([table, [twin]]);
      }
      const texts = await kb.database.read.selectFrom("item_texts").select("kbId").execute();
      expect(texts.map(({ kbId }) => kbId).toSorted()).toEqual(
        kept.map((file: { kbId: string }) => file.kbId).toSorted(),
      );
      expect((await owner.get(`/api/connectors/files/${kept[0].kbId}/content`)).status).toBe(200);
    },
  );
});
