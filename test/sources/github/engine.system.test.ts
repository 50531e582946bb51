import { cpSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { openEngine } from "../../kit/engine.ts";
import { copyReplica, makeReplica, runInto } from "../../kit/replica.ts";
import { expectSame } from "../chat/readers.ts";
import { makeFiles } from "./files.ts";
import { makeGithubFixture } from "./fixture.ts";
import { idOf, makeWorld, type World } from "./world.ts";

const HOUR = 3_600_000;

/** Long ago, so that nothing is in the overlap of increments. */
function age({ fake }: World): void {
  for (const { issues, comments } of fake.repositories.values())
    for (const each of [...issues.values(), ...comments.values()]) each.updatedAt = Date.now() - 2 * HOUR;
}

describe("github in the engine, against a fake of ours", { timeout: 120_000 }, () => {
  test("everyone finds what GitHub shows them, in every way, at any time", async () => {
    const world = await makeWorld();
    const { fake, people, repositories, teams, issues, remark } = world;
    const files = makeFiles(world);
    const fixture = await makeGithubFixture(world, { content: ["issues", "pulls", "files"] });
    const engine = await openEngine(fixture);
    const same = async () => expectSame(engine, await fixture.people(), fixture.whoSees);
    await engine.readPeople();
    await engine.work();
    await same();
    const note = `r${repositories.web.id}:notes.md`;
    expect(await engine.textOf(note)).toContain("The pump is loud.");
    // Tim comes by the team below, Carl from outside, Sue by what is public alone.
    const ids = (...some: number[]) => some.map(String).sort();
    expect(await engine.whoSees(idOf(repositories.api, issues.first))).toEqual(ids(people.olga, people.tim));
    expect(await engine.whoSees(note)).toEqual(ids(people.olga, people.carl));
    expect(await engine.whoSees(`${idOf(repositories.web, issues.pull)}.v${remark.id}`)).toEqual(
      ids(people.olga, people.carl),
    );
    expect(await engine.whoSees(`r${repositories.inner.id}#1`)).toEqual(ids(people.olga, people.tim, people.mia));
    expect(await engine.whoSees(`r${repositories.site.id}#1`)).toEqual(ids(...Object.values(people)));

    // Somebody of another workspace finds nothing.
    const stranger = await engine.kb.addOwner();
    expect((await engine.kb.as(stranger).get("/api/connectors/all-files")).json.files).toEqual([]);

    // Permissions alone: one leaves the team, one is no collaborator any more, a repository is closed.
    teams.kids.members.delete(people.tim);
    repositories.web.direct.delete(people.carl);
    repositories.site.visibility = "private";
    await engine.readPeople();
    await same();
    expect(await engine.whoSees(note)).toEqual(ids(people.olga));

    // The base permission opens everything to members, and closes it again.
    fake.organization.base = "read";
    await engine.readPeople();
    await same();
    expect(await engine.whoSees(note)).toEqual(ids(people.olga, people.tim, people.mia));
    fake.organization.base = "none";
    await engine.readPeople();

    // More than a day of increments, with news in them.
    files.push("plan.md", "# Plan\n\nBuy a quiet pump.");
    fake.addIssue(repositories.inner, "Later");
    for (let hours = 0; hours < 26; hours += 2) await engine.pass(2 * HOUR);
    await same();
    expect(await engine.textOf(`r${repositories.web.id}:plan.md`)).toContain("quiet pump");
    const later = `r${repositories.inner.id}#2`;
    expect(await engine.whoSees(later)).toEqual(ids(people.olga, people.tim, people.mia));

    // Who is suspended reads nothing, whatever they are a member of.
    const mia = fake.users.get(people.mia);
    if (mia) mia.suspended_at = "2026-01-01T00:00:00Z";
    await engine.readPeople();
    expect(await engine.whoSees(later)).toEqual(ids(people.olga, people.tim));
  });

  test("a run of another connector that reads files meanwhile gets them as its own, and takes none away", async () => {
    const world = await makeWorld();
    const files = makeFiles(world);
    files.push("plan.md", "# Plan");
    files.push(".env", "KEY=1");
    const fixture = await makeGithubFixture(world, { content: ["files"] });
    const other = { ...fixture, context: { connector: { id: "con_3333333333333333", name: "Other" } } };
    const [one, two] = [makeReplica(), makeReplica()];
    const note = `r${world.repositories.web.id}:notes.md`;
    await runInto(fixture, one, {
      async onEvent(event) {
        // The page is at hand, and its files were not asked for yet.
        if (event.t !== "skip" || !event.externalId.endsWith(".env")) return;
        await runInto(other, two, { mode: "items", externalIds: [note] });
        expect(JSON.stringify(two.items.get(note)?.access)).toContain("con_3333333333333333");
        await runInto(other, two);
      },
    });
    for (const replica of [one, two]) expect([...replica.items.keys()]).toEqual([note, note.replace("notes", "plan")]);
  });

  test("a repository whose files can't be fetched keeps back neither its issues nor other repositories", async () => {
    const world = await makeWorld();
    const { fake, server, repositories } = world;
    const files = makeFiles(world);
    age(world);
    const fixture = await makeGithubFixture(world, { content: ["issues", "files"] });
    const replica = makeReplica();
    const fails = () => {
      server.instead = ({ path }, response) => path.includes("/web.git/") && (response.writeHead(500).end(), true);
    };
    fails();
    await runInto(fixture, replica);
    const later = [...replica.items.keys()].filter((id) => Number(/^r(\d+)/.exec(id)?.[1]) > repositories.web.id);
    expect(later).not.toEqual([]);
    server.instead = undefined;
    await runInto(fixture, replica);
    const before = [...replica.items.keys()].sort();
    files.push("later.md", "# Later");
    fails();
    const issue = fake.addIssue(repositories.web, "News");
    await runInto(fixture, replica, { mode: "incremental" });
    expect([...replica.items.keys()].sort()).toEqual([...before, idOf(repositories.web, issue)].sort());
    server.instead = undefined;
    await runInto(fixture, replica, { mode: "incremental" });
    expect(replica.items.has(`r${repositories.web.id}:later.md`)).toBe(true);
  });

  test("a file that a killed increment told, and that is deleted before the next one, goes", async () => {
    const world = await makeWorld();
    const files = makeFiles(world);
    const fixture = await makeGithubFixture(world, { content: ["files"] });
    for (const way of ["changes", "listing"]) {
      const replica = makeReplica();
      await runInto(fixture, replica);
      const before = [...replica.items.keys()];
      files.push("brief.md", "# Brief");
      const brief = `r${world.repositories.web.id}:brief.md`;
      const mode = way === "changes" ? "incremental" : "full";
      const { events } = await runInto(fixture, copyReplica(replica), { mode });
      const at = events.findIndex((event) => event.t === "upsert" && event.item.externalId === brief);
      const stored = events.findIndex(({ t }, index) => t === "checkpoint" && index > at);
      await runInto(fixture, replica, { mode, killAfter: stored + 1 });
      expect(replica.items.has(brief)).toBe(true);
      files.push("brief.md");
      await runInto(fixture, replica, { mode: "incremental" });
      expect([...replica.items.keys()]).toEqual(before);
    }
  });

  test("a repository whose files could never be fetched lists its threads once, and loses those that are gone", async () => {
    const world = await makeWorld();
    const { fake, server, repositories } = world;
    const { web } = repositories;
    const files = makeFiles(world);
    age(world);
    const fixture = await makeGithubFixture(world, { content: ["issues", "files"] });
    const replica = makeReplica();
    const gone = fake.addIssue(web, "Short life");
    let fetches = 0;
    server.instead = ({ path }, response) => {
      if (!path.includes("/web.git/")) return false;
      fetches++;
      return (response.writeHead(500).end(), true);
    };
    await runInto(fixture, replica);
    expect(replica.items.has(idOf(web, gone))).toBe(true);
    fake.removeIssue(web, gone.number);
    server.requests.length = 0;
    const { events } = await runInto(fixture, replica, { mode: "incremental" });
    expect(events).toContainEqual(expect.objectContaining({ t: "skip", externalId: `r${web.id}`, reason: "failed" }));
    expect(replica.items.has(idOf(web, gone))).toBe(false);
    server.requests.length = 0;
    for (let at = 0; at < 4; at++) await runInto(fixture, replica, { mode: "incremental" });
    const whole = server.requests.filter(({ path }) => /\/repositories\/\d+\/issues\?(?!.*since=)/.test(path));
    expect(whole).toEqual([]);
    // After three failures its files wait.
    const before = fetches;
    await runInto(fixture, replica, { mode: "incremental" });
    expect(fetches).toBe(before);
    server.instead = undefined;
    files.push("later.md", "# Later");
    await runInto(fixture, replica);
    expect(replica.items.has(`r${web.id}:later.md`)).toBe(true);
  });

  test("an increment without news costs nothing of the limit but the listing and the counts", async () => {
    const world = await makeWorld();
    age(world);
    const { server } = world;
    const fixture = await makeGithubFixture(world);
    const replica = makeReplica();
    await runInto(fixture, replica);
    await runInto(fixture, replica, { mode: "incremental" });
    server.requests.length = 0;
    await runInto(fixture, replica, { mode: "incremental" });
    const charged = server.requests.filter(({ status }) => status !== 304).map(({ path }) => path.replace(/\?.*/, ""));
    expect(charged.filter((path) => path !== "/orgs/acme/repos")).toEqual(["/user", "/graphql"]);
    expect(server.requests.length).toBeLessThanOrEqual(3 * 4 + 5);
    // Without GraphQL too, few are asked.
    server.hasGraphql = false;
    server.requests.length = 0;
    await runInto(fixture, replica, { mode: "incremental" });
    const other = server.requests.filter(({ path }) => path.startsWith("/repositories/"));
    // The fake's pages of issues have no numbers, so they are counted page by page.
    expect(other.filter(({ status }) => status === 304)).toHaveLength(3 * 4);
    // News is found all the same.
    const issue = world.fake.addIssue(world.repositories.site, "News");
    await runInto(fixture, replica, { mode: "incremental" });
    expect(replica.items.get(idOf(world.repositories.site, issue))).toMatchObject({ title: "News" });
  });

  test("issues and comments that are edited, deleted and transferred keep or lose their items", async () => {
    const world = await makeWorld();
    const { fake, server, repositories, issues, comment, review, remark } = world;
    const { api, web, site } = repositories;
    const fixture = await makeGithubFixture(world);
    const replica = makeReplica();
    await runInto(fixture, replica);
    expect(replica.items.get(idOf(api, issues.first))).toMatchObject({
      kind: "task",
      subkind: "issue",
      key: "acme/api#1",
      title: "Login fails",
      status: "open",
      labels: ["bug"],
      assignees: [{ login: "olga", claimed: false }],
      fields: { milestone: "One" },
      url: `http://127.0.0.1:${server.port}/acme/api/issues/1`,
    });
    const pull = idOf(web, issues.pull);
    expect(replica.items.get(pull)).toMatchObject({ subkind: "pull_request", fields: { state: "open" } });
    const asGraphql = replica.items.get(`${pull}.r${review.id}`);
    expect(asGraphql).toMatchObject({ partOf: pull, subkind: "review", fields: { verdict: "approved" } });
    expect(replica.items.get(`${pull}.v${remark.id}`)).toMatchObject({ partOf: pull, fields: { file: "a.ts" } });
    // REST tells the same of it.
    server.hasGraphql = false;
    await runInto(fixture, replica);
    expect(replica.items.get(`${pull}.r${review.id}`)?.version).toBe(asGraphql?.version);

    for (const hasGraphql of [true, false]) {
      server.hasGraphql = hasGraphql;
      fake.change(issues.first, { state: "closed" });
      const lost = fake.addIssue(api, "Short life");
      const said = fake.addComment(api, lost, "Soon gone.");
      await runInto(fixture, replica, { mode: "incremental" });
      expect(replica.items.get(idOf(api, issues.first))).toMatchObject({ status: "done" });
      expect(replica.items.has(`${idOf(api, lost)}.c${said.id}`)).toBe(true);
      fake.removeIssue(api, lost.number);
      await runInto(fixture, replica, { mode: "incremental" });
      expect([...replica.items.keys()].filter((id) => id.startsWith(idOf(api, lost)))).toEqual([]);

      // What is transferred to a closed repository is not left with the readers of the open one, nor the other way round.
      const open = fake.addIssue(site, "To be closed");
      await runInto(fixture, replica, { mode: "incremental" });
      const closed = fake.transfer(site, open.number, api);
      await runInto(fixture, replica, { mode: "incremental" });
      expect(replica.items.has(idOf(site, open))).toBe(false);
      expect(replica.items.get(idOf(api, closed))).toMatchObject({ title: "To be closed", place: "acme/api" });
      const { events } = await runInto(fixture, replica, { mode: "items", externalIds: [idOf(site, open)] });
      expect(events).toContainEqual({ t: "delete", externalId: idOf(site, open) });
    }
    // Deleted comments go with a listing of everything, or when they are asked for.
    api.comments.delete(comment.id);
    const id = `${idOf(api, issues.first)}.c${comment.id}`;
    const { events } = await runInto(fixture, replica, {
      mode: "items",
      externalIds: [id, idOf(api, { ...issues.first, number: 99 })],
    });
    expect(events.filter(({ t }) => t === "delete")).toHaveLength(2);
  });

  test("a new repository that takes a name while files are read doesn't lend its files to the former one", async () => {
    const world = await makeWorld();
    const { fake, server, folder, repositories } = world;
    const { web } = repositories;
    makeFiles(world);
    const { head } = web;
    web.visibility = "public";
    const fixture = await makeGithubFixture(world, { content: ["files"] });
    const replica = makeReplica();
    server.instead = ({ path }) => {
      if (!path.startsWith("/acme/web.git/") || web.name !== "web") return false;
      web.name = "former";
      fake.addRepository("web", "private");
      return false;
    };
    const message = expect.stringContaining("acme/web was renamed or transferred");
    const { events } = await runInto(fixture, replica);
    expect(events).toContainEqual(expect.objectContaining({ t: "skip", reason: "failed", message }));
    expect([...replica.items.keys()]).toEqual([]);
    // Under its new name it has what it had.
    cpSync(join(folder, "acme", "web.git"), join(folder, "acme", "former.git"), { recursive: true });
    web.head = head;
    await runInto(fixture, replica);
    expect([...replica.items.keys()]).toEqual([`r${web.id}:notes.md`]);
  });
});
