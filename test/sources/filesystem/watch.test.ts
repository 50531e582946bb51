import { mkdirSync, renameSync, rmSync, symlinkSync, watch as watchPath, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import type { ChangeNotification } from "#sources/change-notifications.ts";
import type { Source } from "#sources/contract.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer } from "../../helpers.ts";
import { fakeExtractor } from "../../server/sync/harness.ts";
import type { WatchTuning } from "#sources/filesystem/watch.ts";
import { makeFolder } from "./fixture.ts";
import { verifies } from "../../requirements.ts";

const QUICK: WatchTuning = { pace: { quietMs: 60, longestMs: 600 } };
const SOON = { timeout: 20_000, interval: 30 };

/** A connector on a real folder, synced once, with the real worker and the watch at work. */
async function makeWatched(tuning: WatchTuning = QUICK, config: object = {}) {
  const folder = makeFolder({ watching: tuning });
  folder.write("docs/a.md", "aardvark");
  folder.write("docs/b.md", "badger");
  // A source of a config of its own stands among the others as every source does.
  const source = folder.source as Source;
  const kb = await makeServer({}, (core, database) =>
    composeFeatures(core, database, {
      sources: { find: async () => source, list: async () => [source] },
      extractor: fakeExtractor,
    }),
  );
  const owner = await kb.addOwner();
  const created = await kb.as(owner).post("/api/connectors", {
    providerId: "filesystem",
    name: "Docs",
    config: { root: folder.root, ...config },
    access: { visibility: "workspace" },
  });
  const { id } = created.json.connector;
  const { worker, sourceWatcher, search } = kb.deps;
  await worker.runUntilIdle();
  worker.start();
  onTestFinished(async () => {
    await sourceWatcher.stop();
    await worker.stop();
  });
  await sourceWatcher.poll();
  const actor = await kb.actor(owner);
  const runs = async () => {
    const { syncs } = kb.store.in(owner.workspaceId);
    return (await syncs.list(id, 100)).filter((sync) => sync.trigger === "watch");
  };
  const titles = async (query: string) => {
    const { entries } = await search.search(actor, { query, limit: 10 });
    return entries.map(({ item }) => [...item.path, item.key].join("/"));
  };
  const found = (query: string, expected: string[]) =>
    vi.waitFor(async () => expect(await titles(query)).toEqual(expected), SOON);
  const write = (rel: string, text: string) => {
    mkdirSync(join(folder.root, rel, ".."), { recursive: true });
    writeFileSync(join(folder.root, rel), text);
  };
  return { ...kb, folder, owner, id, sourceWatcher, runs, found, write, at: (rel: string) => join(folder.root, rel) };
}

describe("a watched folder", () => {
  verifies(
    "watch:changes-soon",
    "shows what was changed, added, renamed and deleted, without anyone asking for a sync",
    async () => {
      const { found, write, at, runs, store, owner, id } = await makeWatched();
      write("docs/a.md", "antelope");
      await found("antelope", ["docs/a.md"]);
      await found("aardvark", []);
      expect((await runs()).map(({ mode, items }) => [mode, items])).toEqual([["items", ["docs/a.md"]]]);

      write("new/deep/c.md", "caribou");
      await found("caribou", ["new/deep/c.md"]);
      // The new folders are listened to as well.
      write("new/deep/d.md", "dolphin");
      await found("dolphin", ["new/deep/d.md"]);

      const kbIdOf = async (externalId: string) =>
        (await store.in(owner.workspaceId).itemWrites.findStored(id, externalId))?.kbId;
      const before = await kbIdOf("docs/b.md");
      renameSync(at("docs/b.md"), at("docs/z.md"));
      await found("badger", ["docs/z.md"]);
      expect(await kbIdOf("docs/z.md")).toBe(before);

      rmSync(at("docs/z.md"));
      await found("badger", []);
      renameSync(at("new"), at("old"));
      await found("caribou", ["old/deep/c.md"]);
      write("old/deep/c.md", "cheetah");
      await found("cheetah", ["old/deep/c.md"]);
      rmSync(at("old"), { recursive: true });
      await found("cheetah", []);
    },
  );

  test("takes a file that is saved by a rename over it as that one item", async () => {
    const { found, write, at, runs } = await makeWatched();
    write("docs/a.md.tmp~", "anteater");
    renameSync(at("docs/a.md.tmp~"), at("docs/a.md"));
    await found("anteater", ["docs/a.md"]);
    expect((await runs()).map(({ items }) => items)).toEqual([["docs/a.md"]]);
  });

  test.skipIf(process.platform !== "linux")("hears of names that are no UTF-8", async () => {
    const { found, folder, runs } = await makeWatched();
    folder.writeBytes("docs/\xe4.md", "armadillo");
    await found("armadillo", ["docs/ä.md"]);
    expect((await runs()).map(({ items }) => items)).toEqual([["docs/./%E4.md"]]);
  });

  test("makes one run or two of a storm of changes", async () => {
    const { found, write, runs } = await makeWatched({ pace: { quietMs: 1_500, longestMs: 20_000 } });
    for (let n = 0; n < 1_250; n++) write(`storm/${n % 25}/${n % 625}.md`, n === 1_249 ? "wolverine" : "common");
    const areOver = async () => {
      const all = await runs();
      return all.length > 0 && all.every(({ finishedAt }) => finishedAt !== null);
    };
    await vi.waitFor(async () => expect(await areOver()).toBe(true), { timeout: 80_000, interval: 200 });
    await found("wolverine", ["storm/24/624.md"]);
    expect((await runs()).length).toBeLessThanOrEqual(2);
  }, 90_000);

  test("hears nothing of what lies behind a link, is ignored or is left out", async () => {
    const { folder, found, write, at, runs } = await makeWatched();
    const outside = join(folder.base, "outside");
    mkdirSync(outside);
    writeFileSync(join(outside, "secret.md"), "salamander");
    symlinkSync(outside, at("docs/link"));
    symlinkSync(join(outside, "secret.md"), at("docs/link.md"));
    write(".hidden", "x");
    write("docs/id_rsa", "x");
    writeFileSync(join(outside, "secret.md"), "sloth");
    writeFileSync(join(outside, "other.md"), "sloth");
    write("docs/marker.md", "marmot");
    await found("marmot", ["docs/marker.md"]);
    await found("salamander", []);
    await found("sloth", []);
    expect((await runs()).map(({ items }) => items)).toEqual([["docs/marker.md"]]);
  });

  test("follows its connector: paused, resumed, another root, no watch, deleted", async () => {
    const kb = await makeWatched();
    const owner = kb.as(kb.owner);
    const isHeard = async (name: string, timeout = 500) => {
      const before = (await kb.runs()).length;
      kb.write(`docs/${name}.md`, name);
      const more = async () => expect((await kb.runs()).length).toBeGreaterThan(before);
      return vi.waitFor(more, { timeout, interval: 30 }).then(
        () => true,
        () => false,
      );
    };
    expect(await isHeard("one", SOON.timeout)).toBe(true);
    await owner.post(`/api/connectors/${kb.id}/pause`);
    await kb.sourceWatcher.poll();
    expect(await isHeard("two")).toBe(false);
    await owner.post(`/api/connectors/${kb.id}/resume`);
    await kb.sourceWatcher.poll();
    expect(await isHeard("three", SOON.timeout)).toBe(true);
    await owner.patch(`/api/connectors/${kb.id}`, { config: { root: kb.folder.root, watch: false } });
    await kb.sourceWatcher.poll();
    expect(await isHeard("four")).toBe(false);
    await owner.patch(`/api/connectors/${kb.id}`, { config: { root: kb.folder.root }, schedule: null });
    await kb.sourceWatcher.poll();
    expect(await isHeard("five")).toBe(false);
  });

  test("that can't be listened to says so in one line, and again only when it is tried again", async () => {
    const { log, sourceWatcher, clock, folder, found, write } = await makeWatched({ ...QUICK, maxFolders: 1 });
    const said = () =>
      log.lines.filter(({ message }) => message.includes("not watched")).map(({ fields }) => fields.reason);
    expect(said()).toEqual(["It has more than 1 folders."]);
    await sourceWatcher.poll();
    expect(said()).toHaveLength(1);
    rmSync(join(folder.root, "docs"), { recursive: true });
    write("a.md", "aardwolf");
    clock.advance(10 * 60_000);
    await sourceWatcher.poll();
    write("b.md", "bison");
    await found("bison", ["b.md"]);
    expect(said()).toHaveLength(1);
  });

  test("whose root goes away ends with one line, and nothing is removed", async () => {
    const { log, folder, found } = await makeWatched();
    renameSync(folder.root, `${folder.root}-gone`);
    const said = () =>
      log.lines.filter(({ message }) => message.includes("not watched")).map(({ fields }) => fields.reason);
    // Nothing tells of a root that was moved until something in it does.
    writeFileSync(join(`${folder.root}-gone`, "docs/a.md"), "aurochs");
    await vi.waitFor(() => expect(said()).toHaveLength(1), SOON);
    expect(said()[0]).toMatch(/can't be read now \(ENOENT\)/);
    await found("aardvark", ["docs/a.md"]);
  });
});

test("where the system watches a whole tree at once, the same is heard through one watch", async () => {
  const folder = makeFolder({ watching: { ...QUICK, isRecursive: true } });
  folder.write("docs/deep/a.md");
  const heard: ChangeNotification[] = [];
  const watch = await folder.source.watch?.(
    folder.context(),
    { include: [], exclude: [] },
    {
      notify: (notification) => void heard.push(notification),
      ended: (error) => expect.fail(String(error)),
    },
  );
  writeFileSync(join(folder.root, "docs/deep/a.md"), "more");
  await vi.waitFor(() => expect(heard).toContainEqual({ t: "items", changed: ["docs/deep/a.md"], gone: [] }), SOON);
  await watch?.stop();
  const before = heard.length;
  writeFileSync(join(folder.root, "docs/deep/a.md"), "again");
  await watch?.stop();
  expect(heard).toHaveLength(before);
});

test("changes that go on are one notification, of all of them, once it is quiet", async ({ expect }) => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const pace = { quietMs: 2_000, longestMs: 60_000 };
  const folder = makeFolder({ watching: { pace } });
  folder.write("docs/a.md");
  const heard: ChangeNotification[] = [];
  const watch = await folder.source.watch?.(
    folder.context(),
    { include: [], exclude: [] },
    { notify: (notification) => void heard.push(notification), ended: (error) => expect.fail(String(error)) },
  );
  const docs = join(folder.root, "docs");
  const names = ["a.md", "b.md", "c.md", "d.md", "e.md"];
  for (const name of names) {
    // The system tells both of us in one go.
    await new Promise<void>((resolve) => {
      const mine = watchPath(docs, (_event, changed) => {
        if (changed !== name) return;
        mine.close();
        resolve();
      });
      writeFileSync(join(docs, name), "more");
    });
    await vi.advanceTimersByTimeAsync(pace.quietMs - 1);
  }
  await vi.advanceTimersByTimeAsync(1);
  while (heard.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await watch?.stop();
  expect(heard).toEqual([{ t: "items", changed: names.map((name) => `docs/${name}`), gone: [] }]);
}, 20_000);
