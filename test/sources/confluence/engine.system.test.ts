import { describe, expect, test } from "vitest";
import { openEngine } from "../../kit/engine.ts";
import { expectSame, shownTo } from "../chat/readers.ts";
import { openSite } from "./fixture.ts";

const HOUR_MS = 3_600_000;

// No Confluence runs here: a fake of ours answers.
describe("confluence in the server", { timeout: 120_000 }, () => {
  async function open(deployment: "cloud" | "data_center" = "cloud") {
    const opened = await openSite(deployment);
    const kb = await openEngine(opened.fixture);
    await kb.readPeople();
    await kb.work();
    const { world, fixture } = opened;
    const people = async () => (await fixture.people?.()) ?? [];
    const same = async () => expectSame(kb, await people(), async (id) => world.whoSees(id));
    const rows = async () => (await kb.rows()).map(({ externalId }) => externalId);
    return { ...opened, kb, same, rows };
  }

  test("people find what they may read: first, after a removal alone, and after a day of increments", async () => {
    const { world, kb, same, rows } = await open();
    const { ids, made } = world;
    await same();
    // Space AND restriction AND every restriction above.
    expect(await kb.whoSees(made.blue.id)).toEqual([ids.ann, ids.dan]);
    expect(await kb.whoSees(made.salaries.id)).toEqual([ids.ann, ids.dan]);
    expect(await kb.whoSees(`c${made.hush.id}`)).toEqual([ids.ann, ids.dan]);
    expect(await kb.whoSees(made.below.id)).toEqual([ids.ann]);
    // A guest reads the one space that names them; who may not use Confluence, what everybody sees.
    expect(await kb.whoSees(made.outage.id)).toEqual([ids.ann, ids.ben, ids.gus]);
    expect((await shownTo(kb, ids.eve)).listed.map(({ title }: { title: string }) => title)).toEqual(["About us"]);
    expect(await kb.isOpenToOwner(made.about.id)).toBe(true);
    expect(await kb.isOpenToOwner(made.board.id)).toBe(false);
    expect(await rows()).not.toContain(world.pages.find(({ title }) => title === "Not yet")?.id);

    // Only a space, and only a group, change; and ann's access to Confluence ends.
    world.space("ENG").readers.users = [ids.cid];
    world.leave("g-ops", ids.ben);
    world.leave("g-users", ids.ann);
    await kb.readPeople();
    expect((await shownTo(kb, ids.ann)).listed).toHaveLength(1);
    expect(await kb.whoSees(made.outage.id)).toEqual([ids.gus]);
    expect(await kb.whoSees(made.blue.id)).toEqual([ids.cid]);

    // Nothing of this is in any search for what changed.
    made.plans.restriction = { users: [ids.cid], groups: ["g-ops"] };
    delete made.bonus.restriction;
    made.welcome.parent = undefined;
    made.lunch.status = "trashed";
    made.news.space = world.space("OLD").id;
    made.salaries.parts.length = 0;
    Object.assign(made.board, { space: world.space("ENG").id, parent: made.salaries.id });
    const inTime = world.add("OPS", "Said while time went on");
    for (let hours = 0; hours < 28; hours += 7) await kb.pass(7 * HOUR_MS);
    expect(await kb.whoSees(made.blue.id)).toEqual([ids.cid]);
    expect(await rows()).toContain(inTime.id);
    for (const gone of [made.lunch.id, made.news.id, `c${made.hush.id}`]) expect(await rows()).not.toContain(gone);
    await same();
  });

  test("increments bring edits, comments and files, and who reads them, with what stands below", async () => {
    const { world, kb, same, rows } = await open();
    const { ids, made } = world;
    expect(await kb.textOf(made.blue.id)).toBe("About The blue service");
    world.edit(made.blue, "To the third cluster.");
    const said = world.comment(made.outage, ids.ben, "<p>It is over.</p>");
    made.file.version++;
    Object.assign(made.file, { text: "Notes of the other one.", updated: Date.now() });
    // Edited and restricted: so is what stands below it.
    world.edit(made.bonus, "Less.");
    made.bonus.restriction = { users: [ids.dan], groups: [] };
    await kb.sync();
    expect(await kb.textOf(made.blue.id)).toBe("To the third cluster.");
    expect(await kb.textOf(`a${made.file.id}`)).toBe("Notes of the other one.");
    expect(await kb.textOf(`c${said.id}`)).toBe("It is over.");
    expect(await kb.whoSees(made.below.id)).toEqual([ids.dan]);
    await same();

    // Its former space is listed first, and it is the same item still.
    const kbIdOf = async (id: string) => (await kb.rows()).find(({ externalId }) => externalId === id)?.kbId;
    const kbId = await kbIdOf(made.blue.id);
    Object.assign(made.blue, { space: world.space("LOBBY").id, parent: undefined });
    world.space("OPS").name = "Operating";
    await kb.sync("full");
    expect(await kbIdOf(made.blue.id)).toBe(kbId);
    expect(await rows()).toContain(`a${made.file.id}`);
    await same();
    const sources = (await shownTo(kb, ids.ben)).listed.map(({ source }: { source: string }) => source);
    expect([...new Set(sources)].sort()).toEqual(["confluence:Lobby", "confluence:Open", "confluence:Operating"]);
  });

  test("Data Center: by the groups inside groups, and who was deactivated reads nothing", async () => {
    const { world, kb } = await open("data_center");
    const { ids, made } = world;
    expect(await kb.whoSees(made.below.id)).toEqual([ids.ann]);
    world.groups.set("g-inner", { name: "inner", members: new Set([ids.cid]), inside: [] });
    world.groups.get("g-devs")?.inside.push("g-inner");
    await kb.readPeople();
    expect(await kb.whoSees(made.salaries.id)).toEqual([ids.ann, ids.dan]);
    expect(await kb.whoSees(made.blue.id)).toEqual([ids.ann, ids.cid, ids.dan]);
    Object.assign(world.users.get(ids.ann) ?? {}, { active: false });
    await kb.readPeople();
    expect(await kb.whoSees(made.blue.id)).toEqual([ids.cid, ids.dan]);
  });
});
