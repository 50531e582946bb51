import { describe, expect, test } from "vitest";
import { makeReplica, runInto } from "../../kit/replica.ts";
import { openSite } from "./fixture.ts";

type Narrow = { jql: string };

// No Jira runs here: a fake of ours answers.
describe.each(["cloud", "data_center"] as const)(
  "jira while its index is built, as %s",
  { timeout: 60_000 },
  (kind) => {
    async function open(jql = "") {
      const site = await openSite(kind);
      const config: Narrow = { ...Object(site.fixture.config), jql };
      const fixture = { ...site.fixture, config };
      const replica = makeReplica();
      await runInto(fixture, replica);
      const partsOf = (id: string) => [...replica.items.keys()].filter((each) => each.split(".")[0] === id);
      const asked = () => site.jira.requests.flatMap(({ path }) => /\/issue\/(\d+)$/.exec(path)?.[1] ?? []);
      return { ...site, fixture, replica, partsOf, asked };
    }

    test.each(["full", "access", "incremental"] as const)(
      "what a search leaves out and is there stays, with a run in mode %s",
      async (mode) => {
        const { world, jira, fixture, replica, partsOf } = await open();
        const { plan, welcome, lunch } = world.made;
        const before = partsOf(plan.id);
        expect(before.length).toBeGreaterThan(5);
        for (const { id } of [plan, welcome]) jira.unindexed.add(id);
        world.issues.splice(world.issues.indexOf(lunch), 1);
        if (mode === "incremental") for (const key of ["ENG", "LOBBY"]) world.project(key).name = `New ${key}`;
        await runInto(fixture, replica, { mode });
        expect(partsOf(plan.id)).toEqual(before);
        expect(replica.items.has(welcome.id)).toBe(true);
        expect(replica.items.has(lunch.id)).toBe(false);
      },
    );

    test("what is left out and others read now is for those", async () => {
      const { world, jira, fixture, replica } = await open();
      const { approved } = world.made;
      const accessOf = () => JSON.stringify(replica.items.get(approved.id)?.access);
      const before = accessOf();
      jira.unindexed.add(approved.id);
      approved.reporter = world.ids.cid;
      await runInto(fixture, replica);
      expect(accessOf()).not.toBe(before);
      expect(accessOf()).toContain(encodeURIComponent(world.ids.cid));
    });

    test("what is archived, or in another project, goes, though it answers by its id", async () => {
      const { world, fixture, replica } = await open();
      const { plan, outage } = world.made;
      plan.archived = "2026-11-01T10:00:00.000+0000";
      outage.project = "closed";
      await runInto(fixture, replica);
      expect(replica.items.has(plan.id)).toBe(false);
      expect(replica.items.has(outage.id)).toBe(false);
      await runInto(fixture, replica, { mode: "items", externalIds: [plan.id] });
      expect(replica.items.has(plan.id)).toBe(false);
    });

    test("with a narrowing, what the index has and does not match goes, and what it has not stays", async () => {
      const { world, jira, fixture, replica, partsOf } = await open("labels != secretive");
      const { plan, welcome, lunch } = world.made;
      const before = partsOf(plan.id);
      jira.unindexed.add(plan.id);
      welcome.labels = ["secretive"];
      for (const run of [{}, { mode: "items", externalIds: [plan.id, welcome.id, lunch.id] } as const]) {
        await runInto(fixture, replica, run);
        expect(partsOf(plan.id)).toEqual(before);
        expect(replica.items.has(welcome.id)).toBe(false);
        expect(replica.items.has(lunch.id)).toBe(true);
      }
    });

    test("with a narrowing, what the index takes up after the listing stays", async () => {
      const { world, jira, fixture, replica, partsOf, asked } = await open("labels != secretive");
      const { plan } = world.made;
      const before = partsOf(plan.id);
      jira.requests.length = 0;
      jira.unindexed.has = (id) => id === plan.id && !asked().includes(plan.id);
      await runInto(fixture, replica);
      expect(asked()).toEqual([plan.id]);
      expect(partsOf(plan.id)).toEqual(before);
    });

    test("a listing that goes on asks for nothing that it named before it was killed", async () => {
      const { world, jira, fixture, replica, asked } = await open();
      for (let at = 0; at < 12; at++) world.add("LOBBY", `One of many, ${at}`);
      await runInto(fixture, replica);
      let after = 0;
      const isInLobby = (cursor: unknown) => JSON.stringify(cursor).includes(`"id":"${world.project("LOBBY").id}"`);
      const { events } = await runInto(fixture, makeReplica());
      events.forEach((event, at) => {
        if (event.t === "checkpoint" && isInLobby(event.cursor)) after = at + 1;
      });
      expect(after).toBeGreaterThan(0);
      jira.requests.length = 0;
      jira.unindexed.add(world.made.plan.id);
      const before = [...replica.items.keys()].sort();
      await runInto(fixture, replica, { killAfter: after });
      await runInto(fixture, replica, { isResume: true });
      expect([...replica.items.keys()].sort()).toEqual(before);
      expect(new Set(asked())).toEqual(new Set([world.made.plan.id]));
    });

    test("of many that are gone 500 are asked for, and of many that are left out each", async () => {
      const { world, jira, fixture, replica, asked } = await open();
      const many = Array.from({ length: 560 }, (_, at) => world.add("LOBBY", `One of many, ${at}`));
      await runInto(fixture, replica);
      for (const { id } of many) jira.unindexed.add(id);
      jira.requests.length = 0;
      await runInto(fixture, replica);
      expect(many.every(({ id }) => replica.items.has(id))).toBe(true);
      expect(new Set(asked()).size).toBe(560);
      world.issues.splice(world.issues.indexOf(many[0] ?? world.made.plan), 560);
      jira.requests.length = 0;
      await runInto(fixture, replica);
      expect(many.some(({ id }) => replica.items.has(id))).toBe(false);
      expect(asked().length).toBeGreaterThan(250);
      expect(asked().length).toBeLessThanOrEqual(500);
    });
  },
);
