import { describe, expect, test } from "vitest";
import { makeNotionClient } from "#sources/notion/client.ts";
import { contextOf } from "../../kit/fixture.ts";
import { makeReplica, runInto } from "../../kit/replica.ts";
import { openNotion } from "./fixture.ts";
import type { Asked, NotionServer } from "./server.ts";
import { rich } from "./world.ts";

async function connect() {
  const there = await openNotion();
  const replica = makeReplica();
  const textOf = (id: string): string => {
    const content = replica.items.get(id)?.content;
    return content?.type === "inline" ? content.text : "";
  };
  return { ...there, replica, textOf, run: () => runInto(there.fixture, replica) };
}

/** Answers what is asked about blocks below one of the pages. */
function blocksOf(server: NotionServer, answer: (asked: Asked, count: number) => unknown): () => number {
  let count = 0;
  server.instead = (asked, response) => {
    const body = /^\/v1\/blocks\/[^/]+\/children$/.test(asked.path) ? answer(asked, ++count) : undefined;
    if (body === undefined) return false;
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(body));
    return true;
  };
  return () => count;
}

const idOf = (n: number) => `bbbbbbbb-0000-4000-8000-${String(n).padStart(12, "0")}`;
const toggle = (n: number, text = `Level ${n}`) => ({
  object: "block",
  id: idOf(n),
  type: "toggle",
  has_children: true,
  toggle: { rich_text: rich(text) },
});
const listOf = (results: unknown[], next: string | null = null) => ({
  object: "list",
  results,
  has_more: next !== null,
  next_cursor: next,
});

describe("pages that are a trap", () => {
  test("a listing that goes on for ever with other cursors ends, and says why", async () => {
    const { notion, fixture } = await connect();
    let asked = 0;
    notion.instead = ({ path }, response) => {
      if (!path.endsWith("/query")) return false;
      response.writeHead(200, { "content-type": "application/json" });
      response.end(JSON.stringify(listOf([{ object: "page", id: idOf(asked) }], `cursor-${++asked}`)));
      return true;
    };
    const read = async () => {
      const rows = makeNotionClient(contextOf(fixture), notion.origin, 20).rows(idOf(1));
      while ((await rows.next()).done !== true);
    };
    await expect(read()).rejects.toMatchObject({
      code: "source_unavailable",
      message: "Notion sends a listing of more than 2000 entries.",
      details: { status: 200 },
    });
    expect(asked).toBe(20);
  });

  test("blocks in blocks for ever end, and those that hold themselves are read once", async () => {
    const { notion, alone, run, textOf } = await connect();
    const isMine = ({ path }: Asked) => path.includes(alone.id) || path.includes("bbbbbbbb");
    const asked = blocksOf(notion, (each, count) => (isMine(each) ? listOf([toggle(count)]) : undefined));
    await run();
    expect(asked()).toBeLessThan(150);
    expect(textOf(alone.id)).toContain("Level 50");
    // In a circle.
    const next = (path: string) => (path.includes(alone.id) ? 1 : path.includes(idOf(1)) ? 2 : 1);
    blocksOf(notion, (each) =>
      isMine(each) ? listOf([toggle(next(each.path)), { ...toggle(3), id: alone.id }]) : undefined,
    );
    await run();
    expect(textOf(alone.id)).toBe("- Level 1\n  - Level 2");
  });

  test("a listing that gives the same cursor, or nothing, again and again is a failure of its page alone", async () => {
    const { notion, alone, replica, run } = await connect();
    await run();
    const before = [...replica.items.keys()].sort();
    const isMine = ({ path }: Asked) => path.includes(alone.id);
    for (const answer of [
      () => listOf([toggle(1)], "again"),
      (count: number) => listOf([], String(count)),
      () => ({ ...listOf([]), has_more: true }),
    ]) {
      const asked = blocksOf(notion, (each, count) => (isMine(each) ? answer(count) : undefined));
      const { events } = await run();
      expect(events).toContainEqual(expect.objectContaining({ t: "skip", externalId: alone.id, reason: "failed" }));
      expect([...replica.items.keys()].sort()).toEqual(before);
      expect(asked()).toBeLessThan(100);
    }
  });

  test("pages of blocks without end are cut", async () => {
    const { notion, alone, run, textOf } = await connect();
    const some = (count: number) =>
      Array.from({ length: 100 }, (_, i) => ({ ...toggle(count * 100 + i, "x".repeat(5_000)), has_children: false }));
    const asked = blocksOf(notion, ({ path }, count) =>
      path.includes(alone.id) ? listOf(some(count), `c${count}`) : undefined,
    );
    await run();
    expect(asked()).toBeLessThan(20);
    expect(textOf(alone.id).length).toBeLessThan(2_200_000);
  });

  test("ten megabytes of text are cut, and titles are plain", async () => {
    const { world, notion, alone, home, guide, replica, run, textOf } = await connect();
    alone.title = `\u202etxt.exe\u2066\u0000 \n${"long ".repeat(2_000_000)}`;
    home.title = "\u200f\u0007 ";
    guide.blocks = [world.block("paragraph", { rich_text: rich("y".repeat(10_000_000)) })];
    await run();
    const { title = "" } = replica.items.get(alone.id) ?? {};
    expect(title).toMatch(/^txt\.exe long long/);
    expect(title.length).toBeLessThanOrEqual(500);
    expect(replica.items.get(home.id)?.title).toBe("Untitled");
    expect(replica.items.get(guide.id)?.path).toEqual(["Untitled"]);
    expect(textOf(guide.id).length).toBeLessThan(2_100_000);
    expect(notion.requests.length).toBeLessThan(100);
  });

  test("what is in itself, or in what is not shared, has a place all the same", async () => {
    const { world, home, guide, deep, replica, run } = await connect();
    home.where = { page: deep.id };
    guide.where = { block: world.id() };
    const lost = world.page("Lost", { page: world.id() });
    await run();
    expect(replica.items.get(home.id)?.path?.length).toBeLessThan(5);
    expect(replica.items.get(lost.id)?.path).toEqual([]);
    expect(replica.items.get(guide.id)?.path).toEqual([]);
  });
});

describe("files", () => {
  const read = async (there: Awaited<ReturnType<typeof connect>>, externalId: string) => {
    const { source } = there.fixture;
    const content = await source.fetchContent?.(contextOf(there.fixture), { externalId, version: "a b" });
    let text = "";
    for await (const piece of content?.stream ?? []) text += Buffer.from(piece).toString();
    return text;
  };

  test("an address that leads to a private one, or is none, gives nothing, and the token goes nowhere", async () => {
    const there = await connect();
    const { notion, guide, paper, world } = there;
    const id = `${guide.id}.f${paper.id}`;
    expect(await read(there, id)).toContain("Content of the paper");
    notion.instead = ({ path }, response) =>
      path.startsWith("/store/") &&
      (response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end(), true);
    await expect(read(there, id)).rejects.toMatchObject({ code: "address_not_allowed" });
    notion.instead = undefined;
    notion.storeAt = "http://10.0.0.1";
    await expect(read(there, id)).rejects.toMatchObject({ code: "address_not_allowed" });
    notion.storeAt = "file://";
    await expect(read(there, id)).rejects.toMatchObject({ code: "source_not_found" });
    notion.storeAt = undefined;
    expect(
      notion.requests.filter(({ path }) => path.startsWith("/store/")).map(({ headers }) => headers.authorization),
    ).toEqual([undefined, undefined]);
    // Ids of ours alone get into a path.
    for (const other of ["../../users", `${guide.id}.f../../users/me`, paper.id, `${guide.id}.c${paper.id}`])
      await expect(read(there, other)).rejects.toMatchObject({ code: "source_not_found" });
    expect(world.files.size).toBe(1);
  });

  test("keys, files of elsewhere and files without text are no items", async () => {
    const there = await connect();
    const { world, alone, replica, run } = there;
    alone.blocks = [
      world.file("id_rsa", "key"),
      world.file("photo.png", "bytes"),
      world.file("../../notes.md", "Notes."),
      world.block("file", { type: "external", name: "x.txt", external: { url: "https://example.com/x.txt" } }),
    ];
    await run();
    const own = [...replica.items.values()].filter(({ externalId }) => externalId.startsWith(`${alone.id}.f`));
    expect(own.map(({ title }) => title)).toEqual([".._.._notes.md"]);
  });
});
