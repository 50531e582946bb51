import { randomBytes } from "node:crypto";
import { setImmediate as breath } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { ApiError } from "#api/errors.ts";
import { makeSourceWatcher } from "#server/sync/watch/source-watcher.ts";
import { makeWatchTries } from "#server/sync/watch/watch-tries.ts";
import type { ChangeListener } from "#sources/change-notifications.ts";
import type { Source } from "#sources/contract.ts";
import { composeFeatures } from "../../../features.ts";
import { makeServer, type TestUser } from "../../../helpers.ts";
import { makeFolder } from "../../../sources/filesystem/fixture.ts";
import { fakeExtractor } from "../harness.ts";

const SOON = { timeout: 10_000, interval: 5 };

/** A server with the watcher at work; `watch` says what a connector's watch does, by the connector's name. */
async function makeWatching(watch: (name: string, listener: ChangeListener, signal: AbortSignal) => Promise<void>) {
  const folder = makeFolder();
  // A source of a config of its own stands among the others as every source does.
  const source = {
    ...folder.source,
    watch: async (ctx: { connector: { name: string }; signal: AbortSignal }, _scope: unknown, to: ChangeListener) => {
      await watch(ctx.connector.name, to, ctx.signal);
      return { stop: async () => undefined };
    },
  } as unknown as Source;
  const kb = await makeServer({}, (core, database) =>
    composeFeatures(core, database, {
      sources: { find: async () => source, list: async () => [source] },
      extractor: fakeExtractor,
    }),
  );
  const owner = await kb.addOwner();
  let asked = 0;
  const tries = makeWatchTries(kb.clock.now);
  const watcher = makeSourceWatcher({
    store: new Proxy(kb.store, {
      get(store, key) {
        if (key === "transaction") asked++;
        const member: unknown = Reflect.get(store, key, store);
        return typeof member === "function" ? member.bind(store) : member;
      },
    }),
    findSource: () => source,
    providerIds: ["filesystem"],
    http: { for: () => ({}) as never },
    now: kb.clock.now,
    randomBytes,
    sleep: async (_ms, signal) => void (await breath(undefined, { signal }).catch(() => undefined)),
    log: kb.log,
    tries,
    wake: () => undefined,
  });
  onTestFinished(() => watcher.stop());
  const add = async (name: string): Promise<string> => {
    const created = await kb.as(owner).post("/api/connectors", {
      providerId: "filesystem",
      name,
      config: { root: folder.root },
      access: { visibility: "workspace" },
    });
    await kb.deps.worker.runUntilIdle();
    return created.json.connector.id;
  };
  const runs = async (id: string) => {
    const { syncs } = kb.store.in(owner.workspaceId);
    return (await syncs.list(id, 100)).filter((sync) => sync.trigger === "watch").length;
  };
  /** The connector as this person sees it. */
  const seenBy = async (user: TestUser, id: string) =>
    (await kb.as(user).get(`/api/connectors/${id}`)).json.connector.notWatched;
  return { kb, owner, watcher, add, runs, seenBy, asked: () => asked };
}

const untilAborted = (signal: AbortSignal) =>
  new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));

test("a watch that takes its time to begin holds up no other connector, nor the end of its own", async () => {
  const ended: string[] = [];
  const { watcher, add, runs } = await makeWatching(async (name, listener, signal) => {
    if (name !== "Slow") return listener.notify({ t: "anything" });
    await untilAborted(signal);
    ended.push(name);
  });
  await add("Slow");
  watcher.start();
  const quick = await add("Quick");
  await vi.waitFor(async () => expect(await runs(quick)).toBe(1), SOON);
  await watcher.stop();
  expect(ended).toEqual(["Slow"]);
});

test("a flood of notifications from one connector asks for few runs, and the next one's come at once", async () => {
  const { watcher, add, runs, asked } = await makeWatching(async (name, { notify }) => {
    if (name === "Quiet") return notify({ t: "anything" });
    for (let n = 0; n < 20_000; n++)
      notify(n % 2 === 0 ? { t: "anything" } : { t: "items", changed: [`${n}`], gone: [`g${n}`] });
  });
  const loud = await add("Loud");
  const quiet = await add("Quiet");
  await watcher.poll();
  await vi.waitFor(async () => expect(await runs(quiet)).toBe(1), SOON);
  expect(await runs(loud)).toBe(1);
  await watcher.stop();
  expect(asked()).toBeLessThan(10);
});

test("a source that can't be listened to is told to its owner, and tried again after pauses that grow", async () => {
  let tries = 0;
  let isOver = false;
  const { kb, owner, add, seenBy } = await makeWatching(async () => {
    tries++;
    if (!isOver) throw new ApiError("source_unavailable", { message: "The server sent too many events." });
  });
  const admin = await kb.addMember(owner.workspaceId, "admin");
  const id = await add("Loud");
  const { sourceWatcher } = kb.deps;
  await sourceWatcher.poll();
  const problem = { code: "unreachable", message: "The server sent too many events." };
  const since = new Date(kb.clock.now()).toISOString();
  const nextTryAt = new Date(kb.clock.now() + 60_000).toISOString();
  expect(await seenBy(owner, id)).toEqual({ since, nextTryAt, problem });
  expect((await seenBy(admin, id)).problem.message).toBe(
    "Only the connector's owner can see the reason that the source gave.",
  );
  const pauses: number[] = [];
  for (let minutes = 0, last = 0; minutes <= 250; minutes++, kb.clock.advance(60_000)) {
    const before = tries;
    await sourceWatcher.poll();
    if (tries === before) continue;
    pauses.push(minutes - last);
    last = minutes;
  }
  expect(pauses).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  isOver = true;
  kb.clock.advance(60 * 60_000);
  await sourceWatcher.poll();
  expect(await seenBy(owner, id)).toBeUndefined();
  await sourceWatcher.stop();
});

test("a watch that ends is told, and begins again; what is no failure of its source is told by its kind", async () => {
  const listeners: ChangeListener[] = [];
  const { kb, owner, add, seenBy } = await makeWatching(async (_name, listener) => void listeners.push(listener));
  const id = await add("Folder");
  const { sourceWatcher } = kb.deps;
  await sourceWatcher.poll();
  expect(await seenBy(owner, id)).toBeUndefined();
  listeners[0]?.ended(new Error("ENOENT: /srv/secret"));
  expect((await seenBy(owner, id)).problem).toEqual({
    code: "internal",
    message: "The server can't watch it. The reason is in the server's log.",
  });
  kb.clock.advance(60_000);
  await sourceWatcher.poll();
  expect([listeners.length, await seenBy(owner, id)]).toEqual([2, undefined]);
  await sourceWatcher.stop();
});
