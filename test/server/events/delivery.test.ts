import { Webhook } from "standardwebhooks";
import { describe, test } from "vitest";
import { makeEventServer, makeReceiver, type Received, type Receiver } from "./server.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** What a receiver does that follows the published library. */
function verify(secret: string, { headers, body }: Received): unknown {
  return new Webhook(secret).verify(body, headers as Record<string, string>);
}

/** Moves the clock until nothing waits any more, as long as it takes. */
async function sendAll(kb: Awaited<ReturnType<typeof makeEventServer>>, targetId: string): Promise<void> {
  for (let at = 0; at < 100; at++) {
    await kb.send();
    const { waiting, state } = await kb.show(targetId);
    if (waiting === 0 || state === "paused") return;
    kb.clock.advance(20 * MINUTE);
  }
}

const statesOf = async (kb: Awaited<ReturnType<typeof makeEventServer>>, id: string) =>
  (await kb.deliveries(id)).map(({ state }) => state).toReversed();

describe("the delivery of events", () => {
  test("sends what a receiver verifies with the published library, once and in order", async ({ expect }) => {
    const receiver = await makeReceiver();
    const kb = await makeEventServer([receiver.host]);
    const { id, secret } = await kb.target(receiver.url);
    for (let at = 0; at < 3; at++) {
      await kb.emit();
      kb.clock.advance(1_000);
    }
    kb.clock.advance(-3_000);
    await kb.send();
    const [first, ...more] = receiver.received;
    if (!first) throw new Error("Nothing came.");
    expect(more).toHaveLength(2);
    expect(verify(secret, first)).toEqual({
      type: "connection.active",
      timestamp: new Date(kb.clock.now()).toISOString(),
      workspaceId: kb.owner.workspaceId,
      data: { connectionId: "cnx_2222222222222222", serverId: "srv_2222222222222222" },
    });
    expect(first.headers).toMatchObject({ "content-type": "application/json", "user-agent": "kb/0.1.0" });
    expect(() => verify(secret, { ...first, body: first.body.replace("srv_", "srv-") })).toThrow("No matching");
    const deliveries = (await kb.deliveries(id)).toReversed();
    expect(receiver.ids()).toEqual(deliveries.map(({ eventId }) => eventId));
    expect(deliveries.map(({ state, status, tries }) => [state, status, tries])).toEqual(
      Array.from({ length: 3 }, () => ["delivered", 204, 1]),
    );
    expect(await kb.send()).toBe(0);
  });

  test("a receiver that is down for an hour misses nothing, and its secret may be rotated meanwhile", async ({
    expect,
  }) => {
    let isDown = true;
    const taken: Received[] = [];
    const receiver = await makeReceiver((request) => {
      if (isDown) return { status: 503 };
      taken.push(request);
      return { status: 200 };
    });
    const kb = await makeEventServer([receiver.host]);
    kb.clock.advance(-2 * HOUR);
    const { id, secret } = await kb.target(receiver.url);
    for (let at = 0; at < 6; at++) {
      await kb.emit();
      await kb.send();
      kb.clock.advance(10 * MINUTE);
    }
    const { secret: next } = (await kb.me.post(`/api/webhooks/${id}/rotate-secret`, { overlapSeconds: 7_200 })).json;
    const emitted = (await kb.deliveries(id)).map(({ eventId }) => eventId).toReversed();
    isDown = false;
    kb.clock.advance(HOUR);
    await sendAll(kb, id);
    expect(taken.map(({ headers }) => headers["webhook-id"])).toEqual(emitted);
    expect(new Set(receiver.ids())).toEqual(new Set(emitted));
    // Whichever secret the receiver has by now, it can tell.
    for (const request of taken) {
      expect(verify(secret, request)).toEqual(verify(next, request));
    }
    expect(await kb.show(id)).toMatchObject({ failingSince: null, waiting: 0, nextTryAt: null, state: "active" });
    // After the overlap, only the new one counts.
    kb.clock.advance(-HOUR + 7_201_000);
    const { sealed } = (await kb.store.in(kb.owner.workspaceId).eventTargets.find(id)) ?? { sealed: "" };
    await kb.deps.eventDelivery.sweep();
    expect((await kb.store.in(kb.owner.workspaceId).eventTargets.find(id))?.sealed).not.toBe(sealed);
    taken.length = 0;
    await kb.emit();
    await kb.send();
    const [last] = taken;
    expect(String(last?.headers["webhook-signature"]).split(" ")).toHaveLength(1);
    // A replay of that hour comes with the same IDs, once each, and only the new secret tells them.
    kb.clock.advance(-HOUR);
    taken.length = 0;
    const since = (await kb.deliveries(id)).at(-1)?.eventAt;
    expect((await kb.me.post(`/api/webhooks/${id}/replay`, { since })).json).toEqual({ replayed: 6 });
    await sendAll(kb, id);
    expect(taken.map(({ headers }) => headers["webhook-id"])).toEqual(emitted);
    for (const request of taken) {
      expect(verify(next, request)).toMatchObject({ type: expect.any(String) });
      expect(() => verify(secret, request)).toThrow("No matching signature");
    }
  });

  test("tries again for more than a day, later each time, and then goes on with the next", async ({ expect }) => {
    const receiver = await makeReceiver(() => ({ status: 500, body: "CANARY of the answer" }));
    const kb = await makeEventServer([receiver.host]);
    const { id } = await kb.target(receiver.url);
    await kb.emit();
    await kb.emit();
    const began = kb.clock.now();
    const times: number[] = [];
    while ((await statesOf(kb, id))[0] === "waiting") {
      const before = receiver.received.length;
      await kb.send();
      expect(receiver.received.length - before).toBeLessThanOrEqual(2);
      times.push(kb.clock.now() - began);
      const { nextTryAt } = await kb.show(id);
      kb.clock.advance(Date.parse(nextTryAt ?? "") - kb.clock.now());
    }
    expect(times).toHaveLength(12);
    expect(times.at(-1)).toBeGreaterThanOrEqual(DAY);
    const waits = times.slice(1).map((time, at) => time - (times[at] ?? 0));
    expect(waits[0]).toBeLessThan(10_000);
    expect(Math.min(...waits.slice(-3))).toBeGreaterThanOrEqual(6 * HOUR);
    const [failed, next] = (await kb.deliveries(id)).toReversed();
    expect(failed).toMatchObject({ state: "failed", tries: 12, status: 500, code: "server_error" });
    expect(next).toMatchObject({ state: "waiting", tries: 1 });
    expect(JSON.stringify([await kb.deliveries(id), kb.log.lines])).not.toContain("CANARY");
  });

  test("waits as long as the receiver asks", async ({ expect }) => {
    const receiver = await makeReceiver(() => ({ status: 429, headers: { "retry-after": "1800" } }));
    const kb = await makeEventServer([receiver.host]);
    const { id } = await kb.target(receiver.url);
    await kb.emit();
    await kb.send();
    expect(await kb.show(id)).toMatchObject({ nextTryAt: new Date(kb.clock.now() + 30 * MINUTE).toISOString() });
    expect((await kb.deliveries(id))[0]).toMatchObject({ code: "rate_limited", status: 429 });
    receiver.answer(() => ({ status: 503, headers: { "retry-after": new Date(kb.clock.now() + HOUR).toUTCString() } }));
    kb.clock.advance(30 * MINUTE);
    await kb.send();
    const { nextTryAt } = await kb.show(id);
    expect(Date.parse(nextTryAt ?? "") - kb.clock.now()).toBeGreaterThan(29 * MINUTE);
  });

  test("pauses a target that is gone, or that fails for days, and what waits is sent after the pause", async ({
    expect,
  }) => {
    const gone = await makeReceiver(() => ({ status: 410 }));
    const failing = await makeReceiver(() => ({ status: 404 }));
    const kb = await makeEventServer([gone.host, failing.host]);
    const { id: goneId } = await kb.target(gone.url);
    const { id: failingId } = await kb.target(failing.url);
    await kb.emit();
    await kb.send();
    expect(await kb.show(goneId)).toMatchObject({ state: "paused", pausedFor: "gone", waiting: 1, nextTryAt: null });
    for (let at = 0; at < 13; at++) {
      kb.clock.advance(6 * HOUR);
      await kb.emit();
      await kb.send();
    }
    expect(await kb.show(failingId)).toMatchObject({ state: "paused", pausedFor: "failing", nextTryAt: null });
    expect(gone.received).toHaveLength(1);
    // Admins are told on every page, and nobody else.
    const noticesOf = async (user: typeof kb.owner): Promise<{ at: string }[]> =>
      (await kb.as(user).get("/api/session")).json.notices.sort((a: { at: string }, b: { at: string }) =>
        a.at < b.at ? -1 : 1,
      );
    expect(await noticesOf(kb.owner)).toEqual([
      expect.objectContaining({ type: "event_target_paused", targetId: goneId, host: gone.host, reason: "gone" }),
      expect.objectContaining({ type: "event_target_paused", targetId: failingId, reason: "failing" }),
    ]);
    expect(await noticesOf(await kb.addMember(kb.owner.workspaceId))).toEqual([]);
    const { entries } = (await kb.me.get("/api/audit?action=event_target.paused")).json;
    expect(entries.map(({ details }: { details: object }) => details)).toEqual([
      { reason: "failing" },
      { reason: "gone" },
    ]);
    gone.answer(() => ({ status: 200 }));
    expect((await kb.me.patch(`/api/webhooks/${goneId}`, { state: "active" })).json.target).toMatchObject({
      state: "active",
      pausedFor: null,
    });
    await kb.send();
    expect(new Set(gone.ids()).size).toBe(14);
    expect(await statesOf(kb, goneId)).toEqual(Array.from({ length: 14 }, () => "delivered"));
  });

  test("a target that does not answer holds up no one else", async ({ expect }) => {
    const silent = await makeReceiver(() => "hang");
    const prompt = await makeReceiver();
    const kb = await makeEventServer([silent.host, prompt.host]);
    const { id } = await kb.target(silent.url);
    await kb.target(prompt.url);
    await kb.emit();
    const sending = kb.send();
    await arrived(prompt, 1);
    await arrived(silent, 1);
    expect(prompt.received).toHaveLength(1);
    // Told to end, it gives the delivery back: the same one comes again.
    await kb.deps.eventDelivery.stop();
    await sending;
    expect((await kb.deliveries(id))[0]).toMatchObject({ state: "waiting", tries: 0 });
  });

  test("follows no redirect", async ({ expect }) => {
    const other = await makeReceiver();
    const receiver = await makeReceiver(() => ({ status: 307, headers: { location: other.url } }));
    const kb = await makeEventServer([receiver.host, other.host]);
    const { id } = await kb.target(receiver.url);
    await kb.emit();
    await kb.send();
    expect(other.received).toEqual([]);
    expect((await kb.deliveries(id))[0]).toMatchObject({ state: "waiting", status: 307, code: "redirected" });
  });
});

async function arrived(receiver: Receiver, count: number): Promise<void> {
  while (receiver.received.length < count) await new Promise((resolve) => setImmediate(resolve));
}
