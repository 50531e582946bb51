import { createHmac, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import { request } from "node:http";
import type { AddressInfo } from "node:net";
import { createAdaptorServer } from "@hono/node-server";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { z } from "zod";
import { formatPrincipal } from "#core/principals.ts";
import type { IdentityRun } from "#sources/identity-events.ts";
import type { Source } from "#sources/contract.ts";
import type { SyncRequest } from "#server/sync/sync-events.ts";
import { makePushSource } from "#sources/push/index.ts";
import { scripted } from "../../../scripted.ts";
import { composeFeatures } from "../../../features.ts";
import { makeServer } from "../../../helpers.ts";
import { fakeExtractor, item } from "../harness.ts";

const APP_SECRET = "the-secret-of-the-app-0123456789";
const CANARY = "canary-in-a-body";
const TOGETHER_MS = 5_000;

const Body = z.object({
  challenge: z.string().optional(),
  target: z.object({ instance: z.string(), installation: z.string() }).optional(),
  changes: z.array(z.any()).default([]),
});

/** A tracker that signs as GitHub does: an HMAC of the body, with nothing that grows old. */
function makeTracker() {
  const seen = { runs: [] as SyncRequest[], identities: [] as IdentityRun[], calls: 0, verified: 0 };
  const source: Source<{ url: string; installation: string }> = {
    spec: {
      providerId: "tracker",
      name: "Tracker",
      kinds: ["task"],
      auth: [{ type: "none" }],
      config: z.strictObject({ url: z.url(), installation: z.string() }),
      acl: "connector",
      hasPeople: true,
    },
    async check() {
      seen.calls++;
      return { ok: true };
    },
    sessions: scripted(async function* (_ctx, run) {
      seen.calls++;
      seen.runs.push(run);
      for (const id of run.externalIds ?? ["a", "b"]) yield { t: "upsert", item: item(id, `text of ${id}`) };
      yield { t: "checkpoint", cursor: null };
      const listing = run.mode === "full" ? "complete" : "partial";
      yield { t: "end", listing, permissions: "current" };
    }),
    async *syncIdentities(_ctx, run) {
      seen.calls++;
      seen.identities.push(run);
      yield { t: "end", listing: "complete" };
    },
    baseUrlOf: ({ url }) => url,
    webhook: {
      verify(secret, { headers, rawBody }) {
        seen.verified++;
        const given = Buffer.from(headers.get("X-Hub-Signature-256") ?? "");
        const right = Buffer.from(`sha256=${createHmac("sha256", secret).update(rawBody).digest("hex")}`);
        if (given.length !== right.length || !timingSafeEqual(given, right)) return "refused";
        const { challenge, target, changes } = Body.parse(JSON.parse(Buffer.from(rawBody).toString()));
        return {
          changes,
          delivery: right.toString(),
          ...(target && { target }),
          ...(challenge !== undefined && { reply: { contentType: "text/plain", body: challenge } }),
        };
      },
      installationOf: ({ installation }) => installation,
    },
  };
  return { source: source as Source, seen };
}

/** A server on a port of its own, a tracker that has been read once, and a way to send notifications to it. */
async function makeWorld() {
  const { source, seen } = makeTracker();
  const sources = [source, makePushSource() as Source];
  const registry = {
    find: async (id: string) => sources.find(({ spec }) => spec.providerId === id),
    list: async () => sources,
  };
  const kb = await makeServer({ settings: { webhookSecrets: { tracker: APP_SECRET } } }, (core, database) =>
    composeFeatures(core, database, { sources: registry, extractor: fakeExtractor }),
  );
  const server = createAdaptorServer({ fetch: kb.app.fetch });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  // An `AddressInfo` wherever a server listens on a port.
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const user = await kb.addOwner();
  const owner = kb.as(user);
  const connect = async (config: object = {}, as = owner): Promise<string> => {
    const made = await as.post("/api/connectors", {
      providerId: "tracker",
      name: "Tracker",
      config: { url: "https://tracker.test/api", installation: "1", ...config },
      access: { visibility: "private" },
    });
    expect(made.json).toMatchObject({ connector: { state: "active" } });
    return made.json.connector.id;
  };
  const { worker } = kb.deps;
  const id = await connect();
  const settle = async () => {
    await worker.runUntilIdle();
    Object.assign(seen, { runs: [], identities: [], calls: 0, verified: 0 });
  };
  await settle();
  const secretOf = async (connectorId: string): Promise<string> =>
    (await owner.post(`/api/connectors/${connectorId}/webhook`)).json.secret;
  const send = async (path: string, secret: string, body: object | string, headers: Record<string, string> = {}) => {
    const text = typeof body === "string" ? body : JSON.stringify(body);
    const signature = `sha256=${createHmac("sha256", secret).update(text).digest("hex")}`;
    const answer = await fetch(origin + path, {
      method: "POST",
      body: text,
      headers: { "x-hub-signature-256": signature, ...headers },
    });
    return { status: answer.status, type: answer.headers.get("content-type"), text: await answer.text() };
  };
  /** What runs once the notifications of 5 seconds are together. */
  const later = async () => {
    kb.clock.advance(TOGETHER_MS);
    await worker.runUntilIdle();
  };
  return {
    kb,
    worker,
    user,
    owner,
    id,
    seen,
    connect,
    settle,
    secretOf,
    send,
    later,
    origin,
    path: `/hooks/tracker/${id}`,
  };
}

const items = (...externalIds: string[]) => ({ changes: [{ t: "items", externalIds }] });
const DELTA = { changes: [{ t: "delta" }] };

describe("a webhook of a connector", () => {
  test("asks for one run of the items that notifications of 5 seconds name", async () => {
    const { id, secretOf, send, later, worker, seen, path, owner } = await makeWorld();
    const secret = await secretOf(id);
    expect(await send(path, secret, items("a", "c"))).toEqual({ status: 200, type: "text/plain", text: "" });
    expect((await send(path, secret, items("c", "d"))).status).toBe(200);
    await worker.runUntilIdle();
    expect(seen.runs).toEqual([]);
    await later();
    expect(seen.runs.map(({ mode, externalIds }) => [mode, externalIds])).toEqual([["items", ["a", "c", "d"]]]);
    const [run] = (await owner.get(`/api/connectors/${id}/syncs`)).json.syncs.filter(
      (each: { trigger: string }) => each.trigger === "webhook",
    );
    expect(run).toMatchObject({ mode: "items", state: "succeeded" });
  });

  test.each([
    ["something that changed", { changes: [{ t: "delta" }, { t: "items", externalIds: ["a"] }] }],
    ["a container", { changes: [{ t: "containers", containers: [{ type: "project", id: "p" }] }] }],
    ["more items than are worth naming", items(...Array.from({ length: 201 }, (_, i) => `i${i}`))],
  ])("asks for an increment for %s", async (_what, body) => {
    const { id, secretOf, send, later, seen, path } = await makeWorld();
    await send(path, await secretOf(id), body);
    await later();
    expect(seen.runs.map(({ mode }) => mode)).toEqual(["incremental"]);
    expect(seen.identities).toEqual([]);
  });

  test("has the groups read that it names, and no others", async () => {
    const { id, secretOf, send, later, seen, path } = await makeWorld();
    await send(path, await secretOf(id), { changes: [{ t: "groups", ids: ["team-1", ""] }] });
    await later();
    const group = formatPrincipal({ type: "source_group", connectorId: id, id: "team-1" });
    expect(seen.identities.map(({ mode, groups }) => [mode, groups])).toEqual([["groups", [group]]]);
    expect(seen.runs).toEqual([]);
  });

  test("removes nothing by what it says, and a replay of it wakes no one", async () => {
    const { id, secretOf, send, later, settle, seen, path, owner } = await makeWorld();
    const secret = await secretOf(id);
    const body = { changes: [{ t: "items", externalIds: ["gone"] }], gone: ["a", "b"] };
    await send(path, secret, body);
    await later();
    expect(seen.runs).toHaveLength(1);
    expect((await owner.get(`/api/connectors/${id}`)).json.connector.counts.indexed).toBe(3);
    await settle();
    expect((await send(path, secret, body)).status).toBe(200);
    await later();
    expect(seen.runs).toEqual([]);
  });

  test("answers whatever is wrong alike, after the same work, and asks no one", async () => {
    const { kb, id, secretOf, send, later, seen, path, owner } = await makeWorld();
    const noSecret = await send(path, "", DELTA);
    const secret = await secretOf(id);
    const push = await owner.post("/api/connectors", {
      providerId: "push",
      name: "Push",
      config: { place: "push" },
      access: { visibility: "private" },
    });
    const pushId = push.json.connector?.id ?? "con_none";
    const text = `{"changes":[],"note":"${CANARY}"}`;
    const wrong = {
      noSecret,
      signature: await send(path, "another", text),
      unsigned: await send(path, secret, text, { "x-hub-signature-256": "" }),
      notJson: await send(path, secret, CANARY),
      unknown: await send(`/hooks/tracker/con_${"0".repeat(26)}`, secret, text),
      noId: await send("/hooks/tracker/no.id", secret, text),
      otherKind: await send(`/hooks/push/${id}`, secret, text),
      otherConnector: await send(`/hooks/tracker/${pushId}`, secret, text),
      noKind: await send(`/hooks/nothing/${id}`, secret, text),
      app: await send("/hooks/tracker", secret, text),
      appOfOther: await send("/hooks/push", APP_SECRET, text),
      appOfNone: await send("/hooks/constructor", APP_SECRET, text),
    };
    const plain = (answer: { text: string }) => answer.text.replace(/req_\w+/, "req_");
    expect(new Set(Object.values(wrong).map(plain))).toEqual(new Set([plain(noSecret)]));
    expect(new Set(Object.values(wrong).map(({ status }) => status))).toEqual(new Set([404]));
    // A verification each, whether there is such a connector or not; the last four are of sources without one.
    expect(seen.verified).toBe(8);
    await later();
    expect(seen.calls).toBe(0);
    expect(JSON.stringify(kb.log.lines)).not.toContain(CANARY);
    expect(JSON.stringify(kb.log.lines)).not.toContain(secret);
  });

  test("refuses what is too large, and floods", async () => {
    const { kb, id, secretOf, send, path } = await makeWorld();
    const secret = await secretOf(id);
    const tooLarge = { raw: "x".repeat(1024 * 1024 + 1) };
    expect((await kb.anyone().request("POST", path, tooLarge)).status).toBe(413);
    expect((await send(path, secret, "x".repeat(1024 * 1024))).status).toBe(404);
    const answers: number[] = [];
    for (let i = 0; i < 320; i++) answers.push((await kb.anyone().request("POST", path, { raw: "{}" })).status);
    expect(new Set(answers)).toEqual(new Set([404, 429]));
    expect(answers.filter((status) => status === 404).length).toBeLessThanOrEqual(300);
    kb.clock.advance(60_000);
    expect((await send(path, secret, DELTA)).status).toBe(200);
  });

  test("is asked for by who manages the connector; a new secret ends the one before", async () => {
    const { kb, id, user, owner, secretOf, send, path } = await makeWorld();
    const api = `/api/connectors/${id}/webhook`;
    const url = `${kb.settings.baseUrl}${path}`;
    expect((await owner.get(api)).json).toEqual({
      webhook: { url, secretCreatedAt: null, secretFrom: "kb", offered: null, subscription: null },
    });
    const first = await secretOf(id);
    const second = await secretOf(id);
    expect((await owner.get(api)).json).toEqual({
      webhook: { url, secretCreatedAt: expect.any(String), secretFrom: "kb", offered: null, subscription: null },
    });
    expect((await send(path, first, DELTA)).status).toBe(404);
    expect((await send(path, second, DELTA)).status).toBe(200);
    const member = kb.as(await kb.addMember(user.workspaceId, "member"));
    expect([(await member.get(api)).status, (await member.post(api)).status]).toEqual([404, 404]);
    const stored = await kb.database.read.selectFrom("connector_webhooks").selectAll().execute();
    expect(JSON.stringify(stored)).not.toContain(second);
    expect((await owner.get("/api/audit?action=connector.webhook_rotated")).json.entries).toHaveLength(2);
  });

  test("wakes nothing while the connector is paused, and is unknown once it is being deleted", async () => {
    const { id, secretOf, send, later, seen, path, owner } = await makeWorld();
    const secret = await secretOf(id);
    await owner.post(`/api/connectors/${id}/pause`);
    expect((await send(path, secret, DELTA)).status).toBe(200);
    await later();
    await owner.delete(`/api/connectors/${id}`);
    expect((await send(path, secret, items("a"))).status).toBe(404);
    await later();
    expect(seen.runs).toEqual([]);
    expect((await send(path, secret, items("b"))).status).toBe(404);
  });
});

describe("the webhook of an app", () => {
  test("wakes the connectors of the installation that it names, in every workspace", async () => {
    const { kb, id, seen, connect, settle, send, later } = await makeWorld();
    const stranger = kb.as(await kb.addOwner("Other"));
    const theirs = await connect({}, stranger);
    const otherInstallation = await connect({ installation: "2" });
    const otherInstance = await connect({ url: "https://tracker.test/other" });
    await settle();
    const target = { instance: "https://tracker.test/api/", installation: "1" };
    expect((await send("/hooks/tracker", APP_SECRET, { target, ...DELTA })).status).toBe(200);
    await later();
    expect(seen.runs).toHaveLength(2);
    const runs = await kb.database.read.selectFrom("syncs").selectAll().where("trigger", "=", "webhook").execute();
    expect(runs.map(({ connectorId }) => connectorId).sort()).toEqual([id, theirs].sort());
    expect([id, theirs]).not.toContain(otherInstallation);
    expect([id, theirs]).not.toContain(otherInstance);
  });

  test.each([
    ["of another instance", { instance: "https://elsewhere.test", installation: "1" }],
    ["of another installation", { instance: "https://tracker.test/api", installation: "3" }],
    ["that is no address", { instance: "", installation: "1" }],
    ["of no one", undefined],
  ])("wakes no one for a target %s", async (_what, target) => {
    const { seen, send, later } = await makeWorld();
    expect((await send("/hooks/tracker", APP_SECRET, { target, ...DELTA })).status).toBe(200);
    await later();
    expect(seen.calls).toBe(0);
  });

  test("answers a challenge that is signed, and no other", async () => {
    const { send } = await makeWorld();
    const body = { challenge: "3eZbrw1aB" };
    expect(await send("/hooks/tracker", APP_SECRET, body)).toEqual({
      status: 200,
      type: "text/plain",
      text: "3eZbrw1aB",
    });
    const refused = await send("/hooks/tracker", "another", body);
    expect([refused.status, refused.text.includes("3eZbrw1aB")]).toEqual([404, false]);
  });
});

test("bodies of strangers that never become whole take little memory, and small notifications come through", async () => {
  const { id, secretOf, send, path, origin } = await makeWorld();
  const secret = await secretOf(id);
  const answers: number[] = [];
  const piece = Buffer.alloc(1_000_000, "x");
  const sent = Array.from({ length: 20 }, () => {
    const headers = { "content-length": piece.length + 1 };
    const outgoing = request(origin + path, { method: "POST", agent: false, headers }, ({ statusCode = 0 }) => {
      answers.push(statusCode);
    });
    outgoing.on("error", () => undefined).write(piece);
    return outgoing;
  });
  await vi.waitFor(() => expect(answers).toEqual([503, 503, 503]), { timeout: 10_000 });
  expect((await send(path, secret, items("a"))).status).toBe(200);
  expect((await send(path, secret, { ...DELTA, padding: "x".repeat(1_000_000) })).status).toBe(503);
  for (const each of sent) each.destroy();
  const large = () => send(path, secret, { ...DELTA, padding: "y".repeat(1_000_000) });
  await vi.waitFor(async () => expect((await large()).status).toBe(200), { timeout: 10_000 });
});
