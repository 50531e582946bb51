import { expect, test } from "vitest";
import { ApiError } from "#api/errors.ts";
import { openEngine } from "../../../kit/engine.ts";
import type { KitFixture } from "../../../kit/fixture.ts";
import { makeReferenceFixture } from "../../../kit/reference/fixture.ts";

const DAY_MS = 24 * 3_600_000;

/** A connector of the reference source on a server that its provider can reach, and how often it subscribed. */
async function makeWorld({ baseUrl = "https://kb.test" } = {}) {
  const { provider, fixture } = await makeReferenceFixture();
  const told = { subscribed: 0, isFailing: false };
  const { webhook } = fixture.source;
  const source = {
    ...fixture.source,
    webhook: {
      ...webhook,
      async subscribe(...asked: Parameters<NonNullable<typeof webhook.subscribe>>) {
        told.subscribed++;
        if (told.isFailing) throw new ApiError("source_forbidden", { message: "This account may not subscribe." });
        return webhook.subscribe?.(...asked);
      },
    },
  };
  const engine = await openEngine({ ...fixture, source } as KitFixture, { settings: { baseUrl } });
  const { connectorId, kb } = engine;
  const as = kb.as(engine.owner);
  await engine.work();
  kb.clock.advance(1);
  return {
    ...engine,
    provider,
    told,
    as,
    path: `/hooks/reference/${connectorId}`,
    webhook: async () => (await as.get(`/api/connectors/${connectorId}/webhook`)).json.webhook,
    /** What the provider sends to its only subscriber. */
    async notify(pageId: string): Promise<number> {
      const [to] = provider.subscriptions();
      const { headers, rawBody } = provider.notificationOf(pageId, to?.secret);
      const path = new URL(to?.url ?? "").pathname;
      const raw = Buffer.from(rawBody).toString();
      return (await kb.as(engine.owner).request("POST", path, { raw, headers: Object.fromEntries(headers) })).status;
    },
  };
}

test("a new connector subscribes, and a notification of its provider shows a change before the schedule does", async () => {
  const world = await makeWorld();
  expect(world.provider.subscriptions()).toEqual([
    { url: `https://kb.test${world.path}`, secret: expect.stringMatching(/.{20}/) },
  ]);
  const { subscription, secretCreatedAt } = await world.webhook();
  expect([subscription.problem, secretCreatedAt]).toEqual([null, expect.any(String)]);
  expect(Date.parse(subscription.expiresAt)).toBeGreaterThan(world.kb.clock.now() + 6 * DAY_MS);
  world.provider.putPage("p2", { text: "The kettle is blue." });
  expect(await world.notify("p2")).toBe(200);
  await world.pass(5_000);
  expect(await world.textOf("p2")).toContain("kettle");
  expect((await world.lastSync()).trigger).toBe("webhook");
});

test("a subscription is renewed before it expires, and the former one is ended", async () => {
  const world = await makeWorld();
  for (let times = 0; times < 3; times++) {
    await world.pass(5.3 * DAY_MS);
    expect(world.provider.subscriptions()).toHaveLength(1);
    expect(Date.parse((await world.webhook()).subscription.expiresAt)).toBeGreaterThan(world.kb.clock.now() + DAY_MS);
  }
  expect(world.told.subscribed).toBe(4);
});

test("a failure is shown and tried again later, and the sync goes on as without", async () => {
  const world = await makeWorld();
  world.told.isFailing = true;
  await world.pass(5.5 * DAY_MS);
  expect((await world.webhook()).subscription).toEqual({
    expiresAt: expect.any(String),
    problem: { code: "forbidden", message: "This account may not subscribe." },
  });
  expect(world.provider.subscriptions()).toHaveLength(1);
  const tried = world.told.subscribed;
  await world.work();
  expect(world.told.subscribed).toBe(tried);
  expect((await world.lastSync()).state).toBe("succeeded");
  world.told.isFailing = false;
  await world.pass(2 * 60_000);
  expect((await world.webhook()).subscription.problem).toBeNull();
  expect(world.provider.subscriptions()).toHaveLength(1);
});

test("another secret and another scope subscribe again", async () => {
  const world = await makeWorld();
  const api = `/api/connectors/${world.connectorId}`;
  const [before] = world.provider.subscriptions();
  world.kb.clock.advance(1);
  const { secret } = (await world.as.post(`${api}/webhook`)).json;
  await world.work();
  expect(world.provider.subscriptions()).toEqual([{ url: before?.url, secret }]);
  expect((await world.as.patch(`${api}/scope`, { include: ["a"], exclude: [] })).status).toBe(202);
  await world.work();
  expect([world.told.subscribed, world.provider.subscriptions().length]).toEqual([3, 1]);
});

test("with its connector a subscription goes, and what the connector signed in with after it", async () => {
  const world = await makeWorld();
  const credentials = () => world.kb.database.read.selectFrom("connector_credentials").selectAll().execute();
  await world.as.post(`/api/connectors/${world.connectorId}/pause`);
  await world.pass(60_000);
  expect(world.provider.subscriptions()).toHaveLength(1);
  await world.as.delete(`/api/connectors/${world.connectorId}`);
  expect(await credentials()).toHaveLength(1);
  await world.work();
  expect([world.provider.subscriptions(), await credentials()]).toEqual([[], []]);
  expect(await world.kb.database.read.selectFrom("webhook_subscriptions").selectAll().execute()).toEqual([]);
});

test("a provider that can't be asked does not keep a connector from being deleted", async () => {
  const world = await makeWorld();
  world.provider.fail("unauthorized");
  await world.as.delete(`/api/connectors/${world.connectorId}`);
  await world.work();
  expect(await world.kb.database.read.selectFrom("connectors").selectAll().execute()).toEqual([]);
});

test("no one is asked to notify an address that only this machine has", async () => {
  const world = await makeWorld({ baseUrl: "http://127.0.0.1:7700" });
  expect([world.told.subscribed, (await world.webhook()).subscription]).toEqual([0, null]);
});
