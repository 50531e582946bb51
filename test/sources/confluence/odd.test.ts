import { describe, expect, test } from "vitest";
import { copyReplica, makeReplica, runInto, snapshotOf } from "../../kit/replica.ts";
import { openSite } from "./fixture.ts";

type Answer = { id?: unknown; results?: Answer[]; [key: string]: unknown };

const DAY_MS = 86_400_000;

// No Confluence runs here: a fake of ours answers.
describe.each(["cloud", "data_center"] as const)("confluence and odd records, as %s", { timeout: 60_000 }, (kind) => {
  /** A site on which some of what is said of one thing is odd. */
  async function open() {
    const site = await openSite(kind);
    const spoil =
      (id: string, odd: Record<string, unknown>, isIn: (url: string) => boolean = () => true) =>
      (url: string, value: unknown) => {
        const answer = value as Answer;
        const isIt = (each: Answer) => each.id === id || each.id === `att${id}`;
        if (isIn(url)) for (const each of [answer, ...(answer.results ?? [])]) if (isIt(each)) Object.assign(each, odd);
        return answer;
      };
    return { ...site, spoil };
  }

  test("a page that doesn't say its space stays open, and is read once it does", async () => {
    const { world, fixture, spoil } = await open();
    const replica = makeReplica();
    await runInto(fixture, replica);
    const { blue } = world.made;
    world.edit(blue, "Edited.");
    const rewrite = spoil(blue.id, { space: null, spaceId: null });
    const { events } = await runInto({ ...fixture, rewrite }, replica, { mode: "incremental" });
    expect(events.filter(({ t }) => t === "refused")).toEqual([]);
    expect(events).toContainEqual(expect.objectContaining({ t: "skip", externalId: blue.id, reason: "failed" }));
    await runInto(fixture, replica, { mode: "incremental" });
    expect(JSON.stringify(replica.items.get(blue.id))).toContain("Edited.");
  });

  test.each(["space", "container"])("a comment that says no %s is read once it does", async (key) => {
    const { world, fixture, spoil } = await open();
    const replica = makeReplica();
    await runInto(fixture, replica);
    const comment = world.comment(world.made.blue, world.ids.ann, "<p>Late.</p>");
    const rewrite = spoil(comment.id, { [key]: null });
    const { events } = await runInto({ ...fixture, rewrite }, replica, { mode: "incremental" });
    expect(events).toContainEqual(expect.objectContaining({ t: "skip", externalId: `c${comment.id}` }));
    // As if it were said long ago.
    comment.updated = Date.now() - 3 * DAY_MS;
    replica.cursor = { feed: { at: Date.now() } };
    await runInto(fixture, replica, { mode: "incremental" });
    expect(replica.items.has(`c${comment.id}`)).toBe(true);
  });

  // Data Center names people in the item itself.
  test.each(kind === "cloud" ? [500, 403] : [])(
    "no page is left out because the names of people can't be read (%s)",
    async (status) => {
      const { site, fixture } = await open();
      const whole = makeReplica();
      await runInto(fixture, whole);
      const replica = makeReplica();
      site.instead = ({ path }, response) => {
        if (!path.endsWith("/users-bulk")) return false;
        response.writeHead(status, { "content-type": "application/json" }).end("{}");
        return true;
      };
      const { events } = await runInto(fixture, replica);
      expect(events.filter(({ t }) => t === "skip" || t === "refused")).toEqual([]);
      expect([...replica.items.keys()].sort()).toEqual([...whole.items.keys()].sort());
      if (status !== 500) return;
      // With their names once these are there.
      site.instead = undefined;
      await runInto(fixture, replica);
      expect(snapshotOf(replica)).toEqual(snapshotOf(whole));
    },
  );

  test("a page that fails is asked for by itself, and what changed meanwhile is read once", async () => {
    const { world, fixture, spoil } = await open();
    const replica = makeReplica();
    await runInto(fixture, replica);
    const { blue } = world.made;
    world.edit(blue, "Edited.");
    const rewrite = spoil(blue.id, { version: 5 });
    // Nothing was read for three days.
    replica.cursor = { feed: { at: Date.now() - 3 * DAY_MS } };
    const { events } = await runInto({ ...fixture, rewrite }, replica, { mode: "incremental" });
    expect(events).toContainEqual(expect.objectContaining({ t: "skip", externalId: blue.id, reason: "failed" }));
    expect(Object(replica.cursor).feed.at).toBeGreaterThan(Date.now() - DAY_MS);
    // The index has forgotten that it changed.
    blue.updated = Date.now() - 2 * DAY_MS;
    await runInto(fixture, replica, { mode: "incremental" });
    expect(JSON.stringify(replica.items.get(blue.id))).toContain("Edited.");
  });

  test("a page that failed is asked for after a listing of everything that never came to its end", async () => {
    const { world, fixture, spoil } = await open();
    const replica = makeReplica();
    await runInto(fixture, replica);
    const { lunch } = world.made;
    world.edit(lunch, "Edited.");
    await runInto({ ...fixture, rewrite: spoil(lunch.id, { version: 5 }) }, replica, { mode: "incremental" });
    lunch.updated = Date.now() - 2 * DAY_MS;
    replica.cursor = { feed: { at: Date.now() } };
    // Killed at its first checkpoint, and cancelled: no other attempt follows.
    const { events } = await runInto(fixture, copyReplica(replica));
    await runInto(fixture, replica, { killAfter: events.findIndex(({ t }) => t === "checkpoint") + 1 });
    expect(JSON.stringify(replica.items.get(lunch.id))).not.toContain("Edited.");
    await runInto(fixture, replica, { mode: "incremental" });
    expect(JSON.stringify(replica.items.get(lunch.id))).toContain("Edited.");
  });

  test("a page that a listing of everything could not read is said to have failed, and read by the next increment", async () => {
    const { world, fixture, spoil } = await open();
    const { blue } = world.made;
    const rewrite = spoil(blue.id, { version: 5 }, (url) => !url.includes("cql") && !/[?&]id=/.test(url));
    const replica = makeReplica();
    const { events } = await runInto({ ...fixture, rewrite }, replica);
    expect(replica.items.has(blue.id)).toBe(false);
    expect(events).toContainEqual(expect.objectContaining({ t: "skip", externalId: blue.id, reason: "failed" }));
    await runInto(fixture, replica, { mode: "incremental" });
    expect(replica.items.has(blue.id)).toBe(true);
  });

  test("a page whose parent can't be told fails alone, and what stands below it is no one's", async () => {
    const { world, fixture, spoil } = await open();
    const { bonus, below } = world.made;
    const replica = makeReplica();
    await runInto(fixture, replica);
    const rewrite = spoil(bonus.id, { parentId: { odd: true }, space: kind === "cloud" ? undefined : null });
    const { events } = await runInto({ ...fixture, rewrite }, replica);
    const failed = events.flatMap((event) => (event.t === "skip" ? [event.externalId] : []));
    expect(failed).toContain(bonus.id);
    expect(failed.filter((id) => id.startsWith("space"))).toEqual([]);
    expect(replica.items.get(below.id)?.access).toEqual({ known: false });
  });
});
