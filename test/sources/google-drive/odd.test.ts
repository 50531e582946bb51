import { describe, expect, test } from "vitest";
import { makeReplica, runInto } from "../../kit/replica.ts";
import { makeDriveFixture, makeDriveWorld } from "./fixture.ts";

type Answer = { drives?: { id: string }[] };

// A fake of ours answers.
describe("google-drive and what is odd", { timeout: 60_000 }, () => {
  async function open() {
    const there = await makeDriveWorld();
    const fixture = await makeDriveFixture(there);
    const replica = makeReplica();
    const { google } = there;
    /** Google fails at who reads one thing. */
    const failAt = (id: string) => {
      google.instead = ({ path }, response) => {
        if (!path.endsWith(`/files/${id}/permissions`)) return false;
        response.writeHead(400, { "content-type": "application/json" }).end("{}");
        return true;
      };
    };
    return { ...there, fixture, replica, failAt };
  }
  const failed = (externalId: string) => expect.objectContaining({ t: "skip", externalId, reason: "failed" });

  test("a file that fails is asked for by itself, and what changed meanwhile is read once", async () => {
    const { world, google, places, files, fixture, replica, failAt } = await open();
    await runInto(fixture, replica);
    failAt(files.runbook);
    world.change(files.runbook, { name: "runbook-2.txt" });
    const token = () => Object(replica.cursor).feed.tokens[places.engineering];
    const before = token();
    const { events } = await runInto(fixture, replica, { mode: "incremental" });
    expect(events).toContainEqual(failed(files.runbook));
    expect(token()).not.toBe(before);
    google.instead = undefined;
    const other = world.add("other.txt", places.engineering);
    await runInto(fixture, replica, { mode: "incremental" });
    expect(replica.items.get(files.runbook)?.title).toBe("runbook-2.txt");
    expect(replica.items.has(other)).toBe(true);
    google.paths = [];
    await runInto(fixture, replica, { mode: "incremental" });
    expect(google.paths.filter((path) => path.includes(files.runbook))).toEqual([]);
  });

  test("what failed in a run of everything is asked for by the next increment", async () => {
    const { google, files, fixture, replica, failAt } = await open();
    failAt(files.runbook);
    await runInto(fixture, replica);
    expect(replica.items.has(files.runbook)).toBe(false);
    google.instead = undefined;
    await runInto(fixture, replica, { mode: "incremental" });
    expect(replica.items.has(files.runbook)).toBe(true);
  });

  test("what moved into a shared drive that isn't understood is hidden, and what was there stays open", async () => {
    const { world, places, files, fixture, replica } = await open();
    await runInto(fixture, replica);
    world.change(files.plan, { parent: places.sales });
    world.change(files.deal, { name: "deal-2.txt" });
    const rewrite = (_url: string, value: unknown) => {
      const { drives, ...answer } = value as Answer;
      return drives ? { ...answer, drives: drives.map((drive) => (drive.id === places.sales ? null : drive)) } : value;
    };
    const { events } = await runInto({ ...fixture, rewrite }, replica, { mode: "incremental" });
    expect(events.filter(({ t }) => t === "refused")).toEqual([
      { t: "refused", what: { externalId: files.plan }, code: "source_forbidden" },
    ]);
    await runInto(fixture, replica, { mode: "incremental" });
    expect(JSON.stringify(replica.items.get(files.plan)?.containers)).toContain(places.sales);
    expect(replica.items.get(files.deal)?.title).toBe("deal-2.txt");
  });

  test("a shared drive that fails in a run of everything is gone on with where its changes stood", async () => {
    const { world, google, places, fixture, replica } = await open();
    await runInto(fixture, replica);
    const isListed = ({ path, query }: { path: string; query: URLSearchParams }) =>
      path.endsWith("/files") && query.get("driveId") === places.engineering;
    let listings = 0;
    google.instead = (asked, response) => {
      if (!isListed(asked)) return false;
      listings++;
      response.writeHead(400, { "content-type": "application/json" }).end("{}");
      return true;
    };
    const added = world.add("added.txt", places.engineering);
    const { events } = await runInto(fixture, replica);
    expect(events).toContainEqual(failed(places.engineering));
    listings = 0;
    await runInto(fixture, replica, { mode: "incremental" });
    expect(replica.items.has(added)).toBe(true);
    expect(listings).toBe(0);
  });

  test("a folder that fails while its shared drive is read as a whole again keeps its readers", async () => {
    const { places, fixture, replica, failAt } = await open();
    await runInto(fixture, replica);
    const before = [...replica.told.groups.keys()].sort();
    delete Object(replica.cursor).feed.tokens[places.engineering];
    failAt(places.ops);
    await runInto(fixture, replica, { mode: "incremental" });
    expect([...replica.told.groups.keys()].sort()).toEqual(before);
  });

  test("a folder that isn't understood keeps its readers, and what is in it", async () => {
    const { places, fixture, replica } = await open();
    await runInto(fixture, replica);
    const before = [[...replica.told.groups.keys()].sort(), [...replica.items.keys()].sort()];
    const odd = (record: { id?: string }) => (record.id === places.ops ? { ...record, parents: 7 } : record);
    const rewrite = (_url: string, value: unknown) => {
      const { files, ...answer } = value as { id?: string; files?: { id: string }[] };
      return files ? { ...answer, files: files.map(odd) } : odd(answer);
    };
    await runInto({ ...fixture, rewrite }, replica);
    expect([[...replica.told.groups.keys()].sort(), [...replica.items.keys()].sort()]).toEqual(before);
  });

  test.each(["full", "incremental"] as const)(
    "a folder whose record says no id stays, with its readers and what is in it, in mode %s",
    async (mode) => {
      const { world, places, fixture, replica } = await open();
      await runInto(fixture, replica);
      const before = [[...replica.told.groups.keys()].sort(), [...replica.items.keys()].sort()];
      world.change(places.ops, { name: "Operations" });
      type Listed = { id?: string; fileId?: string; file?: Listed };
      const odd = ({ id, fileId, ...record }: Listed) =>
        id === places.ops || fileId === places.ops ? { ...record, file: 7 } : { id, fileId, ...record };
      const rewrite = (_url: string, value: unknown) => {
        const { files, changes, ...answer } = value as { files?: Listed[]; changes?: Listed[] };
        return {
          ...answer,
          ...(files && { files: files.map(odd) }),
          ...(changes && { changes: changes.map(odd) }),
        };
      };
      const { events } = await runInto({ ...fixture, rewrite }, replica, { mode });
      expect([[...replica.told.groups.keys()].sort(), [...replica.items.keys()].sort()]).toEqual(before);
      expect(events).toContainEqual(failed(`files of ${places.engineering}`));
    },
  );

  test("a cursor of before there were sessions is gone on from: nothing is listed", async () => {
    const { world, google, places, fixture, replica } = await open();
    await runInto(fixture, replica);
    replica.cursor = Object(replica.cursor).feed;
    for (const key of replica.state.keys()) if (key.startsWith("drive")) replica.state.delete(key);
    const added = world.add("added.txt", places.engineering);
    google.paths = [];
    await runInto(fixture, replica, { mode: "incremental" });
    expect(replica.items.has(added)).toBe(true);
    expect(google.paths.filter((path) => path.endsWith("/files"))).toEqual([]);
  });
});
