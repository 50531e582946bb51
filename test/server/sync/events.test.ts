import { describe, test } from "vitest";
import type { SourceContainer } from "#sources/item.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { accessKeyOf } from "#core/access-key.ts";
import { CONNECTOR, end, type Harness, item, makeHarness, upsert, WORKSPACE } from "./harness.ts";

const folder = (id: string, parentId?: string): SourceContainer => ({
  type: "folder",
  id,
  name: id,
  isHome: true,
  ...(parentId !== undefined && { parentId }),
});

/** An item in a folder, and in those above it. */
function inFolder(externalId: string, path: string, text = externalId): SyncEvent {
  const segments = path.split("/");
  const containers = segments.map((_, i) => {
    const parentId = segments.slice(0, i).join("/");
    return folder(segments.slice(0, i + 1).join("/"), parentId === "" ? undefined : parentId);
  });
  return upsert(externalId, text, { containers });
}

async function living(kb: Harness): Promise<string[]> {
  return (await kb.items()).filter((row) => row.removedAt === null).map((row) => row.externalId);
}

/** What each run says, one after another. */
async function makeRuns(...runs: Parameters<typeof makeHarness>[0][]): Promise<Harness> {
  let at = 0;
  return makeHarness((run, signal) => runs[at++]?.(run, signal) ?? []);
}

const partly: SyncEvent = { t: "end", listing: "partial", permissions: "not_checked" };

describe("a removed container", () => {
  test("takes along all that lives in it at any depth, with its parts, and nothing else", async ({ expect }) => {
    const kb = await makeRuns(
      () => [
        inFolder("1", "a"),
        inFolder("2", "a/b"),
        inFolder("3", "ab"),
        upsert("part", "text", { partOf: "2" }),
        upsert("plain", "text"),
        end(),
      ],
      () => [{ t: "delete_container", type: "folder", id: "a" }, partly],
    );
    await kb.sync();
    const { counts } = await kb.sync("incremental");
    expect(await living(kb)).toEqual(["3", "plain"]);
    expect(counts.deleted).toBe(3);
  });

  test("takes along nothing that only shows it: a label, an assignee, a second folder, an item of that id", async ({
    expect,
  }) => {
    const shown: SourceContainer = { type: "label", id: "urgent", name: "Urgent" };
    const kb = await makeRuns(
      () => [
        upsert("1", "text", {
          labels: ["urgent"],
          assignees: [{ name: "Ana", principal: "user:usr_2222222222222222", claimed: false }],
          containers: [
            { type: "project", id: "10", name: "Ten", isHome: true },
            shown,
            { type: "folder", id: "x", name: "x" },
          ],
        }),
        upsert("10", "an issue with the id of a project"),
        end(),
      ],
      () => [
        { t: "delete_container", type: "label", id: "urgent" },
        { t: "delete_container", type: "folder", id: "x" },
        { t: "delete_container", type: "folder", id: "10" },
        { t: "delete", externalId: "10" },
        partly,
      ],
      () => [{ t: "delete_container", type: "project", id: "10" }, partly],
    );
    await kb.sync();
    await kb.sync("incremental");
    expect(await living(kb)).toEqual(["1"]);
    await kb.sync("incremental");
    expect(await living(kb)).toEqual([]);
  });

  test("leaves what the run has said to live elsewhere", async ({ expect }) => {
    const kb = await makeRuns(
      () => [inFolder("1", "a"), inFolder("2", "a"), end()],
      () => [inFolder("1", "b", "moved"), { t: "delete_container", type: "folder", id: "a" }, partly],
    );
    await kb.sync();
    await kb.sync("incremental");
    expect(await living(kb)).toEqual(["1"]);
  });

  test("is held as a whole when that is suspiciously much", async ({ expect }) => {
    const kb = await makeRuns(
      () => [...Array.from({ length: 60 }, (_, i) => inFolder(`f${i}`, i < 50 ? "a" : "b")), end()],
      () => [{ t: "delete_container", type: "folder", id: "a" }, partly],
    );
    await kb.sync();
    await kb.sync("incremental");
    expect(await kb.store.in(WORKSPACE).itemWrites.countStates(CONNECTOR)).toMatchObject({ indexed: 10, held: 50 });
  });
});

test("a container that is seen keeps what lives in it, and lets go what was held", async ({ expect }) => {
  const all = Array.from({ length: 60 }, (_, i) => inFolder(`f${i}`, i < 50 ? "a/x" : "b"));
  const kb = await makeRuns(
    () => [...all, upsert("part", "text", { partOf: "f0" }), end()],
    () => [{ t: "seen", externalIds: [], container: { type: "folder", id: "b" } }, end()],
    () => [{ t: "seen", externalIds: ["f55"], container: { type: "folder", id: "a" } }, end()],
  );
  await kb.sync();
  const states = () => kb.store.in(WORKSPACE).itemWrites.countStates(CONNECTOR);
  await kb.sync("full");
  expect(await states()).toMatchObject({ indexed: 10, held: 51 });
  const { counts } = await kb.sync("full");
  // The nine others of `b` are gone: twenty may go in a day.
  expect(await states()).toMatchObject({ indexed: 52, held: 0 });
  expect(counts).toMatchObject({ seen: 52, unchanged: 52, deleted: 9 });
});

test("the state of a source is stored with the next checkpoint, and dies with a run that has none", async ({
  expect,
}) => {
  const got: unknown[] = [];
  const kb = await makeRuns(
    async function* ({ state }) {
      state.put("a", { n: 1 });
      state.put("b", "gone");
      expect(await state.get("a")).toEqual({ n: 1 });
      yield { t: "checkpoint", cursor: 1 };
      state.put("a", { n: 2 });
      state.put("b", undefined);
      throw new Error("The source broke.");
    },
    async function* ({ state }) {
      got.push(await state.get("a"), await state.get("b"), await state.get("none"));
      expect(() => state.put("a", "x".repeat(65_537))).toThrow(/65536/u);
      state.put("b", undefined);
      yield { t: "checkpoint", cursor: 2 };
      got.push(await state.get("b"));
      yield end();
    },
  );
  await kb.sync();
  expect(await kb.store.in(WORKSPACE).itemWrites.findState(CONNECTOR, "a")).toBe('{"n":1}');
  expect((await kb.sync()).state).toBe("succeeded");
  expect(got).toEqual([{ n: 1 }, "gone", undefined, undefined]);
  expect(await kb.store.in(WORKSPACE).itemWrites.findState(CONNECTOR, "b")).toBeUndefined();
});

test("a source asks for versions, accesses and containers of what is stored", async ({ expect }) => {
  const access = { known: true, all: [["workspace", "everyone"], ["user:usr_2222222222222222"]] } as const;
  const found: unknown[] = [];
  const kb = await makeRuns(
    () => [
      inFolder("1", "a"),
      upsert("2", "text", { access }),
      upsert("3", "text", { access: { known: false } }),
      end(),
    ],
    async function* ({ stored }) {
      for (const id of ["1", "2", "3", "none"]) found.push([id, await stored.version(id), await stored.accessKey(id)]);
      for await (const each of stored.list({ type: "folder", id: "a" })) found.push(each);
      yield partly;
    },
  );
  await kb.sync();
  await kb.sync("incremental");
  const [one, two] = [item("1", "1").version, item("2", "text").version];
  const swapped = { known: true, all: [["user:usr_2222222222222222"], ["everyone", "workspace"]] } as const;
  expect(found).toEqual([
    ["1", one, accessKeyOf({ known: true, all: [["workspace"]] })],
    ["2", two, accessKeyOf(swapped)],
    ["3", two, accessKeyOf({ known: false })],
    ["none", undefined, undefined],
    { externalId: "1", version: one },
  ]);
});

describe("content of another version than the listed one", () => {
  const listed = (version: string): SyncEvent =>
    upsert("a", "unused", {
      version,
      content: { type: "fetch", ref: `ref of ${version}` },
      access: accesses[version] ?? { known: false },
    });
  const accesses: Record<string, { known: true; all: string[][] }> = {
    1: { known: true, all: [["workspace"]] },
    2: { known: true, all: [["user:usr_2222222222222222"]] },
  };

  /** A source whose content is of another version than the one it lists, until it is listed again. */
  async function makeMoving(acl: "per_item" | "connector") {
    const asked: unknown[] = [];
    let now = "1";
    const kb = await makeHarness((run) => [listed(run.mode === "items" ? now : "1"), end(run.mode === "full")]);
    kb.source.spec = { ...kb.source.spec, acl };
    kb.source.fetchContent = async (_ctx, which) => {
      asked.push(which);
      return { stream: inTwo(`secret of ${now}`), fileName: "a", version: now };
    };
    return { kb, asked, become: (version: string) => void (now = version) };
  }

  async function* inTwo(text: string) {
    yield Buffer.from(text.slice(0, 3));
    yield Buffer.from(text.slice(3));
  }

  async function textOf(kb: Harness): Promise<string> {
    const rows = await kb.database.read.selectFrom("item_texts").select("text").execute();
    return rows.map(({ text }) => text).join("");
  }

  test("is not stored, and the item is listed again with who may read that one", async ({ expect }) => {
    const { kb, asked, become } = await makeMoving("per_item");
    become("2");
    expect((await kb.sync()).state).toBe("succeeded");
    expect(await kb.items()).toEqual([]);
    expect(await textOf(kb)).toBe("");
    kb.clock.now += 6_000;
    await kb.worker.runUntilIdle();
    expect(await textOf(kb)).toBe("secret of 2");
    expect(await kb.items()).toMatchObject([{ externalId: "a", version: "2" }]);
    expect(asked).toEqual([
      { externalId: "a", ref: "ref of 1", version: "1" },
      { externalId: "a", ref: "ref of 2", version: "2" },
    ]);
    expect(await kb.database.read.selectFrom("relist_items").selectAll().execute()).toEqual([]);
  });

  test("leaves what is stored as it is until then, and is given up after some tries", async ({ expect }) => {
    const { kb, asked, become } = await makeMoving("per_item");
    await kb.sync();
    let version = 1;
    kb.source.fetchContent = async () => {
      version++;
      asked.push(version);
      return { bytes: Buffer.from("newer"), fileName: "a", version: String(version) };
    };
    become("1");
    await kb.store.in(WORKSPACE).itemWrites.forgetVersions(CONNECTOR);
    await kb.sync("full");
    expect(await textOf(kb)).toBe("secret of 1");
    for (let i = 0; i < 12; i++) {
      kb.clock.now += 600_000;
      await kb.worker.runUntilIdle();
    }
    expect(await textOf(kb)).toBe("secret of 1");
    expect(asked).toHaveLength(7);
    expect(await kb.database.read.selectFrom("relist_items").selectAll().execute()).toEqual([]);
  });

  test("is stored as what it is where the connector says who may read it", async ({ expect }) => {
    const { kb, become } = await makeMoving("connector");
    become("2");
    await kb.sync();
    expect(await kb.items()).toMatchObject([{ externalId: "a", version: "2" }]);
    expect(await textOf(kb)).toBe("secret of 2");
  });
});

test("scope rules judge a stored item by its containers, path and place", async ({ expect }) => {
  const kb = await makeRuns(
    () => [inFolder("1", "a/b"), upsert("2", "text", { path: ["x"], place: "there" }), end()],
    () => [inFolder("1", "a/b"), upsert("2", "text", { path: ["x"], place: "there" }), end()],
  );
  await kb.sync();
  const judged: unknown[] = [];
  kb.source.inScope = (_scope, stored) => {
    judged.push(stored);
    return !stored.containers.some(({ type, id }) => type === "folder" && id === "a");
  };
  await kb.store.in(WORKSPACE).connectors.update(CONNECTOR, { scope: { include: [], exclude: ["a"] } });
  await kb.sync("full");
  expect(judged).toEqual([
    {
      externalId: "1",
      path: [],
      place: "Things",
      containers: expect.arrayContaining([
        { type: "folder", id: "a" },
        { type: "folder", id: "a/b" },
      ]),
    },
    { externalId: "2", path: ["x"], place: "there", containers: [] },
  ]);
});
