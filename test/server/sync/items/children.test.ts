import { inMemory } from "../../../spool.ts";
import * as fc from "fast-check";
import { describe, test } from "vitest";
import { isInside, isChildId, outermostId, parentOfChild, childExternalId } from "#core/child-ids.ts";
import type { SourceAccess } from "#core/principals.ts";
import type { SourceItem } from "#sources/item.ts";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { analyzeDocument } from "#text/analyzer.ts";
import { extractInProcess } from "#extract/extract.ts";
import { DEFAULT_EXTRACT_LIMITS } from "#extract/limits.ts";
import { makeChildRules } from "#sources/file-scope/child-rules.ts";
import { makeZip } from "../../../extract/zip-files.ts";
import { makeChildOpener } from "#server/sync/items/open-child.ts";
import { CONNECTOR, end, type Harness, item, listing, makeHarness, withBatches, WORKSPACE } from "../harness.ts";
import { bytesOf, type Tree, treeExtractor } from "../tree-files.ts";
import { verifies } from "../../../requirements.ts";

const OPEN: SourceAccess = { known: true, all: [["workspace"]] };
const ANA: SourceAccess = { known: true, all: [["user:usr_ana"]] };

/** A folder of such files; what is read is noted. */
async function makeFolder(files: Record<string, Tree>, more: Partial<SourceItem> = {}) {
  const state = { files, reads: [] as string[], extracted: [] as string[], archives: [] as string[], access: OPEN };
  const items = (): SourceItem[] =>
    Object.entries(state.files).map(([id, tree]) =>
      item(id, JSON.stringify(tree), { content: { type: "fetch" }, access: state.access, ...more }),
    );
  const extractor = treeExtractor(({ fileName, readsArchives }) => {
    state.extracted.push(fileName);
    if (readsArchives === true) state.archives.push(fileName);
  });
  const kb = await makeHarness(listing(items), { extractor });
  kb.source.fetchContent = async (_ctx, { externalId }) => {
    state.reads.push(externalId);
    return { bytes: bytesOf(state.files[externalId]), fileName: externalId };
  };
  return { kb, state };
}

/** The same for what a source says, run by run. */
async function makeScripted(files: Record<string, Tree>) {
  const state = { events: [] as SyncEvent[] };
  const kb = await makeHarness(() => state.events, { extractor: treeExtractor() });
  kb.source.fetchContent = async (_ctx, { externalId }) => ({
    bytes: bytesOf(files[externalId]),
    fileName: externalId,
  });
  const all = (access = OPEN): SyncEvent[] =>
    Object.keys(files).map((id) => ({ t: "upsert", item: item(id, "", { content: { type: "fetch" }, access }) }));
  return { kb, state, all };
}

const living = async (kb: Harness) => (await kb.items()).filter((row) => row.removedAt === null);
const ids = async (kb: Harness) => (await living(kb)).map((row) => row.externalId);
const kbIdsOf = async (kb: Harness) => new Map((await kb.items()).map((row) => [row.externalId, row.kbId]));

describe("files inside a file", () => {
  test("are items of their own: under the file's path, with its access, and theirs below them", async ({ expect }) => {
    const { kb } = await makeFolder(
      {
        "m.eml": {
          text: "mail",
          children: { "docs/a.txt": "alpha", "b.eml": { text: "inner", children: { c: "gamma" } } },
        },
      },
      { path: ["Inbox"], url: "https://x.test/m", title: "Mail" },
    );
    const sync = await kb.sync();
    expect(sync.counts).toMatchObject({ seen: 4, upserted: 4, failed: 0 });
    const rows = await kb.database.read
      .selectFrom("items")
      .select(["externalId", "parentExternalId", "title", "path", "url", "kind", "aclId"])
      .orderBy("externalId")
      .execute();
    const aclId = rows[0]?.aclId;
    const shared = { url: "https://x.test/m", kind: "file", aclId };
    expect(rows).toEqual([
      { ...shared, externalId: "m.eml", parentExternalId: null, title: "Mail", path: '["Inbox"]' },
      { ...shared, externalId: "m.eml!//b.eml", parentExternalId: "m.eml", title: "b.eml", path: '["Inbox","Mail"]' },
      {
        ...shared,
        externalId: "m.eml!//b.eml!//c",
        parentExternalId: "m.eml!//b.eml",
        title: "c",
        path: '["Inbox","Mail","b.eml"]',
      },
      {
        ...shared,
        externalId: "m.eml!//docs/a.txt",
        parentExternalId: "m.eml",
        title: "a.txt",
        path: '["Inbox","Mail","docs"]',
      },
    ]);
  });

  test("stay alive with an unchanged file, which is not read for it", async ({ expect }) => {
    const { kb, state } = await makeFolder({ m: { text: "mail", children: { a: "alpha" } }, n: "plain" });
    await kb.sync();
    const before = await kb.items();
    state.reads = [];
    expect((await kb.sync()).counts).toMatchObject({ seen: 3, unchanged: 3, upserted: 0, deleted: 0 });
    expect(state.reads).toEqual([]);
    expect(await kb.items()).toEqual(before);
  });

  test("that are the same in a new version are not even read, those gone go, and kbIds stay", async ({ expect }) => {
    const { kb, state } = await makeFolder({
      m: { text: "one", children: { a: "alpha", b: "beta", z: { text: "zip", children: { y: "deep", x: "deeper" } } } },
    });
    await kb.sync();
    const before = await kbIdsOf(kb);
    state.extracted = [];
    state.files = {
      m: {
        text: "two",
        children: { a: "alpha", b: "beta changed", z: { text: "zip", children: { y: "deep" } }, n: "new" },
      },
    };
    const { counts } = await kb.sync();
    expect(state.extracted).toEqual(["m", "b", "z", "n"]);
    expect(counts).toMatchObject({ upserted: 3, unchanged: 3, deleted: 1, failed: 0 });
    expect(await ids(kb)).toEqual(["m", "m!//a", "m!//b", "m!//n", "m!//z", "m!//z!//y"]);
    const after = await kbIdsOf(kb);
    for (const [id, kbId] of before) expect(after.get(id)).toBe(kbId);
  });

  test("go with the file, by the sweep and by a delete, and come back with their kbIds", async ({ expect }) => {
    const file: Tree = { text: "mail", children: { a: "alpha", z: { text: "zip", children: { y: "deep" } } } };
    const { kb, state } = await makeFolder({ m: file, n: "stays" });
    await kb.sync();
    const before = await kbIdsOf(kb);
    state.files = { n: "stays" };
    await kb.sync();
    expect(await ids(kb)).toEqual(["n"]);
    state.files = { m: file, n: "stays" };
    await kb.sync();
    expect(await kbIdsOf(kb)).toEqual(before);
    expect(await ids(kb)).toEqual(["m", "m!//a", "m!//z", "m!//z!//y", "n"]);
    const second = await makeScripted({ m: file, n: "stays" });
    second.state.events = [...second.all(), end()];
    await second.kb.sync();
    second.state.events = [{ t: "delete", externalId: "m" }, end(false)];
    await second.kb.sync("incremental");
    expect(await ids(second.kb)).toEqual(["n"]);
  });

  test("go when the file can be read and holds nothing any more, without asking the guard", async ({ expect }) => {
    const children = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`p${i}`, `text ${i}`]));
    const { kb, state } = await makeFolder({ m: { text: "many", children } });
    await kb.sync();
    expect(await ids(kb)).toHaveLength(61);
    state.files = { m: "none" };
    expect((await kb.sync()).counts).toMatchObject({ deleted: 60 });
    expect(await ids(kb)).toEqual(["m"]);
  });

  test("stay when the file can't be read this time", async ({ expect }) => {
    const { kb, state } = await makeFolder({ m: { text: "mail", children: { a: "alpha" } } });
    await kb.sync();
    state.files = { m: "LATER" };
    await kb.sync();
    expect(await living(kb)).toMatchObject([
      { externalId: "m", indexState: "failed" },
      { externalId: "m!//a", indexState: "indexed" },
    ]);
  });

  test("that fail are tried again with the file, which keeps no version until then", async ({ expect }) => {
    const { kb, state } = await makeFolder({ m: { text: "mail", children: { a: "LATER", b: "beta" } } });
    await kb.sync();
    expect(await living(kb)).toMatchObject([
      { externalId: "m", indexState: "indexed", version: null },
      { externalId: "m!//a", indexState: "failed" },
      { externalId: "m!//b", indexState: "indexed" },
    ]);
    state.extracted = [];
    await kb.sync();
    expect(state.extracted).toEqual(["m", "a"]);
  });

  test("follow a file that was renamed, with their kbIds", async ({ expect }) => {
    const file: Tree = { text: "mail", children: { a: "alpha", z: { text: "zip", children: { y: "deep" } } } };
    const { kb, state } = await makeFolder({ "old.eml": file }, { identityHint: "1:7" });
    await kb.sync();
    const before = (await living(kb)).map((row) => row.kbId);
    state.files = { "new.eml": file };
    await kb.sync();
    expect(await ids(kb)).toEqual(["new.eml", "new.eml!//a", "new.eml!//z", "new.eml!//z!//y"]);
    expect((await living(kb)).map((row) => row.kbId)).toEqual(before);
    expect(await kb.items()).toHaveLength(4);
  });

  test("go with the file out of the scope, and only with it", async ({ expect }) => {
    const children = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`p${i}`, `text ${i}`]));
    const { kb, state } = await makeFolder({ m: { text: "mail", children } });
    await kb.sync();
    const scope = { include: ["anything"], exclude: [] };
    await kb.store.in(WORKSPACE).connectors.update(CONNECTOR, { scope });
    kb.source.inScope = (_scope, { externalId }) => externalId === "m";
    await kb.sync("full");
    expect(await ids(kb)).toHaveLength(41);
    state.files = {};
    kb.source.inScope = () => false;
    await kb.sync("full");
    // At once and without the guard, which would have held as many.
    expect(await ids(kb)).toEqual([]);
  });

  test("are refused by name where the source says so, and left out beyond a thousand", async ({ expect }) => {
    const children = Object.fromEntries(Array.from({ length: 1_010 }, (_, i) => [`p${i}`, "x"]));
    const { kb } = await makeFolder({ m: { text: "many", children: { "keys/id_rsa": "key", ...children } } });
    kb.source.childRules = () => ({
      archives: true,
      refuse: (path) => (path.endsWith("id_rsa") ? { reason: "excluded_by_policy", message: "A key." } : undefined),
    });
    const { counts, syncId } = await kb.sync();
    expect(counts).toMatchObject({ upserted: 1_001, skipped: 2, failed: 0 });
    expect(await kb.store.in(WORKSPACE).syncs.listSkips(syncId)).toMatchObject([
      {
        externalId: "m",
        reason: "too_large",
        message: expect.stringMatching(/^10 of the files inside it were left out/u),
      },
      { externalId: "m!//keys/id_rsa", reason: "excluded_by_policy" },
    ]);
  });

  test("in archives are read only where the source says so, and two archives deep", async ({ expect }) => {
    const nested = (depth: number): Tree => ({
      text: "z",
      children: depth === 0 ? {} : { [`z${depth}`]: nested(depth - 1) },
    });
    const { kb, state } = await makeFolder({ z: nested(6) });
    await kb.sync();
    expect(state).toMatchObject({ extracted: ["z", "z6", "z5", "z4", "z3"], archives: [] });
    kb.source.childRules = () => ({ archives: true });
    state.files = { z: { text: "new", children: { a: nested(6) } } };
    await kb.sync();
    expect(state.archives).toEqual(["z", "a"]);
  });

  test("an item of a source can't take the id of a part", async ({ expect }) => {
    const { kb } = await makeFolder({ "a!//b": "text", "a!/b": "fine" });
    expect(await kb.sync()).toMatchObject({ counts: { failed: 1, upserted: 1 } });
    expect(await ids(kb)).toEqual(["a!/b"]);
  });
});

describe("the access of files inside a file", () => {
  const file: Tree = { text: "mail", children: { z: { text: "zip", children: { y: "deep" } } } };

  verifies(
    "extract:parts-access",
    "follows the file's in the same transaction, also when it is not read again",
    async ({ expect }) => {
      const { kb, state, all } = await makeScripted({ m: file });
      const aclIds = async () => (await living(kb)).map((row) => row.aclId);
      state.events = [...all(), end()];
      await kb.sync();
      const open = await aclIds();
      expect(new Set(open).size).toBe(1);
      expect(open).toHaveLength(3);
      // Between the event and the end of the run nothing else is said: it is one op, so one transaction.
      state.events = [{ t: "access", externalId: "m", access: ANA }, end(false)];
      await kb.sync("incremental");
      const narrowed = await aclIds();
      expect(new Set(narrowed).size).toBe(1);
      expect(narrowed[0]).not.toBe(open[0]);
      state.events = [{ t: "access", externalId: "m", access: { known: false } }, end(false)];
      await kb.sync("incremental");
      expect(await aclIds()).toEqual([0, 0, 0]);
      expect((await living(kb)).map((row) => row.indexState)).toEqual(Array(3).fill("unsearchable"));
      state.events = [...all(ANA), end()];
      await kb.sync();
      expect(await aclIds()).toEqual(narrowed);
    },
  );

  test("is the file's whatever is flipped, moved or read again", async ({ expect }) => {
    const step = fc.record({
      files: fc.subarray(["m", "n"], { minLength: 1 }),
      access: fc.constantFrom(OPEN, ANA),
      text: fc.constantFrom("one", "two"),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 4 }), async (steps) => {
        const { kb, state } = await makeFolder({ m: file, n: file });
        for (const { files, access, text } of steps) {
          state.access = access;
          const tree: Tree = { ...file, text };
          state.files = Object.fromEntries(files.map((name) => [name, tree]));
          await kb.sync("full");
          const rows = await living(kb);
          const aclOf = new Map(rows.map((row) => [row.externalId, row.aclId]));
          for (const row of rows) expect(row.aclId).toBe(aclOf.get(outermostId(row.externalId)));
          expect(rows).toHaveLength(files.length * 3);
        }
      }),
      { numRuns: 8 },
    );
  });
});

describe("the id of a part", () => {
  test("is never that of a path, of another part, or of a part of another file", ({ expect }) => {
    const digest = (text: string) => Buffer.from(text).toString("hex");
    const name = fc.string({ unit: fc.constantFrom("a", "!", "/", "b"), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(name, name, name, name, (parent, id, other, otherId) => {
        fc.pre(!isChildId(parent) && !isChildId(other));
        const made = childExternalId(parent, id, digest);
        expect(isChildId(made)).toBe(true);
        expect(parentOfChild(made)).toBe(parent);
        expect(isInside(parent, made)).toBe(true);
        expect(childExternalId(other, otherId, digest) === made).toBe(parent === other && id === otherId);
        const inner = childExternalId(made, otherId, digest);
        expect([parentOfChild(inner), outermostId(inner)]).toEqual([made, parent]);
      }),
    );
  });
});

describe("the bytes of a file inside a file", () => {
  const file = { text: "mail", children: { "a/b.txt": "alpha", z: { text: "zip", children: { y: "deep" } } } };
  const open = makeChildOpener(treeExtractor());
  const read = async (id: string) => {
    const found = await open(WORKSPACE, { bytes: bytesOf(file), fileName: "m" }, id);
    return [found.fileName, JSON.parse(new TextDecoder().decode(inMemory(found.bytes)))];
  };

  test("are read out of the file again, at any depth", async ({ expect }) => {
    expect(await read("m!//a/b.txt")).toEqual(["b.txt", "alpha"]);
    expect(await read("m!//z!//y")).toEqual(["y", "deep"]);
  });

  test("are gone when the file has another content now", async ({ expect }) => {
    await expect(read("m!//z!//x")).rejects.toMatchObject({ code: "source_not_found" });
    await expect(read("m!//a")).rejects.toMatchObject({ code: "source_not_found" });
  });
});

describe("a run that ends in the middle of a file's parts", () => {
  const children = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`p${i}`, `text ${i}`]));
  const changed = Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`p${i + 3}`, `text ${i % 2} of ${i}`]));

  test("leaves a file that is read again, and then all is as if nothing had been", async ({ expect }) => {
    const wanted = await endState(Number.POSITIVE_INFINITY);
    for (const batches of [0, 1, 2, 9, 25]) expect([batches, await endState(batches)]).toEqual([batches, wanted]);

    /** The digest after a second state of the file, whose run could store only so many batches at first. */
    async function endState(batches: number): Promise<string> {
      const { kb, state } = await makeFolder({ m: { text: "many", children }, n: "other" });
      await kb.sync();
      state.files = { m: { text: "many changed", children: changed }, n: "other" };
      kb.clock.now += 1_000;
      let left = batches;
      const store = withBatches(kb.store, () => left-- > 0);
      await kb.request("full");
      // Time flies, so that every op goes in a batch of its own.
      await kb.makeWorker({ store, now: () => (kb.clock.now += 2_000) }).runUntilIdle();
      if (batches < 9) expect((await kb.items()).find((row) => row.externalId === "m!//p32")).toBeUndefined();
      kb.clock.now += 60_000;
      await kb.sync("full");
      return kb.digest();
    }
  });
});

test("a mail with an archive in it, as the extractor reads it", async ({ expect }) => {
  const zip = Buffer.from(makeZip({ "docs/tides.txt": "high at noon", ".env": "KEY=1" })).toString("base64");
  const mail = `From: Ana <ana@one.test>\r\nTo: Bo <bo@two.test>\r\nSubject: Tides\r\nDate: Tue, 5 Mar 2024 10:11:12 +0000\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\n\r\nSee the file.\r\n--b\r\nContent-Type: application/zip; name=a.zip\r\nContent-Transfer-Encoding: base64\r\n\r\n${zip}\r\n--b\r\nContent-Type: message/rfc822\r\n\r\nFrom: Cy <cy@three.test>\r\nSubject: Re: moon\r\nDate: Wed, 6 Mar 2024 10:11:12 +0000\r\n\r\nFull on Friday.\r\n--b--\r\n`;
  const kb = await makeHarness(
    listing(() => [item("m.eml", mail, { hasFileTitle: true, content: { type: "fetch" } })]),
    {
      extractor: {
        extract: (request) =>
          extractInProcess({ ...request, bytes: inMemory(request.bytes) }, DEFAULT_EXTRACT_LIMITS, {
            analyze: analyzeDocument,
            now: () => 0,
            cpuMs: () => 0,
          }),
      },
    },
  );
  kb.source.fetchContent = async () => ({ bytes: new TextEncoder().encode(mail), fileName: "m.eml" });
  kb.source.childRules = () => makeChildRules({ archives: true, secretFiles: false });
  expect(await kb.sync()).toMatchObject({ counts: { upserted: 4, skipped: 1, failed: 0 } });
  const rows = await kb.database.read
    .selectFrom("items")
    .select(["externalId", "kind", "title", "updatedAt", "textReason"])
    .orderBy("externalId")
    .execute();
  expect(rows.map(({ externalId, kind, title, textReason }) => [externalId, kind, title, textReason])).toEqual([
    ["m.eml", "message", "Tides", null],
    ["m.eml!//1/a.zip", "file", "a.zip", null],
    ["m.eml!//1/a.zip!//docs/tides.txt", "file", "tides.txt", null],
    ["m.eml!//2/Re: moon.eml", "message", "Re: moon", null],
  ]);
  expect(rows[3]?.updatedAt).toBe(Date.parse("2024-03-06T10:11:12Z"));
  const people = await kb.database.read
    .selectFrom("item_entities")
    .select(["name", "email", "role", "claimed"])
    .orderBy("name")
    .execute();
  expect(people).toEqual([
    { name: "Ana", email: "ana@one.test", role: "author", claimed: 1 },
    { name: "Bo", email: "bo@two.test", role: "participant", claimed: 1 },
    { name: "Cy", email: "cy@three.test", role: "author", claimed: 1 },
  ]);
});
