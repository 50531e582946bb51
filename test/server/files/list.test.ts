import * as fc from "fast-check";
import { describe, onTestFinished, test } from "vitest";
import { makeSearchPool } from "#storage/index/read/pool.ts";
import { makeFileService } from "#server/files/service.ts";
import { makeCursorCodec } from "#server/http/cursor.ts";
import { linksOf } from "#server/connectors/sources.ts";
import { makeSourceRegistry } from "#sources/registry.ts";
import { NO_NETWORK } from "../../network.ts";
import type { TextReason } from "#api/common.ts";
import type { FileListQuery } from "#api/files.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { SearchIndex } from "#storage/search-index.ts";
import { makeWorld, type World } from "../../storage/access/fixtures.ts";
import { runs } from "../../runs.ts";

const query = (more: Partial<FileListQuery> = {}): FileListQuery => ({ sort: "updatedAt", limit: 50, ...more });

const unasked = (): never => {
  throw new Error("Nothing is pushed.");
};

const SOURCES = makeSourceRegistry({
  allowedRoots: async () => [],
  dataFolder: "/nowhere",
  isOpenToStrangers: false,
  guard: NO_NETWORK,
  searchPath: "",
});
const KINDS = (await SOURCES.list()).map(linksOf);

function filesOf(world: World, index: Pick<SearchIndex, "find"> = { find: async () => undefined }) {
  return makeFileService({
    kinds: KINDS,
    store: world.store,
    policy: world.policy,
    index,
    cursors: makeCursorCodec(new Uint8Array(32), world.clock),
    fetchOriginal: async () => undefined,
    baseUrl: "https://kb.test",
    audit: { record: async () => {}, recordSystem: async () => {}, makeSystemRow: unasked },
  });
}

async function allPages(
  world: World,
  actor: Actor,
  first: FileListQuery,
): Promise<{ ids: string[]; totals: number[] }> {
  const files = filesOf(world);
  const ids: string[] = [];
  const totals: number[] = [];
  let cursor: string | null = null;
  do {
    const page = await files.list(actor, { ...first, ...(cursor !== null && { cursor }) });
    ids.push(...page.files.map((file) => file.kbId));
    totals.push(page.total);
    cursor = page.nextCursor;
    if (cursor !== null && cursor.length > 28) throw new Error("cursor too long");
  } while (cursor !== null);
  return { ids, totals };
}

describe("the list of items", () => {
  test("pages give exactly the visible items that fit, each once, in order, with one exact total", async ({
    expect,
  }) => {
    const world = await makeWorld();
    const wsp = await world.workspace();
    const ana = await world.user(wsp);
    const cons = [
      await world.connector(wsp, { providerId: "filesystem" }),
      await world.connector(wsp, { providerId: "push", members: [`user:${ana.userId}`] }),
      await world.connector(wsp, { members: ["group:grp_others"] }),
    ];
    interface Row {
      kbId: string;
      con: string;
      title: string;
      updatedAt: number | null;
      kind: string;
      open: boolean;
      textReason: TextReason | null;
    }
    const rows: Row[] = [];
    for (let i = 0; i < 90; i++) {
      const con = cons[i % 3] ?? "";
      const isForAna = i % 5 !== 0;
      const row = {
        con,
        title: `${i % 2 ? "Plan" : "plan 100%"} ${String.fromCharCode(65 + (i % 7))}`,
        updatedAt: i % 11 === 0 ? null : i % 13 === 0 ? -5_000 * i : 1_000 * (i % 17),
        kind: i % 4 === 0 ? ("task" as const) : ("file" as const),
        open: isForAna && i % 3 !== 2,
        textReason: i % 6 !== 0 ? null : i % 12 === 0 ? ("empty" as const) : ("too_large" as const),
      };
      const kbId = await world.item(wsp, {
        connectorId: con,
        title: row.title,
        updatedAt: row.updatedAt,
        kind: row.kind,
        source: i % 3 === 0 ? "filesystem:Docs" : "push:things",
        indexState: i % 6 === 0 ? "unsearchable" : "indexed",
        textReason: row.textReason,
        access: { known: true, all: [[isForAna ? `user:${ana.userId}` : "user:usr_other"]] },
        removedAt: i % 19 === 0 ? 1 : null,
      });
      if (i % 19 !== 0) rows.push({ kbId, ...row });
    }
    const cases: [Partial<FileListQuery>, (row: Row) => boolean][] = [
      [{}, () => true],
      [{ sort: "title" }, () => true],
      [{ kind: "task" }, (row) => row.kind === "task"],
      [{ providerId: "push" }, (row) => row.con === cons[1]],
      [{ connectorId: cons[0] ?? "" }, (row) => row.con === cons[0]],
      [{ connectorId: cons[2] ?? "" }, () => false],
      [{ source: "push:things", sort: "title" }, (row) => row.con === cons[1]],
      [{ textReason: "empty" }, (row) => row.textReason === "empty"],
      [{ indexState: "unsearchable", textReason: "failed" }, () => false],
      [{ q: "100%" }, (row) => row.title.includes("100%")],
      [{ q: "PLAN A", sort: "title" }, (row) => row.title.toLowerCase().includes("plan a")],
    ];
    for (const [filter, fits] of cases) {
      for (const limit of [1, 7, 200]) {
        const expected = rows.filter((row) => row.open && fits(row));
        const byTitle = filter.sort === "title";
        expected.sort((a, b) => {
          const [x, y] = byTitle
            ? [a.title.toLowerCase(), b.title.toLowerCase()]
            : [b.updatedAt ?? -1e15, a.updatedAt ?? -1e15];
          return x < y ? -1 : x > y ? 1 : a.kbId < b.kbId === byTitle ? -1 : 1;
        });
        const { ids, totals } = await allPages(world, ana, query({ ...filter, limit }));
        expect(ids, JSON.stringify({ filter, limit })).toEqual(expected.map((row) => row.kbId));
        expect(new Set(totals)).toEqual(new Set([expected.length]));
      }
    }
  });

  test("counts by source hold visible items only; waiting removals count as searchable", async ({ expect }) => {
    const world = await makeWorld();
    const wsp = await world.workspace();
    const ana = await world.user(wsp);
    const con = await world.connector(wsp);
    for (const indexState of ["indexed", "indexed", "held", "unsearchable", "failed"] as const) {
      await world.item(wsp, { connectorId: con, indexState });
    }
    await world.item(wsp, { connectorId: con, kind: "page" });
    await world.item(wsp, { connectorId: con, kind: "page", access: { known: false } });
    await world.item(wsp, {
      connectorId: con,
      source: "filesystem:Hidden",
      access: { known: true, all: [["user:x"]] },
    });
    expect(await filesOf(world).countBySource(ana)).toEqual({
      counts: [
        { source: "filesystem:Docs", providerId: "filesystem", kind: "file", indexed: 3, unsearchable: 2 },
        { source: "filesystem:Docs", providerId: "filesystem", kind: "page", indexed: 1, unsearchable: 0 },
      ],
    });
  });

  test("a connector's list: its owner and admins know of it, others only through an item they see", async ({
    expect,
  }) => {
    const world = await makeWorld();
    const wsp = await world.workspace();
    const [ana, bo, admin] = [await world.user(wsp), await world.user(wsp), await world.user(wsp, "admin")];
    const con = await world.connector(wsp, { ownerUserId: ana.userId, members: [`user:${bo.userId}`] });
    await world.item(wsp, { connectorId: con, access: { known: false } });
    const files = filesOf(world);
    const { connectorId: _none, ...ofConnector } = query();
    const missing = await files.listOfConnector(bo, "con_2222222222222222", ofConnector).catch((e: unknown) => e);
    expect(await files.listOfConnector(bo, con, ofConnector).catch((e: unknown) => e)).toEqual(missing);
    expect((await files.listOfConnector(ana, con, ofConnector)).total).toBe(0);
    expect((await files.listOfConnector(admin, con, ofConnector)).total).toBe(0);
    const seen = await world.item(wsp, { connectorId: con, kind: "page" });
    expect((await files.listOfConnector(bo, con, ofConnector)).files.map((file) => file.kbId)).toEqual([seen]);
    // The filter fits nothing, yet the connector is known by the page.
    expect((await files.listOfConnector(bo, con, { ...ofConnector, kind: "task" })).total).toBe(0);
  });

  test("a cursor serves only the person and the arguments it was made for", async ({ expect }) => {
    const world = await makeWorld();
    const wsp = await world.workspace();
    const [ana, bo] = [await world.user(wsp), await world.user(wsp)];
    const con = await world.connector(wsp);
    for (let i = 0; i < 3; i++) await world.item(wsp, { connectorId: con });
    const files = filesOf(world);
    const { nextCursor } = await files.list(ana, query({ limit: 1 }));
    if (nextCursor === null) return expect.fail("there is a second page");
    await expect(files.list(bo, query({ limit: 1, cursor: nextCursor }))).rejects.toMatchObject({
      code: "invalid_cursor",
    });
    await expect(files.list(ana, query({ kind: "file", cursor: nextCursor }))).rejects.toMatchObject({
      code: "invalid_cursor",
    });
    expect((await files.list(ana, query({ limit: 2, cursor: nextCursor }))).files).toHaveLength(2);
  });

  test("a URL of the server's own disk is not shown; the permalink stands in its place", async ({ expect }) => {
    const world = await makeWorld();
    const wsp = await world.workspace();
    const ana = await world.user(wsp);
    const con = await world.connector(wsp);
    const local = await world.item(wsp, { connectorId: con, url: "file:///srv/docs/a.md" });
    await world.item(wsp, { connectorId: con, url: "https://x.test/a" });
    const { files } = await filesOf(world).list(ana, query({ sort: "title" }));
    expect(new Set(files.map((file) => file.url))).toEqual(new Set([`https://kb.test/i/${local}`, "https://x.test/a"]));
  });
});

describe("looking up a URL or key", () => {
  test("tabs, tracking and fragments lead to the one item; a pushed twin comes last, a hidden one not at all", async ({
    expect,
  }) => {
    const world = await makeWorld();
    const wsp = await world.workspace();
    const ana = await world.user(wsp);
    const [web, push] = [
      await world.connector(wsp, { providerId: "filesystem" }),
      await world.connector(wsp, { providerId: "push" }),
    ];
    const url = "https://github.com/acme/web/pull/7";
    const squatter = await world.item(wsp, { connectorId: push, providerId: "push", url, indexedAt: 1 });
    const real = await world.item(wsp, { connectorId: web, url, indexedAt: 2 });
    await world.item(wsp, { connectorId: web, url, indexedAt: 0, access: { known: false } });
    const files = filesOf(world);
    for (const asked of [url, `${url}/files#diff-1`, `${url}?utm_source=x`, `${url}/`]) {
      expect(await files.lookUp(ana, asked)).toEqual({ kbIds: [real, squatter], isAmbiguous: false });
    }
    expect((await files.lookUp(ana, "https://github.com/acme/web/pull/8")).kbIds).toEqual([]);
  });

  test("#412 is ambiguous only among items that may be seen", async ({ expect }) => {
    const world = await makeWorld();
    const wsp = await world.workspace();
    const ana = await world.user(wsp);
    const con = await world.connector(wsp);
    const web = await world.item(wsp, { connectorId: con, key: "acme/web#412", indexedAt: 1 });
    await world.item(wsp, { connectorId: con, key: "acme/hidden#412", access: { known: true, all: [["user:x"]] } });
    const files = filesOf(world);
    expect(await files.lookUp(ana, "#412")).toEqual({ kbIds: [web], isAmbiguous: false });
    const api = await world.item(wsp, { connectorId: con, key: "acme/api#412", indexedAt: 2 });
    expect(await files.lookUp(ana, "#412")).toEqual({ kbIds: [web, api], isAmbiguous: true });
    expect((await files.lookUp(ana, "ACME/API#412")).kbIds).toEqual([api]);
  });
});

describe("looking up a URL or key among many", () => {
  test("however many hidden items have it too, the visible ones are found", async ({ expect }) => {
    const world = await makeWorld();
    const wsp = await world.workspace();
    const ana = await world.user(wsp);
    const con = await world.connector(wsp);
    const [key, url] = ["acme/web#412", "https://x.test/412"];
    const hidden = { known: true as const, all: [["user:x"]] };
    for (let n = 0; n < 450; n++) {
      await world.item(wsp, { connectorId: con, key, url, indexedAt: 1 + (n >> 5), access: hidden });
    }
    const later = await world.item(wsp, { connectorId: con, key, url, indexedAt: 90 });
    const early = await world.item(wsp, { connectorId: con, key, url, indexedAt: 3 });
    for (const asked of [key, url, "#412"]) {
      expect(await filesOf(world).lookUp(ana, asked)).toEqual({ kbIds: [early, later], isAmbiguous: false });
    }
  });
});

describe("text by range", () => {
  test("any way to cut a text gives the same text, and no character is cut in two", async ({ expect }) => {
    const world = await makeWorld();
    const wsp = await world.workspace();
    const ana = await world.user(wsp);
    const text = `${"a".repeat(15_999)}😀${"ß中".repeat(9_000)}😀😀x`;
    const kbId = await world.item(wsp, { connectorId: await world.connector(wsp), text });
    const files = filesOf(world);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 0, max: text.length }),
        fc.integer({ min: 1, max: 20_000 }),
        async (offset, limit) => {
          const range = await files.text(ana, kbId, { offset, limit });
          expect(range.text).toBe(text.slice(range.start, range.end));
          expect(range.text).not.toMatch(/\p{Surrogate}/u);
          expect(range.totalChars).toBe(text.length);
          expect(offset - range.start).toBeLessThanOrEqual(1);
        },
      ),
      {
        numRuns: runs(20),
        examples: [
          [16_000, 1],
          [15_999, 1],
          [text.length - 2, 1],
          [text.length, 5],
        ],
      },
    );
    let read = "";
    for (let at = 0; at < text.length;) {
      const range = await files.text(ana, kbId, { offset: at, limit: 7_777 });
      read += range.text;
      at = range.end;
    }
    expect(read).toBe(text);
  });

  test("past the end, without text, hidden: each with its own answer, the last one the same as absent", async ({
    expect,
  }) => {
    const world = await makeWorld();
    const wsp = await world.workspace();
    const ana = await world.user(wsp);
    const con = await world.connector(wsp);
    const files = filesOf(world);
    const at = (kbId: string, offset = 0) => files.text(ana, kbId, { offset, limit: 10 }).catch((e: unknown) => e);
    const short = await world.item(wsp, { connectorId: con, text: "short" });
    expect(await at(short, 6)).toMatchObject({ code: "past_end" });
    const scan = await world.item(wsp, {
      connectorId: con,
      title: "scan.pdf",
      textReason: "encrypted",
      indexState: "unsearchable",
    });
    expect(await at(scan)).toMatchObject({
      code: "no_text",
      message: '"scan.pdf" has no searchable text (encrypted).',
    });
    const hidden = await world.item(wsp, {
      connectorId: con,
      text: "secret",
      access: { known: true, all: [["user:x"]] },
    });
    const refused = await at(hidden);
    await world.database.write.deleteFrom("items").where("kbId", "=", hidden).execute();
    expect(await at(hidden)).toEqual(refused);
    expect(refused).toMatchObject({ code: "not_found" });
  });
});

describe("passages", () => {
  test("come with their offsets in the whole text, and only from what may be read", async ({ expect }) => {
    const world = await makeWorld();
    const wsp = await world.workspace();
    const ana = await world.user(wsp);
    const con = await world.connector(wsp);
    const text = `${"Nothing here. ".repeat(5_000)}The notice period is three months. ${"More. ".repeat(3_000)}`;
    const kbId = await world.item(wsp, { connectorId: con, text });
    const index = makeSearchPool({ file: world.database.file, size: 0 });
    onTestFinished(() => index.close());
    const files = filesOf(world, index);
    const found = await files.find(ana, kbId, '"notice period"');
    expect(found.total).toBe(1);
    const [passage] = found.passages;
    expect(text.slice(passage?.at, (passage?.at ?? 0) + (passage?.text.length ?? 0))).toBe(passage?.text);
    expect(passage?.text).toContain("notice period");
    expect((await files.find(ana, kbId, "absent")).passages).toEqual([]);
    const hidden = await world.item(wsp, { connectorId: con, text, access: { known: false } });
    await expect(files.find(ana, hidden, "notice")).rejects.toMatchObject({ code: "not_found" });
  });
});
