import type { ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import type { SyncEvent } from "#server/sync/sync-events.ts";
import { contextOf } from "../../kit/fixture.ts";
import { openEngine } from "../../kit/engine.ts";
import { makeReplica, runInto, type RunOptions } from "../../kit/replica.ts";
import { makeWorld, openNotion, paragraph } from "./fixture.ts";
import { refuse } from "./server.ts";
import { rich } from "./world.ts";

const MINUTE_MS = 60_000;

/** A connector with what a small engine has stored of it. */
async function connect(made = makeWorld()) {
  const there = await openNotion(made);
  const replica = makeReplica();
  return {
    ...there,
    replica,
    ctx: () => contextOf(there.fixture),
    run: (mode: RunOptions["mode"] = "full", more: RunOptions = {}) =>
      runInto(there.fixture, replica, { mode, ...more }),
    ids: () => [...replica.items.keys()].sort(),
    textOf(id: string): string {
      const content = replica.items.get(id)?.content;
      return content?.type === "inline" ? content.text : "";
    },
    /** As if everything was written a while ago. */
    age(minutes = 60): void {
      for (const page of made.world.pages.values()) page.edited -= minutes * MINUTE_MS;
    },
  };
}

const namesOf = (events: readonly SyncEvent[], t: SyncEvent["t"]) =>
  events.flatMap((event) =>
    event.t !== t ? [] : event.t === "upsert" ? [event.item.title] : event.t === "seen" ? event.externalIds : ["x"],
  );

describe("what is read", () => {
  test.each(["fails", "doesn't end"])("no page is left out because the list of users %s", async (why) => {
    const { notion, guide, replica, run, ids } = await connect();
    await run();
    const before = ids();
    const author = replica.items.get(guide.id)?.author;
    expect(author?.name).toBe("Ann");
    notion.instead = ({ path }, response) => {
      if (path.replace(/\?.*/, "") !== "/v1/users") return false;
      const page = { object: "list", results: [], has_more: true, next_cursor: "again" };
      response.writeHead(why === "fails" ? 500 : 200, { "content-type": "application/json" });
      response.end(JSON.stringify(page));
      return true;
    };
    await run();
    expect(ids()).toEqual(before);
    expect(replica.items.get(guide.id)?.author).toEqual(author);
  });

  test("blocks become text with their structure, properties come first", async () => {
    const notion = await connect();
    const { world, alone } = notion;
    const block = world.block.bind(world);
    const item = (type: string, text: string, more: object = {}, children: ReturnType<typeof block>[] = []) =>
      block(type, { rich_text: rich(text), ...more }, children);
    const row = (...cells: string[]) => block("table_row", { cells: cells.map(rich) });
    alone.properties = {
      Status: { type: "status", status: { name: "Doing" } },
      Due: { type: "date", date: { start: "2026-03-05", end: null } },
      Tags: { type: "multi_select", multi_select: [{ name: "a" }, { name: "b" }] },
      Sum: { type: "rollup", rollup: { type: "array", array: [{ type: "number", number: 3 }] } },
      Key: { type: "unique_id", unique_id: { prefix: "KB", number: 7 } },
      Odd: { type: "no_such_type", no_such_type: { secret: 1 } },
    };
    alone.blocks = [
      item("heading_1", "First\nline"),
      item("paragraph", "Words."),
      item("bulleted_list_item", "One", {}, [item("to_do", "Inner", { checked: true })]),
      item("bulleted_list_item", "Two"),
      item("numbered_list_item", "a"),
      item("numbered_list_item", "b"),
      item("toggle", "Open me", {}, [item("paragraph", "Hidden words.")]),
      item("code", "let a = 1;\n```", { language: "typescript" }),
      block("equation", { expression: "e = mc^2" }),
      item("callout", "Mind this."),
      block("table", { table_width: 2 }, [row("Name", "a|b"), row("x", "y")]),
      block("column_list", {}, [block("column", {}, [item("paragraph", "Left.")])]),
      block("synced_block", { synced_from: null }, [item("quote", "Said twice.")]),
      block("bookmark", { url: "https://example.com/", caption: rich("A link") }),
      block("embed", { url: "javascript:alert(1)" }),
      block("meeting_notes", { title: rich("Weekly") }, [item("paragraph", "Ship on Friday.")]),
      block("unsupported"),
    ];
    await notion.run();
    expect(notion.textOf(alone.id)).toBe(
      [
        "- Due: 2026-03-05\n- Key: KB-7\n- Status: Doing\n- Sum: 3\n- Tags: a, b",
        "## First line",
        "Words.",
        "- One\n  - [x] Inner\n- Two",
        "1. a\n2. b",
        "- Open me\n  Hidden words.",
        "````typescript\nlet a = 1;\n```\n````",
        "$$\ne = mc^2\n$$",
        "> Mind this.",
        "| Name | a\\|b |\n| --- | --- |\n| x | y |",
        "Left.",
        "> Said twice.",
        "A link https://example.com/",
        "Weekly",
        "Ship on Friday.",
      ].join("\n\n"),
    );
    expect(notion.replica.items.get(alone.id)).toMatchObject({ kind: "page", title: "Alone", author: { name: "Ann" } });
  });

  test("pages are in pages and databases, comments and files are parts of theirs", async () => {
    const notion = await connect();
    const { deep, guide, paper, rows, replica } = notion;
    await notion.run();
    expect(replica.items.get(deep.id)?.path).toEqual(["Home", "Guide"]);
    expect(replica.items.get(rows[0]?.id ?? "")?.path).toEqual(["Home", "Tasks"]);
    expect(replica.items.get(`${guide.id}.f${paper.id}`)).toMatchObject({
      partOf: guide.id,
      content: { type: "fetch" },
    });
    const comment = replica.items.get(`${guide.id}.c${guide.comments[0]?.id}`);
    expect(comment).toMatchObject({ partOf: guide.id, kind: "message", content: { text: "Well said." } });
    // Neither in an event nor in what is kept.
    expect(JSON.stringify([[...replica.items.values()], [...replica.state], replica.cursor])).not.toMatch(
      /X-Amz|canary/,
    );
  });

  test("what the search does not give is found in pages and databases, and what is stored is asked for", async () => {
    const notion = await connect();
    const { world, deep, rows, home, alone } = notion;
    for (const page of [deep, ...rows]) page.isUnlisted = true;
    const inner = world.source("Inner", { page: deep.id });
    const hidden = world.page("Hidden row", { source: inner.id });
    hidden.isUnlisted = true;
    await notion.run();
    for (const { id } of [deep, hidden, ...rows]) expect(notion.ids()).toContain(id);
    notion.age();
    await notion.run("incremental");
    // Known, settled, and given by no listing any more.
    alone.isUnlisted = true;
    home.isUnlisted = true;
    await notion.run();
    for (const { id } of [alone, home, deep, hidden]) expect(notion.ids()).toContain(id);
    alone.isTrashed = true;
    await notion.run();
    expect(notion.ids()).not.toContain(alone.id);
  });
});

describe("increments", () => {
  test("edits in one minute are all read, and what is settled is not read again", async () => {
    const notion = await connect();
    const { world, alone, guide, notion: server } = notion;
    notion.age();
    alone.edited = world.now();
    await notion.run();
    const first = alone.blocks[0];
    if (first) first.value["rich_text"] = rich("Edited in the same minute.");
    server.requests.length = 0;
    const { events } = await notion.run("incremental");
    expect(namesOf(events, "upsert")).toEqual(["Alone"]);
    expect(notion.textOf(alone.id)).toBe("Edited in the same minute.");
    expect(server.requests.some(({ path }) => path.includes(guide.id))).toBe(false);
    expect(namesOf((await notion.run("incremental")).events, "upsert")).toEqual([]);
    // Written before the last run, found by the search only now.
    const late = world.page("Late", { page: guide.id });
    late.edited -= 30 * MINUTE_MS;
    await notion.run("incremental");
    expect(notion.ids()).toContain(late.id);
    // Nothing is new for long: one listing, and no page.
    notion.age(120);
    await notion.run();
    server.requests.length = 0;
    await notion.run("incremental");
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1/users/me", "/v1/users", "/v1/search"]);
  });

  test("a cursor of before there were sessions is gone on from, and one of a listing is not", async () => {
    const notion = await connect();
    const { replica, notion: server } = notion;
    notion.age(120);
    await notion.run();
    replica.cursor = { type: "changes", at: Date.now() };
    server.requests.length = 0;
    await notion.run("incremental");
    expect(server.requests).toHaveLength(3);
    replica.cursor = { type: "listing", runId: "syn_a", at: Date.now(), settledBefore: 0, after: "z", done: 0 };
    const { events } = await notion.run("incremental");
    expect(events.at(-1)).toMatchObject({ t: "end", listing: "complete" });
  });

  test("what went to the trash is gone within hours, files and comments with it", async () => {
    const notion = await connect();
    const { guide, rows, replica, alone } = notion;
    await notion.run();
    notion.age(120);
    guide.isTrashed = true;
    for (const row of rows) row.isTrashed = true;
    alone.isUnlisted = true;
    const before = notion.ids();
    await notion.run("incremental");
    expect(notion.ids()).toEqual(before);
    replica.state.set("lookedAt", Date.now() - 7 * 60 * MINUTE_MS);
    await notion.run("incremental");
    const isGone = (id: string) => id.startsWith(guide.id) || rows.some((row) => row.id === id);
    expect(notion.ids()).toEqual(before.filter((id) => !isGone(id)));
  });

  test("what was shared later, taken out of the trash or moved is found within hours, though no one edited it", async () => {
    const notion = await connect();
    const { world, home, deep, alone, tasks, rows, replica, notion: server } = notion;
    const later = world.page("Shared later", { page: home.id });
    later.comments.push({ id: world.id(), text: "Said before.", at: world.now() });
    later.isShared = false;
    const [row] = rows;
    if (row) row.isTrashed = true;
    notion.age(300);
    await notion.run();
    expect(notion.ids()).not.toContain(later.id);
    later.isShared = true;
    if (row) row.isTrashed = false;
    deep.where = { source: tasks.id };
    await notion.run("incremental");
    expect(notion.ids()).not.toContain(later.id);
    replica.state.set("lookedAt", Date.now() - 7 * 60 * MINUTE_MS);
    server.requests.length = 0;
    const { events } = await notion.run("incremental");
    expect(notion.ids()).toEqual(expect.arrayContaining([later.id, row?.id, `${later.id}.c${later.comments[0]?.id}`]));
    expect(replica.items.get(deep.id)?.path).toEqual(["Home", "Tasks"]);
    expect(namesOf(events, "upsert").sort()).toEqual(["Comment on Shared later", "Deep", "Shared later", "Write"]);
    // What is as it was is not read.
    expect(server.requests.some(({ path }) => path.includes(`/blocks/${alone.id}`))).toBe(false);
    // Moved to where the scope takes nothing.
    later.where = { source: tasks.id };
    replica.state.set("lookedAt", Date.now() - 7 * 60 * MINUTE_MS);
    await notion.run("incremental", { scope: { include: [], exclude: [tasks.id] } });
    expect(notion.ids()).not.toContain(later.id);
  });

  test("parts go with what they are part of, moves and new names are told", async () => {
    const notion = await connect();
    const { world, guide, paper, deep, home, tasks, replica } = notion;
    await notion.run();
    guide.blocks = guide.blocks.filter(({ id }) => id !== paper.id);
    guide.comments.length = 0;
    world.touch(guide);
    await notion.run("incremental");
    expect(notion.ids().filter((id) => id.startsWith(`${guide.id}.`))).toEqual([]);
    deep.where = { source: tasks.id };
    home.title = "Entry";
    world.touch(deep);
    await notion.run("incremental");
    expect(replica.items.get(deep.id)?.path).toEqual(["Entry", "Tasks"]);
    await notion.run("items", { externalIds: [deep.id, paper.id, "../x", `${guide.id}.f${paper.id}`] });
    expect(notion.ids()).toContain(deep.id);
  });
});

describe("failures", () => {
  test("a page that fails, or is refused, leaves the others and what was there", async () => {
    const notion = await connect();
    const { guide, alone, replica, notion: server } = notion;
    await notion.run();
    const before = notion.ids();
    for (const status of [500, 403]) {
      server.instead = ({ path }, response) =>
        path === `/v1/blocks/${guide.id}/children` && (refuse(response, status, "x"), true);
      alone.title = `Alone ${status}`;
      await notion.run();
      expect(notion.ids()).toEqual(before);
      expect(replica.items.get(alone.id)?.title).toBe(`Alone ${status}`);
    }
  });

  const ODD = "aaaaaaaa-0000-4000-8000-000000000001";
  const bad = (path: string) => (asked: { path: string }, response: ServerResponse) =>
    asked.path === path && (refuse(response, 400, "validation_error"), true);

  test("a view of a database that Notion can't give is passed over: all pages come, and what is gone goes", async () => {
    const notion = await connect();
    const { alone, guide, world, notion: server } = notion;
    await notion.run();
    const before = notion.ids();
    alone.blocks = [world.block("child_database", { title: "A view" }), paragraph(world, "After the view.")];
    const [view] = alone.blocks;
    server.instead = bad(`/v1/databases/${view?.id}`);
    guide.isTrashed = true;
    const { events } = await notion.run();
    expect(notion.ids()).toEqual(before.filter((id) => !id.startsWith(guide.id)));
    expect(notion.textOf(alone.id)).toContain("After the view.");
    expect(events.filter(({ t }) => t === "skip")).toEqual([]);
  });

  test("a data source whose rows can't be given is told, and what is stored of it stays", async () => {
    const notion = await connect();
    const { notion: server } = notion;
    await notion.run();
    const before = notion.ids();
    const refused: string[] = [];
    server.instead = ({ path }, response) => {
      if (!path.endsWith("/query")) return false;
      refused.push(path);
      return (refuse(response, 400, "validation_error"), true);
    };
    const { events } = await notion.run();
    expect(refused.length).toBeGreaterThan(0);
    expect(notion.ids()).toEqual(before);
    expect(events.filter((event) => event.t === "skip" && event.reason === "failed").length).toBeGreaterThan(0);
  });

  test("what is in a block that the API doesn't have costs nothing else of its page", async () => {
    const notion = await connect();
    const { alone, world, notion: server } = notion;
    const nested = world.block("unsupported", {}, [paragraph(world, "inside")]);
    alone.blocks = [paragraph(world, "Before."), nested, paragraph(world, "After.")];
    server.instead = bad(`/v1/blocks/${nested.id}/children`);
    const { events } = await notion.run();
    expect(notion.textOf(alone.id)).toMatch(/Before\.[^]*After\./u);
    expect(events.filter(({ t }) => t === "skip")).toEqual([]);
  });

  test("many pages in a row that fail for their own reason end no run while Notion is well", async () => {
    const notion = await connect();
    const { alone, notion: server, world } = notion;
    const made = Array.from({ length: 40 }, (_, n) => world.page(`Meeting ${n}`, "workspace"));
    const ids = new Set(made.map(({ id }) => id));
    let asked = 0;
    server.instead = ({ path }, response) => {
      if (path === "/v1/users/me") asked++;
      const [, id = ""] = /^\/v1\/blocks\/([^/]+)\/children$/u.exec(path) ?? [];
      return ids.has(id) && (refuse(response, 400, "validation_error"), true);
    };
    const { events } = await notion.run();
    const failed = events.flatMap((event) => (event.t === "skip" ? [event.externalId] : []));
    expect(failed.sort()).toEqual([...ids].sort());
    expect(notion.ids()).toContain(alone.id);
    // Once at the beginning, and at most after each five failures.
    expect(asked).toBeLessThanOrEqual(9);
  });

  test("where the page above one can't be looked at, the page stays where it was", async () => {
    const notion = await connect();
    const { deep, notion: server, replica } = notion;
    await notion.run();
    const before = replica.items.get(deep.id)?.path;
    deep.edited += 600_000;
    server.instead = ({ path }, response) =>
      /^\/v1\/(?:databases|pages|data_sources)\/[^/]+$/u.test(path) && (refuse(response, 502, "bad_gateway"), true);
    await notion.run("incremental");
    expect(replica.items.get(deep.id)?.path).toEqual(before);
  });

  test("what is asked for and fails stays", async () => {
    const notion = await connect();
    const { alone, notion: server } = notion;
    await notion.run();
    server.instead = ({ path }, response) =>
      path === `/v1/pages/${alone.id}` && (refuse(response, 400, "validation_error"), true);
    const { events } = await notion.run("items", { externalIds: [alone.id, ODD] });
    expect(events).toContainEqual(expect.objectContaining({ t: "skip", externalId: alone.id, reason: "failed" }));
    expect(events).toContainEqual({ t: "delete", externalId: ODD });
    expect(notion.ids()).toContain(alone.id);
  });

  test("a page that the search leaves out and that is refused keeps its files and comments", async () => {
    const notion = await connect();
    const { guide, notion: server } = notion;
    notion.age(300);
    await notion.run();
    const before = notion.ids();
    guide.isUnlisted = true;
    server.instead = ({ path }, response) =>
      path === `/v1/pages/${guide.id}` && (refuse(response, 403, "restricted_resource"), true);
    await notion.run();
    expect(notion.ids()).toEqual(before);
    server.instead = undefined;
    guide.isUnlisted = false;
    await notion.run();
    expect(notion.ids()).toEqual(before);
  });

  test("a cut listing deletes nothing, and a limit in the middle is a limit", async () => {
    const notion = await connect();
    const { notion: server } = notion;
    await notion.run();
    const before = notion.ids();
    let count = 0;
    const late = (path: string) => path === "/v1/search" && ++count > 1;
    const answers: [NonNullable<typeof server.instead>, string][] = [
      [({ path }, response) => late(path) && (refuse(response, 500, "x"), true), "source_unavailable"],
      [({ path }, response) => late(path) && (refuse(response, 401, "x"), true), "source_unauthorized"],
      [
        ({ path }, response) =>
          late(path) && (response.writeHead(200).end('{"results":[],"has_more":true,"next_cursor":null}'), true),
        "source_unavailable",
      ],
      [
        ({ path }, response) => late(path) && (response.writeHead(200).end('{"results":[{'), true),
        "source_unavailable",
      ],
      [
        ({ path }, response) => late(path) && (refuse(response, 429, "x", { "retry-after": "600" }), true),
        "source_rate_limited",
      ],
    ];
    for (const [instead, code] of answers) {
      count = 0;
      server.instead = instead;
      await expect(notion.run()).rejects.toMatchObject({ code });
      expect(notion.ids()).toEqual(before);
      server.instead = undefined;
    }
  });

  test.for(["page", "data_source"])(
    "a search (%s) that fails for ever keeps the other away from nobody",
    async (object, context) => {
      const notion = await connect();
      const { notion: server, world, home, tasks } = notion;
      await notion.run();
      const before = notion.ids();
      const added =
        object === "page" ? world.page("Later row", { source: tasks.id }) : world.page("Later page", { page: home.id });
      server.instead = ({ path, body }, response) => {
        const { filter } = (body ?? {}) as { filter?: { value?: string } };
        return path === "/v1/search" && filter?.value === object && (refuse(response, 502, "x"), true);
      };
      const { events } = await notion.run();
      context.expect(notion.ids()).toEqual([...before, added.id].sort());
      context.expect(events.at(-1)).toMatchObject({ t: "end", listing: "partial", why: context.expect.any(String) });
    },
  );

  test("a check says which right is missing, and that nothing is shared", async () => {
    const notion = await connect();
    const { notion: server, fixture, world } = notion;
    const check = () => fixture.source.check(notion.ctx());
    expect(await check()).toEqual({ ok: true, accountId: "bot-1" });
    server.hasComments = false;
    expect(await check()).toMatchObject({ ok: true, warnings: [expect.stringContaining("Read comments")] });
    server.instead = ({ path }, response) => path.endsWith("/children") && (refuse(response, 403, "x"), true);
    expect(await check()).toMatchObject({ ok: false, problem: { hint: expect.stringContaining("Read content") } });
    server.instead = undefined;
    world.pages.clear();
    expect(await check()).toMatchObject({ ok: true, warnings: [expect.stringContaining("Connections")] });
  });
});

test(
  "notion in the server: texts are stored, and a day of increments loses nothing",
  { timeout: 120_000 },
  async () => {
    const { fixture, guide, paper, alone, world } = await openNotion();
    const kb = await openEngine(fixture);
    await kb.readPeople();
    await kb.work();
    const rows = async () => (await kb.rows()).map(({ externalId }) => externalId).sort();
    const before = await rows();
    expect(before).toHaveLength(9);
    expect(await kb.textOf(guide.id)).toContain("About Guide.");
    expect(await kb.textOf(`${guide.id}.f${paper.id}`)).toContain("Content of the paper");
    expect(await kb.isOpenToOwner(guide.id)).toBe(true);
    alone.blocks.push(paragraph(world, "Another paragraph."));
    world.touch(alone);
    for (let hours = 0; hours < 26; hours += 13) await kb.pass(13 * 3_600_000);
    expect(await kb.textOf(alone.id)).toContain("Another paragraph.");
    expect(await rows()).toEqual(before);
    expect(await kb.isOpenToOwner(guide.id)).toBe(true);
  },
);
