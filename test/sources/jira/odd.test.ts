import { describe, expect, test } from "vitest";
import { makeReplica, runInto } from "../../kit/replica.ts";
import { openSite } from "./fixture.ts";

const DAY_MS = 86_400_000;

type Answer = { id?: string; fields?: Record<string, unknown>; issues?: Answer[] };

// No Jira runs here: a fake of ours answers.
describe.each(["cloud", "data_center"] as const)("jira and odd records, as %s", { timeout: 60_000 }, (kind) => {
  test.each(["full", "access", "incremental", "items"] as const)(
    "an issue that doesn't say where it is isn't gone after a run in mode %s",
    async (mode) => {
      const { world, fixture } = await openSite(kind);
      const replica = makeReplica();
      await runInto(fixture, replica);
      const before = [...replica.items.keys()];
      const { plan } = world.made;
      Object.assign(plan, { summary: "Edited", updated: Date.now() });
      const rewrite = (_url: string, value: unknown) => {
        const answer = value as Answer;
        for (const issue of [answer, ...(answer.issues ?? [])])
          if (issue.id === plan.id && issue.fields) issue.fields["project"] = null;
        return answer;
      };
      const run = { mode, ...(mode === "items" && { externalIds: [plan.id] }) };
      const { events } = await runInto({ ...fixture, rewrite }, replica, run);
      expect(before.filter((id) => !replica.items.has(id))).toEqual([]);
      expect(events).toContainEqual(expect.objectContaining({ t: "skip", externalId: plan.id, reason: "failed" }));
      if (mode !== "incremental") return;
      await runInto(fixture, replica, { mode });
      expect(JSON.stringify(replica.items.get(plan.id))).toContain("Edited");
    },
  );

  test("an issue that fails is asked for by itself, and what changed meanwhile is read once", async () => {
    const { world, jira, fixture } = await openSite(kind);
    const replica = makeReplica();
    await runInto(fixture, replica);
    const { plan } = world.made;
    Object.assign(plan, { summary: "Edited", updated: Date.now() });
    const rewrite = (_url: string, value: unknown) => {
      const answer = value as Answer;
      for (const issue of [answer, ...(answer.issues ?? [])]) if (issue.id === plan.id) issue.fields = 5 as never;
      return answer;
    };
    // Nothing was read for three days.
    replica.cursor = { feed: { at: Date.now() - 3 * DAY_MS } };
    const { events } = await runInto({ ...fixture, rewrite }, replica, { mode: "incremental" });
    expect(events).toContainEqual(expect.objectContaining({ t: "skip", externalId: plan.id, reason: "failed" }));
    expect(Object(replica.cursor).feed.at).toBeGreaterThan(Date.now() - DAY_MS);
    // The index has forgotten that it changed.
    plan.updated = Date.now() - 2 * DAY_MS;
    await runInto(fixture, replica, { mode: "incremental" });
    expect(replica.items.get(plan.id)?.title).toContain("Edited");
    jira.requests.length = 0;
    await runInto(fixture, replica, { mode: "incremental" });
    expect(jira.requests.filter(({ path }) => path.endsWith(`/issue/${plan.id}`))).toEqual([]);
  });

  test("what failed in a run of everything is asked for by the next increment", async () => {
    const { world, fixture } = await openSite(kind);
    const { plan } = world.made;
    const rewrite = (_url: string, value: unknown) => {
      const answer = value as Answer;
      for (const issue of answer.issues ?? []) if (issue.id === plan.id) issue.fields = 5 as never;
      return answer;
    };
    plan.updated = Date.now() - 30 * DAY_MS;
    const replica = makeReplica();
    await runInto({ ...fixture, rewrite }, replica);
    expect(replica.items.has(plan.id)).toBe(false);
    await runInto(fixture, replica, { mode: "incremental" });
    expect(replica.items.has(plan.id)).toBe(true);
  });
});
