import { describe, expect, test } from "vitest";
import type { SourceItem } from "#sources/item.ts";
import { contextOf, type KitFixture } from "../../kit/fixture.ts";
import { makePeopleReplica, runPeopleInto } from "../../kit/people-replica.ts";
import { makeReplica, type Replica, runInto } from "../../kit/replica.ts";
import { openSite } from "./fixture.ts";
import type { Asked, ConfluenceServer } from "./server.ts";
import { OTHER_TOKEN, TOKEN, type World } from "./world.ts";

// No Confluence runs here: a fake of ours answers.
describe("confluence and what is not known", { timeout: 60_000 }, () => {
  async function read(fixture: KitFixture): Promise<Replica> {
    const replica = makeReplica();
    await runInto(fixture, replica);
    return replica;
  }
  const accessOf = ({ items }: Replica, id: string) => items.get(id)?.access;
  const names = (access: SourceItem["access"]) =>
    access?.known === true
      ? access.all.map((list) => list.map((each) => each.replace(/^.*:/, "")).join("|"))
      : "nobody";
  const refuse = (site: ConfluenceServer, test: (asked: Asked) => boolean, status = 403) => {
    site.instead = (asked, response) => {
      if (!test(asked)) return false;
      response.writeHead(status, { "content-type": "application/json" }).end("{}");
      return true;
    };
  };
  const membersOf = async (fixture: KitFixture, name: string) => {
    const people = makePeopleReplica();
    await runPeopleInto(fixture, people);
    const found = [...people.groups].find(([group]) => group.endsWith(`:${name}`))?.[1];
    return found && [...found].map((each) => decodeURIComponent(each).replace(/^.*:/, ""));
  };
  /** Below a folder that only dan may open. */
  function withFolder(world: World) {
    const folder = world.add("ENG", "Drawer", { type: "folder", restriction: { users: [world.ids.dan], groups: [] } });
    return world.add("ENG", "In the drawer", { parent: folder.id });
  }

  test("a page needs the space, its own restriction, and that of everything above it", async () => {
    const { world, fixture } = await openSite();
    const { made } = world;
    const replica = await read(fixture);
    expect(names(accessOf(replica, made.blue.id))).toEqual(["s10000.read"]);
    expect(names(accessOf(replica, made.below.id))).toEqual([
      "s10000.read",
      `r${made.bonus.id}`,
      `r${made.salaries.id}`,
    ]);
    // All of it, though each page of the answer has two.
    const group = [...replica.told.groups].find(([id]) => id.endsWith(`r${made.salaries.id}`))?.[1];
    expect(group?.size).toBe(4);
  });

  test("a page below a folder is no one's, since Cloud tells no restriction of a folder, unless the config says that there is none", async () => {
    const { world, fixture } = await openSite();
    const inFolder = withFolder(world);
    const deeper = world.add("ENG", "Deeper in it", { parent: inFolder.id });
    const replica = await read(fixture);
    for (const { id } of [inFolder, deeper]) expect(names(accessOf(replica, id))).toBe("nobody");
    world.edit(deeper, "Edited.");
    await runInto(fixture, replica, { mode: "incremental" });
    expect(names(accessOf(replica, deeper.id))).toBe("nobody");
    const open = await read({ ...fixture, config: { ...Object(fixture.config), openFolders: true } });
    for (const { id } of [inFolder, deeper]) expect(names(accessOf(open, id))).toEqual(["s10000.read"]);
  });

  test("a page is no one's when what is above it, or a restriction, can't be told", async () => {
    const { world, site, fixture } = await openSite();
    const { made } = world;
    const inFolder = withFolder(world);
    // One that names a subject without an id, one that is gone, and a circle.
    made.blue.restriction = { users: [""], groups: [] };
    const lost = world.add("ENG", "Lost", { parent: "99999" });
    const [one, two] = [world.add("ENG", "One"), world.add("ENG", "Two")];
    Object.assign(one, { parent: two.id });
    Object.assign(two, { parent: one.id });
    refuse(
      site,
      ({ path, query }) => path.includes("/folders/") || query.get("cql")?.includes(made.outage.id) === true,
      404,
    );
    const before = site.instead;
    site.instead = (asked, response) =>
      asked.path.endsWith(`/content/${made.outage.id}/restriction/byOperation/read`)
        ? (response.writeHead(404).end("{}"), true)
        : (before?.(asked, response) ?? false);
    const replica = await read(fixture);
    for (const page of [inFolder, lost, one, two, made.outage])
      expect(names(accessOf(replica, page.id))).toBe("nobody");
    site.instead = (asked, response) => {
      const isAsked = asked.path.endsWith(`/content/${made.outage.id}/restriction/byOperation/read`);
      if (isAsked) response.writeHead(404, { "content-type": "application/json" }).end("{}");
      return isAsked;
    };
    site.rewrite = (body, { query }) =>
      query.get("expand")?.includes("restrictions")
        ? body.replaceAll('"restrictions":{"read"', '"restrictions":{"none"')
        : body;
    expect(names(accessOf(await read(fixture), made.outage.id))).toBe("nobody");
    expect(names(accessOf(await read(fixture), made.blue.id))).toEqual(["s10000.read", `r${made.blue.id}`]);
  });

  test("a text that was written after its page was closed is for who reads it then", async () => {
    const { world, site, fixture } = await openSite();
    const { made, ids } = world;
    // Between the listing and the text it is closed, and the secret written. Nobody has said anything at it.
    site.before = ({ query }) => {
      const isRead = query.get("body-format") === "storage" && query.get("id")?.includes(made.lunch.id);
      if (!isRead || made.lunch.restriction) return;
      made.lunch.restriction = { users: [ids.ben], groups: [] };
      world.edit(made.lunch, "The secret.");
    };
    const replica = await read(fixture);
    expect(replica.items.get(made.lunch.id)?.content).toMatchObject({ text: "The secret." });
    expect(names(accessOf(replica, made.lunch.id))).toEqual(["s10002.read", `r${made.lunch.id}`]);

    // And what is said at a page that was closed since.
    site.before = ({ query }) => {
      if (!query.get("cql")?.includes("comment") || made.outage.restriction) return;
      made.outage.restriction = { users: [ids.ben], groups: [] };
      world.comment(made.outage, ids.ben, "<p>Hush.</p>");
    };
    await runInto(fixture, replica, { mode: "incremental" });
    expect(names(accessOf(replica, made.outage.id))).toEqual(["s10001.read", `r${made.outage.id}`]);
  });

  test("what the index hides is there, and what is trashed is not", async () => {
    const { world, fixture } = await openSite("data_center");
    const { made } = world;
    const replica = await read(fixture);
    const before = [...replica.items.keys()].sort();
    for (const { id } of [made.first, made.file, made.hush, made.blue]) world.unindexed.add(id);
    await runInto(fixture, replica);
    expect([...replica.items.keys()].sort()).toEqual(before);
    made.blue.parts.splice(0, 1);
    made.salaries.status = "trashed";
    await runInto(fixture, replica, { mode: "access" });
    for (const id of [`c${made.first.id}`, made.salaries.id, `c${made.hush.id}`])
      expect(replica.items.has(id)).toBe(false);
    // What stood below has nothing above that can be told any more.
    expect(names(accessOf(replica, made.bonus.id))).toBe("nobody");
  });

  test.each([
    ["a cursor that comes again", (body: string) => body.replace(/cursor=from-\d+/, "cursor=from-4")],
    ["a link without a place", (body: string) => body.replace(/\?cursor=from-\d+/, "")],
    [
      "cursors without an end",
      (body: string) => body.replace(/"_links":\{[^}]*\}/, `"_links":{"next":"/x?cursor=${Math.random()}"}`),
    ],
  ])("a listing with %s deletes nothing", async (_how, rewrite) => {
    const { world, site, fixture } = await openSite();
    for (let at = 0; at < 6; at++) world.add("LOBBY", `One of many, ${at}`);
    const replica = await read(fixture);
    const before = [...replica.items.keys()];
    site.rewrite = (body, { path }) => (path.includes("/pages") ? rewrite(body) : body);
    const outcome = await runInto(fixture, replica).catch(({ code }: { code: string }) => code);
    if (typeof outcome === "string") expect(outcome).toBe("source_unavailable");
    expect([...replica.items.keys()]).toEqual(before);
  });

  test("a space that fails keeps its readers, and one that is refused has none", async () => {
    const { world, site, fixture } = await openSite();
    const people = makePeopleReplica();
    await runPeopleInto(fixture, people);
    const before = new Map(people.groups);
    refuse(
      site,
      ({ path }) => path.endsWith(`/spaces/${world.space("ENG").id}/permissions`) || path.includes("/group/g-ops/"),
      500,
    );
    await runPeopleInto(fixture, people);
    expect(people.groups).toEqual(before);
    refuse(site, ({ path }) => path.endsWith(`/spaces/${world.space("ENG").id}/permissions`));
    expect(await membersOf(fixture, "s10000.read")).toEqual([]);
    // Signed out in between: everybody would be nobody.
    world.tokens.delete(TOKEN);
    site.instead = undefined;
    await expect(runPeopleInto(fixture, people)).rejects.toMatchObject({ code: "source_unauthorized" });
  });

  test("guests, classes that are not known, and who has no licence are in no group", async () => {
    const { world, fixture } = await openSite();
    expect(await membersOf(fixture, "g%3Ag-devs")).toEqual(["ann", "eve"]);
    expect(await membersOf(fixture, "licensed")).not.toContain("gus");
    expect(await membersOf(fixture, "licensed")).not.toContain("customer");
    expect(await membersOf(fixture, "s10001.read")).toEqual(["gus", "g-ops"]);
    expect(await membersOf(fixture, "s10003.read")).toEqual(["everyone"]);
    // Shown to nobody who has not signed in, whatever its permissions say.
    world.space("OPEN").isOpen = false;
    expect(await membersOf(fixture, "s10003.read")).toEqual([]);
    const people = makePeopleReplica();
    await runPeopleInto(fixture, people);
    expect([...people.active].filter((each) => each.endsWith("eve"))).toEqual([]);
  });

  test("an account that sees little names few, and check says what it lacks", async () => {
    const { site, fixture } = await openSite("data_center");
    const weak = { ...fixture, credentials: { token: OTHER_TOKEN } };
    const answer = await fixture.source.check(contextOf(weak));
    expect(answer.ok && answer.warnings?.join(" ")).toMatch(/who may use Confluence.*Confluence Administrator/);
    expect(await membersOf(weak, "licensed")).toEqual([]);
    expect(await fixture.source.check(contextOf(fixture))).toEqual({ ok: true, accountId: "712020:bot" });
    // Nobody, as far as Confluence is concerned, and no failure either.
    refuse(site, () => false);
    site.rewrite = (body, { path }) => (path.endsWith("/user/current") ? '{"type":"anonymous"}' : body);
    expect(await fixture.source.check(contextOf(fixture))).toMatchObject({
      ok: false,
      problem: { field: "credentials" },
    });
  });

  test("an attachment comes only by a page that has it and that the account sees, in the version that was listed", async () => {
    const { world, site, fixture } = await openSite();
    const { made } = world;
    const content = (externalId: string, ref?: string) =>
      fixture.source.fetchContent?.(contextOf(fixture), { externalId, ...(ref !== undefined && { ref }) });
    const ref = `${made.blue.id}.1`;
    expect(await content(`a${made.file.id}`, ref)).toMatchObject({ fileName: "notes.txt" });
    for (const [id, of] of [
      [`a${made.file.id}`, `${made.salaries.id}.1`],
      [`a${made.file.id}`, `${made.blue.id}.../../x`],
      [`a${made.first.id}`, ref],
      [`c${made.file.id}`, ref],
      ["a1", ref],
      [made.blue.id, undefined],
    ] as const)
      await expect(content(id, of)).rejects.toMatchObject({ code: "source_not_found" });
    const loads = site.requests.filter(({ path }) => path.endsWith("/download"));
    expect(loads.map(({ query }) => query.get("version"))).toEqual(["1"]);
  });
});
