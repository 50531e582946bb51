import { randomBytes } from "node:crypto";
import { describe, test } from "vitest";
import { rekey } from "#server/rekey.ts";
import { makeTargetSecrets } from "#server/events/secrets.ts";
import { makeVault } from "#storage/vault.ts";
import { type TestAnswer, TEST_VAULT } from "../../helpers.ts";
import { makeEventServer, makeReceiver } from "./server.ts";

const NOWHERE = "whk_2222222222222222";

describe("event targets", () => {
  test("are the admins' alone, and each workspace's own", async ({ expect }) => {
    const receiver = await makeReceiver();
    const kb = await makeEventServer([receiver.host]);
    const { id } = await kb.target(receiver.url);
    await kb.emit();
    await kb.send();
    const [delivery] = await kb.deliveries(id);
    const member = kb.as(await kb.addMember(kb.owner.workspaceId));
    const stranger = kb.as(await kb.addOwner("Other"));
    const since = "2026-01-01T00:00:00.000Z";
    const requests: [string, string, unknown?][] = [
      ["GET", `/api/webhooks/${id}`],
      ["PATCH", `/api/webhooks/${id}`, { state: "paused" }],
      ["POST", `/api/webhooks/${id}/rotate-secret`, {}],
      ["POST", `/api/webhooks/${id}/test`],
      ["GET", `/api/webhooks/${id}/deliveries`],
      ["POST", `/api/webhooks/${id}/deliveries/${delivery?.id}/replay`],
      ["POST", `/api/webhooks/${id}/replay`, { since }],
      ["DELETE", `/api/webhooks/${id}`],
    ];
    for (const [method, path, body] of requests) {
      const sent = body === undefined ? {} : { body };
      expect((await member.request(method, path, sent)).status, path).toBe(403);
      const theirs = await stranger.request(method, path, sent);
      const nobodys = await stranger.request(method, path.replace(id, NOWHERE), sent);
      expect(theirs.status, path).toBe(404);
      expect({ ...theirs.json, requestId: "" }).toEqual({ ...nobodys.json, requestId: "" });
    }
    expect((await member.get("/api/webhooks")).status).toBe(403);
    expect((await member.post("/api/webhooks", { url: receiver.url })).status).toBe(403);
    expect((await stranger.get("/api/webhooks")).json).toEqual({ targets: [] });
    expect(await kb.show(id)).toMatchObject({ state: "active" });
    expect(receiver.received).toHaveLength(1);
  });

  test("show a secret once, seal it, and rekeying covers it", async ({ expect }) => {
    const receiver = await makeReceiver();
    const kb = await makeEventServer([receiver.host]);
    const { id, secret } = await kb.target(receiver.url);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const { target, secret: next } = (await kb.me.post(`/api/webhooks/${id}/rotate-secret`, {})).json;
    expect(target.secretOverlapEndsAt).toBe(new Date(kb.clock.now() + 86_400_000).toISOString());
    const shown = await Promise.all(
      ["", `/${id}`, `/${id}/deliveries`].map(async (path) => (await kb.me.get(`/api/webhooks${path}`)).text),
    );
    const audit = (await kb.me.get("/api/audit?limit=200")).text;
    const rows = JSON.stringify(await kb.database.read.selectFrom("event_targets").selectAll().execute());
    for (const plain of [secret, next]) {
      expect(`${shown.join()}${audit}${rows}${JSON.stringify(kb.log.lines)}`).not.toContain(plain.slice(6, 20));
    }
    const vault = makeVault(
      [
        { id: "new", key: randomBytes(32) },
        { id: "test", key: Buffer.alloc(32, 7) },
      ],
      randomBytes,
    );
    expect(await rekey({ store: kb.store, vault }, () => undefined)).toMatchObject({ resealed: 1, unreadable: 0 });
    const stored = await kb.store.in(kb.owner.workspaceId).eventTargets.find(id);
    if (!stored) throw new Error("The target is gone.");
    const place = { workspaceId: kb.owner.workspaceId, targetId: id };
    const open = (by: typeof vault) =>
      makeTargetSecrets({ vault: by, randomBytes }).open(place, stored, kb.clock.now());
    expect(open(vault)).toEqual([next, secret]);
    expect(() => open(TEST_VAULT)).toThrow();
    // Without an overlap, what leaked signs no more.
    await kb.store.in(kb.owner.workspaceId).eventTargets.update(id, {
      sealed: TEST_VAULT.seal({ table: "event_targets", row: [place.workspaceId, id], column: "sealed" }, "{}"),
    });
    const { secret: last } = (await kb.me.post(`/api/webhooks/${id}/rotate-secret`, { overlapSeconds: 0 })).json;
    await kb.emit();
    await kb.send();
    expect(String(receiver.received[0]?.headers["webhook-signature"]).split(" ")).toHaveLength(1);
    expect(last).not.toBe(next);
  });

  test("lead to no address that is not public, when they are saved and when they are used", async ({ expect }) => {
    const receiver = await makeReceiver();
    let address = "93.184.216.34";
    const kb = await makeEventServer([], async () => [{ address, family: 4 }]);
    const refused = [
      receiver.url,
      "http://169.254.169.254/latest/meta-data/",
      "https://[::1]/",
      "https://10.0.0.1/hook",
      "https://0x7f.1/",
      "https://user:secret@hooks.test/",
      "https://hooks.test:8443/",
      "http://hooks.test/",
    ];
    for (const url of refused) {
      const { status, json } = await kb.me.post("/api/webhooks", { url });
      expect([status, json.code], url).toEqual([422, "address_not_allowed"]);
    }
    for (const url of ["ftp://hooks.test/", "file:///etc/passwd", "hooks.test", "javascript:alert(1)"]) {
      expect((await kb.me.post("/api/webhooks", { url })).status, url).toBe(400);
    }
    const { id } = await kb.target("https://hooks.test/kb");
    expect((await kb.me.patch(`/api/webhooks/${id}`, { url: "https://127.0.0.1/" })).status).toBe(422);
    // The name leads elsewhere since it was saved.
    address = "127.0.0.1";
    await kb.emit();
    await kb.send();
    expect((await kb.deliveries(id))[0]).toMatchObject({ state: "waiting", code: "address_not_allowed", status: null });
    const { delivery } = (await kb.me.post(`/api/webhooks/${id}/test`)).json;
    expect(delivery).toMatchObject({ type: "ping", state: "failed", code: "address_not_allowed" });
    expect(receiver.received).toEqual([]);
  });

  test("are tested by a ping, also when they are paused, past what waits", async ({ expect }) => {
    const receiver = await makeReceiver();
    const kb = await makeEventServer([receiver.host]);
    const { id } = await kb.target(receiver.url, { types: ["sync.failed"] });
    await kb.me.patch(`/api/webhooks/${id}`, { state: "paused" });
    const { delivery } = (await kb.me.post(`/api/webhooks/${id}/test`)).json;
    expect(delivery).toMatchObject({ type: "ping", state: "delivered", status: 204, tries: 1 });
    expect(JSON.parse(receiver.received[0]?.body ?? "")).toMatchObject({ type: "ping", data: { targetId: id } });
    receiver.answer(() => ({ status: 400, body: "CANARY" }));
    const failed = (await kb.me.post(`/api/webhooks/${id}/test`)).text;
    expect(JSON.parse(failed).delivery).toMatchObject({ state: "failed", status: 400, code: "refused" });
    expect(failed).not.toContain("CANARY");
    expect(await kb.show(id)).toMatchObject({ waiting: 0, state: "paused", pausedFor: "admin" });
  });

  test("get only the types they want, and keep what comes while they are paused", async ({ expect }) => {
    const receiver = await makeReceiver();
    const kb = await makeEventServer([receiver.host]);
    const { id } = await kb.target(receiver.url, { types: ["connection.revoked"] });
    await kb.emit();
    const ids = { connectionId: "cnx_2222222222222222", serverId: "srv_2222222222222222" };
    await kb.me.patch(`/api/webhooks/${id}`, { state: "paused" });
    await kb.emit({ type: "connection.revoked", data: { ...ids, code: "member_removed" } });
    await kb.send();
    expect(receiver.received).toEqual([]);
    expect(await kb.show(id)).toMatchObject({ waiting: 1 });
    await kb.me.patch(`/api/webhooks/${id}`, { state: "active", types: ["connection.active"] });
    await kb.emit();
    await kb.send();
    expect(receiver.received.map(({ body }) => JSON.parse(body).type)).toEqual([
      "connection.revoked",
      "connection.active",
    ]);
    expect((await kb.me.patch(`/api/webhooks/${id}`, { types: [] })).status).toBe(400);
    expect((await kb.me.patch(`/api/webhooks/${id}`, { types: ["file.read"] })).status).toBe(400);
  });

  test("stay when the admin who added them leaves", async ({ expect }) => {
    const receiver = await makeReceiver();
    const kb = await makeEventServer([receiver.host]);
    const admin = await kb.addMember(kb.owner.workspaceId, "admin");
    const { target } = (await kb.as(admin).post("/api/webhooks", { url: receiver.url })).json;
    expect(target.createdBy.id).toBe(admin.userId);
    await kb.me.delete(`/api/workspace/members/${admin.userId}`);
    await kb.emit();
    await kb.send();
    expect(receiver.received).toHaveLength(1);
    const { entries } = (await kb.me.get("/api/audit?action=event_target.created")).json;
    expect(entries[0]).toMatchObject({ actorUserId: admin.userId, targetId: target.id });
    expect(entries[0].details).toEqual({ host: receiver.host, types: target.types });
  });

  test("are at most 20", async ({ expect }) => {
    const receiver = await makeReceiver();
    const kb = await makeEventServer([receiver.host]);
    const { id } = await kb.target(receiver.url);
    for (let at = 1; at < 20; at++) await kb.target(receiver.url);
    const { status, json } = await kb.me.post("/api/webhooks", { url: receiver.url });
    expect([status, json.code]).toEqual([409, "quota_reached"]);
    expect((await kb.me.delete(`/api/webhooks/${id}`)).status).toBe(204);
    await kb.target(receiver.url);
  });
});

describe("the log of deliveries", () => {
  test("is paged, and replays one delivery or a span with the same event IDs", async ({ expect }) => {
    const receiver = await makeReceiver();
    const kb = await makeEventServer([receiver.host]);
    kb.clock.advance(-60_000);
    const { id } = await kb.target(receiver.url);
    for (let at = 0; at < 5; at++) {
      await kb.emit();
      kb.clock.advance(10_000);
    }
    receiver.answer(({ body }) => ({ status: JSON.parse(body).type === "ping" ? 500 : 200 }));
    await kb.send();
    const all = await kb.deliveries(id);
    const paged: string[] = [];
    for (let query: string | undefined = "limit=2"; query !== undefined;) {
      const { json }: TestAnswer = await kb.me.get(`/api/webhooks/${id}/deliveries?${query}`);
      paged.push(...json.deliveries.map((one: { id: string }) => one.id));
      query = json.nextCursor === null ? undefined : `limit=2&cursor=${json.nextCursor}`;
    }
    expect(paged).toEqual(all.map((one) => one.id));
    const [third] = all.slice(2);
    const replayed = await kb.me.post(`/api/webhooks/${id}/deliveries/${third?.id}/replay`);
    expect([replayed.status, replayed.json.delivery]).toEqual([
      202,
      expect.objectContaining({ eventId: third?.eventId, isReplay: true, state: "waiting" }),
    ]);
    await kb.send();
    expect(receiver.ids().at(-1)).toBe(third?.eventId);
    expect(receiver.received.at(-1)?.body).toBe(receiver.received[2]?.body);
    // From the third event on, whatever became of it; a ping is no event.
    await kb.me.post(`/api/webhooks/${id}/test`);
    const since = third?.eventAt;
    expect((await kb.me.post(`/api/webhooks/${id}/replay`, { since })).json).toEqual({ replayed: 3 });
    // What waits anyway is not put in line twice.
    expect((await kb.me.post(`/api/webhooks/${id}/replay`, { since })).json).toEqual({ replayed: 0 });
    await kb.send();
    const emitted = all.map((one) => one.eventId).toReversed();
    expect(receiver.ids().slice(-3)).toEqual(emitted.slice(2));
    const failed = { since, state: "failed" };
    expect((await kb.me.post(`/api/webhooks/${id}/replay`, failed)).json).toEqual({ replayed: 0 });
    const state = (await kb.me.get(`/api/webhooks/${id}/deliveries?state=failed`)).json.deliveries;
    expect(state.map(({ type }: { type: string }) => type)).toEqual(["ping"]);
  });

  test("is kept for 30 days", async ({ expect }) => {
    const receiver = await makeReceiver();
    const kb = await makeEventServer([receiver.host]);
    const { id } = await kb.target(receiver.url);
    await kb.emit();
    await kb.send();
    kb.clock.advance(29 * 86_400_000);
    await kb.emit();
    await kb.deps.eventDelivery.sweep();
    expect(await kb.store.in(kb.owner.workspaceId).eventDeliveries.list(id, { limit: 5 })).toHaveLength(2);
    kb.clock.advance(2 * 86_400_000);
    await kb.deps.eventDelivery.sweep();
    expect(await kb.store.in(kb.owner.workspaceId).eventDeliveries.list(id, { limit: 5 })).toHaveLength(1);
    expect(await kb.database.read.selectFrom("events").select("eventId").execute()).toHaveLength(1);
    await kb.store.in(kb.owner.workspaceId).eventDeliveries.trimWaiting(id, 0);
    expect(await kb.store.in(kb.owner.workspaceId).eventDeliveries.countWaiting(id)).toBe(0);
  });
});
