import { describe, test } from "vitest";
import { makePushServer } from "./push-harness.ts";
import { FOLDER, makeConnectorServer, pushed } from "./server.ts";

describe("removals that wait for approval", () => {
  /** A push connector of 160 items, of which 150 wait. */
  async function makeHeld() {
    const kb = await makePushServer();
    const path = `/api/connectors/${kb.id}`;
    const items = Array.from({ length: 160 }, (_, n) => pushed(String(n).padStart(3, "0")));
    await kb.push(items);
    const set = await kb.begin({ mode: "set" });
    await kb.push(items.slice(0, 10), `?upload=${set.id}&firstLine=1`);
    await kb.end(set.id, 10);
    const me = kb.as(kb.owner);
    const count = async () => (await me.get(path)).json.connector.counts;
    const decided = async () => (await me.get("/api/audit?limit=50")).json.entries;
    return { ...kb, path, me, count, decided };
  }

  test("go all at once, page by page, and the audit says who decided", async ({ expect }) => {
    const kb = await makeHeld();
    expect(await kb.count()).toMatchObject({ held: 150 });
    await kb.me.post(`${kb.path}/removals/approve`, {});
    expect(await kb.count()).toMatchObject({ held: 0, indexed: 10 });
    expect(await kb.decided()).toContainEqual(
      expect.objectContaining({ action: "connector.removals_approved", details: { all: true } }),
    );
  });

  test("stay where they are kept, also some of them", async ({ expect }) => {
    const kb = await makeHeld();
    const { removals } = (await kb.me.get(`${kb.path}/removals?limit=50`)).json;
    const kbIds = removals.map(({ kbId }: { kbId: string }) => kbId);
    await kb.me.post(`${kb.path}/removals/reject`, { kbIds });
    expect(await kb.count()).toMatchObject({ held: 100, indexed: 60 });
    expect(await kb.decided()).toContainEqual(
      expect.objectContaining({ action: "connector.removals_rejected", details: { all: false, count: 50 } }),
    );
  });
});

test("answers to pushed lines are lines", async ({ expect }) => {
  const kb = await makePushServer();
  const { headers } = await kb.send("POST", "/items", { raw: JSON.stringify(pushed("1")) });
  expect(headers.get("content-type")).toBe("application/x-ndjson");
});

describe("a change of a connector", () => {
  test("plans the next sync where it may run, and none while it is paused", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const me = kb.as(kb.owner);
    const { id } = (await me.post("/api/connectors", { ...FOLDER, access: { visibility: "private" } })).json.connector;
    const nextRunAt = async (everyMinutes: number) =>
      (await me.patch(`/api/connectors/${id}`, { schedule: { everyMinutes } })).json.connector.nextRunAt;
    expect(await nextRunAt(60)).toEqual(expect.any(String));
    await me.post(`/api/connectors/${id}/pause`);
    expect(await nextRunAt(120)).toBeNull();
  });

  test("is in the audit with what each setting was and is", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const me = kb.as(kb.owner);
    const { id } = (await me.post("/api/connectors", { ...FOLDER, access: { visibility: "private" } })).json.connector;
    const changed = await me.patch(`/api/connectors/${id}`, { config: { root: "/srv/docs", depth: 3 } });
    expect(changed.status).toBe(200);
    const { entries } = (await me.get("/api/audit?action=connector.changed")).json;
    expect(JSON.stringify(entries[0].details)).toContain('"depth":{"from":9,"to":3}');
  });
});
