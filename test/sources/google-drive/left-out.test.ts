import { describe, expect, test } from "vitest";
import { copyReplica, makeReplica, runInto } from "../../kit/replica.ts";
import { makeDriveFixture, makeDriveWorld, TEAM, toGroup } from "./fixture.ts";

describe("google-drive, and what a listing leaves out, with a fake of ours", { timeout: 60_000 }, () => {
  async function open() {
    const there = await makeDriveWorld();
    const fixture = await makeDriveFixture(there);
    const replica = makeReplica();
    await runInto(fixture, replica);
    there.google.paths = [];
    const asked = () => there.google.paths.flatMap((path) => /\/files\/(file-\w+)$/.exec(path)?.[1] ?? []);
    return { ...there, fixture, replica, asked };
  }

  test.each(["full", "access"] as const)("what is there stays, with a run in mode %s", async (mode) => {
    const { world, google, places, files, fixture, replica } = await open();
    const accessOf = (id: string) => JSON.stringify(replica.items.get(id)?.access);
    const before = accessOf(files.deep);
    for (const id of [files.deep, files.design, files.shown, places.plans]) google.unlisted.add(id);
    for (const id of [files.budget, files.minutes]) world.destroy(id);
    world.change(files.open, { isTrashed: true });
    await runInto(fixture, replica, { mode });
    const stored = [files.deep, files.design, files.shown, files.plan].map((id) => replica.items.has(id));
    expect(stored).toEqual([true, true, true, true]);
    expect(accessOf(files.deep)).toBe(before);
    for (const id of [files.budget, files.minutes, files.open]) expect(replica.items.has(id)).toBe(false);
  });

  test.each(["folder", "file"])("a listing of %ss that Google has cut is not taken for the whole", async (kind) => {
    const { google, fixture, replica } = await open();
    const before = [...replica.items.keys()].sort();
    google.instead = ({ path, query }, response) => {
      const isFolders = (query.get("q") ?? "").includes("mimeType='");
      if (!path.endsWith("/files") || isFolders !== (kind === "folder")) return false;
      response.writeHead(200, { "content-type": "application/json" }).end('{"files":[],"incompleteSearch":true}');
      return true;
    };
    const { events } = await runInto(fixture, replica, { mode: "full" });
    expect(events.at(-1)).toMatchObject({ t: "end", listing: "partial", permissions: "not_checked" });
    expect([...replica.items.keys()].sort()).toEqual(before);
  });

  test("who reads what is left out is asked again", async () => {
    const { world, google, files, fixture, replica } = await open();
    google.unlisted.add(files.budget);
    world.change(files.budget, { grants: [toGroup(TEAM)] });
    const before = JSON.stringify(replica.items.get(files.budget)?.access);
    await runInto(fixture, replica);
    expect(replica.items.has(files.budget)).toBe(true);
    expect(JSON.stringify(replica.items.get(files.budget)?.access)).not.toBe(before);
  });

  test("what is in a folder that moved stays", async () => {
    const { world, google, places, files, fixture, replica } = await open();
    google.unlisted.add(files.deep);
    world.change(places.inner, { name: "Innermost" });
    await runInto(fixture, replica, { mode: "incremental" });
    expect(JSON.stringify(replica.items.get(files.deep))).toContain("Innermost");
  });

  test("a listing that goes on asks for nothing that it named before it was killed", async () => {
    const { world, google, places, files, fixture, replica, asked } = await open();
    for (let at = 0; at < 20; at++) world.add(`more-${at}.txt`, places.root);
    await runInto(fixture, replica);
    const before = [...replica.items.keys()].sort();
    const { events } = await runInto(fixture, makeReplica());
    const pages = events.flatMap(({ t, ...event }, at) =>
      t === "checkpoint" && JSON.stringify(event).includes('"page"') ? [at + 1] : [],
    );
    google.unlisted.add(files.plan);
    google.paths = [];
    await runInto(fixture, replica, { killAfter: pages.at(-1) ?? 0 });
    await runInto(fixture, replica, { isResume: true });
    expect([...replica.items.keys()].sort()).toEqual(before);
    expect(new Set(asked())).toEqual(new Set([files.plan]));
  });

  test.each(["full", "incremental"] as const)(
    "what is in a folder that moved follows, wherever a run in mode %s was killed before",
    async (mode) => {
      const { world, places, fixture, replica } = await open();
      const ids = Array.from({ length: 20 }, (_, at) => world.add(`more-${at}.txt`, places.inner));
      await runInto(fixture, replica);
      world.change(places.inner, { name: "Innermost" });
      const { events } = await runInto(fixture, copyReplica(replica), { mode });
      for (const at of events.flatMap(({ t }, nth) => (t === "checkpoint" ? [nth + 1] : []))) {
        const killed = copyReplica(replica);
        await runInto(fixture, killed, { mode, killAfter: at });
        await runInto(fixture, killed, { mode: "incremental" });
        for (const id of ids) expect(JSON.stringify(killed.items.get(id))).toContain("Innermost");
      }
    },
  );
});
