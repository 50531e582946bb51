import { describe, expect, test } from "vitest";
import { openEngine } from "../../kit/engine.ts";
import { expectSame, shownTo } from "../chat/readers.ts";
import { openSite } from "./fixture.ts";
import { TOKEN } from "./world.ts";

const HOUR_MS = 3_600_000;

// No Jira runs here: a fake of ours answers.
describe("jira in the server", { timeout: 120_000 }, () => {
  async function open(deployment: "cloud" | "data_center" = "cloud") {
    const site = await openSite(deployment);
    const kb = await openEngine(site.fixture);
    await kb.readPeople();
    await kb.work();
    const { world, fixture } = site;
    const people = async () => (await fixture.people?.()) ?? [];
    const same = async () => expectSame(kb, await people(), async (id) => (await fixture.whoSees?.(id)) ?? []);
    const rows = async () => (await kb.rows()).map(({ externalId }) => externalId);
    return { ...site, world, kb, same, rows };
  }

  test("people find what they may browse: first, after a removal alone, and after a day of increments", async () => {
    const { world, kb, same, rows } = await open();
    const { ids, made } = world;
    await same();
    // Who is in every group and has no access reads nothing, and who reported an issue reads that one.
    expect((await shownTo(kb, ids.eve)).listed).toEqual([]);
    expect(await kb.whoSees(made.outage.id)).toEqual([ids.ann, ids.ben, ids.cid]);
    expect(await kb.whoSees(made.approved.id)).toEqual([ids.ann, ids.ben, ids.dan]);
    expect(await kb.whoSees(made.secret.id)).toEqual([ids.ann, ids.dan]);
    expect(await kb.whoSees(`${made.plan.id}.c${made.inner.id}`)).toEqual([ids.dan]);
    expect(await kb.whoSees(`${made.plan.id}.c${made.grouped.id}`)).toEqual([ids.ann]);

    // Only a role, and only a group, change; and ann's access to the application ends.
    world.setDevelopers();
    world.leave("g-ops", ids.ben);
    world.leave("g-users", ids.ann);
    await kb.readPeople();
    expect((await shownTo(kb, ids.ann)).listed).toEqual([]);
    await same();

    // Nothing of this is in any search for what changed.
    world.setDevelopers(ids.dan, ids.cid);
    world.project("OPS").browse = world.project("OPS").browse.filter(({ type }) => type !== "reporter");
    world.giveLevel("30000", [{ type: "projectRole", value: "10101" }]);
    world.issues.splice(world.issues.indexOf(made.lunch), 1);
    made.approved.project = "closed";
    const inTime = world.add("OPS", "Said while time went on", { reporter: ids.cid });
    for (let hours = 0; hours < 26; hours += 2) await kb.pass(2 * HOUR_MS);
    expect(await kb.whoSees(made.outage.id)).toEqual([]);
    expect(await kb.whoSees(made.secret.id)).toEqual([ids.dan]);
    expect(await rows()).toContain(inTime.id);
    expect(await rows()).not.toContain(made.lunch.id);
    expect(await rows()).not.toContain(made.approved.id);
    await same();
  });

  test("increments bring edits, levels and moves, and take away comments and attachments", async () => {
    const { world, kb, same, rows } = await open();
    const { ids, made } = world;
    expect(await kb.textOf(made.plan.id)).toBe("About Plan the blue service");
    made.plan.text = "To the third cluster.";
    made.plan.updated = Date.now();
    const [first] = made.plan.comments.splice(0, 1);
    made.plan.attachments.length = 0;
    Object.assign(made.welcome, { project: world.project("OPS").id, key: "OPS-77", updated: Date.now() });
    Object.assign(made.lunch, {
      project: world.project("ENG").id,
      key: "ENG-78",
      security: "30000",
      updated: Date.now(),
    });
    await kb.sync();
    expect(await kb.textOf(made.plan.id)).toBe("To the third cluster.");
    expect(await rows()).not.toContain(`${made.plan.id}.c${first?.id}`);
    expect(await rows()).not.toContain(`${made.plan.id}.a${made.file.id}`);
    expect(await kb.whoSees(made.lunch.id)).toEqual([ids.dan]);
    await same();

    // Its former project is listed first, and it is the same item still.
    const kbIdOf = async (id: string) => (await kb.rows()).find(({ externalId }) => externalId === id)?.kbId;
    const kbId = await kbIdOf(made.plan.id);
    Object.assign(made.plan, { project: world.project("LOBBY").id, key: "LOBBY-79" });
    world.project("OPS").name = "Operating";
    await kb.sync("full");
    expect(await kbIdOf(made.plan.id)).toBe(kbId);
    await same();
    const sources = (await shownTo(kb, ids.ben)).listed.map(({ source }: { source: string }) => source);
    expect([...new Set(sources)].sort()).toEqual(["jira:Lobby", "jira:Operating"]);
  });

  test("a project at which the server fails keeps its readers while others are read", async () => {
    const { world, jira, kb, same } = await open();
    const { ids, made } = world;
    const before = await kb.whoSees(made.plan.id);
    expect(before).toContain(ids.dan);
    jira.instead = ({ path }, response) => {
      const isOne = path.includes(`/project/${world.project("ENG").id}/`);
      if (isOne) response.writeHead(500).end();
      return isOne;
    };
    const openedAt = kb.kb.clock.now();
    world.leave("g-users", ids.cid);
    world.users.delete(ids.cid);
    for (let hours = 0; hours < 15; hours += 5) {
      kb.kb.clock.advance(5 * HOUR_MS);
      await kb.readPeople();
      expect(await kb.whoSees(made.plan.id)).toEqual(before);
    }
    // Everything else is settled: who is not there any more ends, and the rest counts as looked at whole.
    const { wholeAt } = await kb.kb.store.in(kb.owner.workspaceId).sourcePeople.summaryOf(kb.connectorId);
    expect(wholeAt).toBeGreaterThan(openedAt);
    expect((await shownTo(kb, ids.cid)).listed).toEqual([]);
    jira.instead = undefined;
    await kb.pass(HOUR_MS);
    await kb.readPeople();
    await same();
  });

  test("an issue that moved into a closed project is for no one at once", async () => {
    const { world, jira, kb, same } = await open();
    const { made } = world;
    const ops = world.project("OPS");
    expect(await kb.whoSees(made.welcome.id)).not.toEqual([]);
    Object.assign(made.welcome, { project: ops.id, key: "OPS-77", updated: Date.now() });
    jira.instead = ({ path, body }, response) => {
      const isOne = path.includes(`/project/${ops.id}/`) || body.includes(`project = ${ops.id}`);
      if (isOne) response.writeHead(403, { "content-type": "application/json" }).end("{}");
      return isOne;
    };
    await kb.sync();
    expect(await kb.whoSees(made.welcome.id)).toEqual([]);
    jira.instead = undefined;
    await kb.sync("full");
    await same();
  });

  test("an account that is signed out removes nothing, though searches are answered", async () => {
    for (const isSaid of [true, false]) {
      const { world, jira, kb, rows } = await open();
      const before = await rows();
      if (isSaid) world.tokens.delete(TOKEN);
      else {
        jira.instead = ({ path }, response) => {
          // Once the run has begun, everybody is nobody.
          const isBegun = jira.requests.some((asked) => asked.path.includes("/search"));
          if (!isBegun || path.includes("/project/")) return false;
          const isSearch = path.includes("/search");
          response.writeHead(isSearch ? 200 : 401, { "content-type": "application/json" });
          response.end(isSearch ? '{"issues":[],"isLast":true}' : "{}");
          return true;
        };
        jira.requests.length = 0;
      }
      await kb.sync("full");
      const { state, problem } = await kb.lastSync();
      expect([state, problem?.code]).toEqual(["failed", "auth_required"]);
      expect(await rows()).toEqual(before);
    }
  });

  test("Data Center: who is in a role by login reads, and a level that no one tells is no one's", async () => {
    const { world, kb, same, jira, rows } = await open("data_center");
    const { ids, made } = world;
    await same();
    expect(await kb.whoSees(made.secret.id)).toEqual([]);
    expect(await kb.whoSees(made.plan.id)).toEqual([ids.ann, ids.dan]);
    // Internal or not, Data Center does not say: comments of a service desk are for who has access.
    expect(await kb.whoSees(`${made.outage.id}.c${made.internal.id}`)).toEqual([ids.ann, ids.ben, ids.cid]);

    // Who deletes while it is listed moves the rest forward: nothing that stays is missed.
    const more = [1, 2, 3, 4, 5].map((at) => world.add("LOBBY", `One of many, ${at}`));
    jira.instead = ({ path, body }) => {
      if (path.endsWith("/search") && /"startAt":[1-9]/.test(body) && world.issues.includes(made.welcome))
        world.issues.splice(world.issues.indexOf(made.welcome), 1);
      return false;
    };
    await kb.sync("full");
    expect(await rows()).toEqual(expect.arrayContaining(more.map(({ id }) => id)));

    // A listing that ends before its end removes nothing.
    const before = await rows();
    jira.instead = ({ path, body }, response) => {
      if (!path.endsWith("/search") || !/"startAt":[1-9]/.test(body)) return false;
      response.writeHead(200, { "content-type": "application/json" }).end('{"startAt":3,"total":90,"issues":[]}');
      return true;
    };
    await kb.sync("full");
    expect((await kb.lastSync()).state).toBe("failed");
    expect(await rows()).toEqual(before);
  });
});
