import { describe, expect, test } from "vitest";
import { textOfAdf } from "#sources/atlassian/adf.ts";
import { textOfWiki } from "#sources/jira/wiki.ts";
import { makeReplica, runInto, snapshotOf } from "../../kit/replica.ts";
import { openSite } from "./fixture.ts";
import type { Asked } from "./server.ts";

type Narrow = { jql: string };
const HOUR_MS = 3_600_000;

// No Jira runs here: a fake of ours answers.
describe("jira and what is cut, late or told twice", { timeout: 60_000 }, () => {
  const isSearch = ({ path }: Asked) => path.endsWith("/search/jql");

  test.each(["a page token that comes again", "no token for the rest"])(
    "a search that ends with %s is no whole listing",
    async (how) => {
      const { world, jira, fixture } = await openSite();
      for (let at = 0; at < 8; at++) world.add("LOBBY", `One of many, ${at}`);
      const replica = makeReplica();
      await runInto(fixture, replica);
      const before = [...replica.items.keys()];
      jira.rewrite = (body) => {
        if (how === "no token for the rest") return body.replace(/,"nextPageToken":"[^"]*"/, "");
        const first = /"nextPageToken":"(after-\d+)"/.exec(body)?.[1];
        again ??= first;
        return body.replace(/"nextPageToken":"[^"]*"/, `"nextPageToken":"${again}"`);
      };
      let again: string | undefined;
      const outcome = await runInto(fixture, replica).catch(({ code }: { code: string }) => code);
      expect(outcome).toBe("source_unavailable");
      expect([...replica.items.keys()]).toEqual(before);
    },
  );

  test("a change is found however long the run has been under way when it asks", async () => {
    const { world, jira, fixture } = await openSite();
    let late = 0;
    const slow = { ...fixture, context: { now: () => Date.now() + late } };
    const replica = makeReplica();
    await runInto(slow, replica);
    // A project that is called otherwise is read whole first, which takes as long as it takes.
    world.project("LOBBY").name = "Entrance";
    jira.instead = (asked) => {
      if (isSearch(asked) && asked.body.includes(`project = ${world.project("LOBBY").id} ORDER`)) late = 5 * HOUR_MS;
      return false;
    };
    jira.requests.length = 0;
    await runInto(slow, replica, { mode: "incremental" });
    const minutes = jira.requests.flatMap(({ body }) => /updated >= -(\d+)m/.exec(body)?.[1] ?? []).map(Number);
    expect(minutes.length).toBeGreaterThan(0);
    expect(Math.min(...minutes)).toBeGreaterThanOrEqual(300);
  });

  test("what a check of access opened closes with the next full listing", async () => {
    const { world, fixture } = await openSite();
    const ops = world.project("OPS");
    const closed = ops.browse.filter(({ type }) => type !== "reporter");
    const open = ops.browse;
    ops.browse = closed;
    const replica = makeReplica();
    await runInto(fixture, replica);
    const { outage } = world.made;
    const accessOf = () => JSON.stringify(replica.items.get(outage.id)?.access);
    const narrow = accessOf();
    ops.browse = open;
    await runInto(fixture, replica, { mode: "access" });
    expect(accessOf()).not.toBe(narrow);
    ops.browse = closed;
    await runInto(fixture, replica);
    expect(accessOf()).toBe(narrow);
  });

  test("an issue that has moved is where it is now after a check of access", async () => {
    const { world, fixture } = await openSite();
    const replica = makeReplica();
    await runInto(fixture, replica);
    const { outage } = world.made;
    const eng = world.project("ENG");
    Object.assign(outage, { project: eng.id, key: "ENG-900" });
    await runInto(fixture, replica, { mode: "access" });
    const homes = replica.items
      .get(outage.id)
      ?.containers?.filter(({ isHome }) => isHome)
      .map(({ id }) => id);
    expect(homes).toEqual([eng.id]);
    const whole = makeReplica();
    await runInto(fixture, whole);
    expect(snapshotOf(replica)).toEqual(snapshotOf(whole));
  });

  test("an issue that is not found by no one is not deleted", async () => {
    const { world, jira, fixture } = await openSite();
    const replica = makeReplica();
    await runInto(fixture, replica);
    const { plan } = world.made;
    jira.instead = ({ path }, response) => {
      if (!path.endsWith(`/issue/${plan.id}`)) return false;
      response.writeHead(404, { "content-type": "application/json", "x-seraph-loginreason": "AUTHENTICATED_FAILED" });
      response.end("{}");
      return true;
    };
    const run = runInto(fixture, replica, { mode: "items", externalIds: [plan.id] });
    await expect(run).rejects.toMatchObject({ code: "source_unauthorized" });
    expect(replica.items.has(plan.id)).toBe(true);
  });

  test("with a narrowing, a project that fails loses nothing", async () => {
    const { world, jira, fixture } = await openSite();
    const config: Narrow = { ...Object(fixture.config), jql: "labels != secretive" };
    const narrow = { ...fixture, config };
    const replica = makeReplica();
    await runInto(narrow, replica);
    const { plan } = world.made;
    plan.updated = Date.now();
    const eng = world.project("ENG");
    eng.name = "Engines";
    jira.instead = (asked, response) => {
      if (!isSearch(asked) || !asked.body.includes(`project = ${eng.id}`)) return false;
      response.writeHead(500, { "content-type": "application/json" }).end("{}");
      return true;
    };
    await runInto(narrow, replica, { mode: "incremental" });
    expect(replica.items.has(plan.id)).toBe(true);
  });
});

test("a text of blanks takes no time", { timeout: 3_000 }, () => {
  const blanks = " ".repeat(60_000);
  for (const odd of [`${blanks}x`, `|${blanks}x`, `h1.${blanks}x`]) {
    expect(textOfWiki(odd)).toMatch(/x$/);
    expect(textOfAdf(odd)).toMatch(/x$/);
  }
});
