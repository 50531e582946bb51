import { describe, expect, test } from "vitest";
import { openEngine } from "../../kit/engine.ts";
import { expectSame, shownTo } from "../chat/readers.ts";
import {
  BEN,
  CID,
  DAN,
  type DriveWorld,
  idOf,
  KB,
  makeDriveFixture,
  makeDriveWorld,
  OUT,
  peopleOf,
  whoSees,
} from "./fixture.ts";
import { refuse } from "./server.ts";

const HOUR_MS = 3_600_000;
type Kb = Awaited<ReturnType<typeof openEngine>>;

async function open(prepare: (there: DriveWorld) => void = () => undefined) {
  const there = await makeDriveWorld();
  prepare(there);
  const kb = await openEngine(await makeDriveFixture(there));
  await kb.readPeople();
  await kb.work();
  // Who is told of between items is tied after that.
  await kb.readPeople();
  return { ...there, there, kb };
}

const same = (kb: Kb, there: DriveWorld) => expectSame(kb, peopleOf(there), (externalId) => whoSees(there, externalId));
/** The same without what is shown of it, which is much. */
async function alike(kb: Kb, there: DriveWorld): Promise<void> {
  const active = new Set(peopleOf(there).map(({ id }) => id));
  for (const { externalId } of await kb.rows()) {
    const here = (await kb.whoSees(externalId)).filter((id) => active.has(id));
    expect(here, there.world.at(externalId).name).toEqual(await whoSees(there, externalId));
  }
}
const namesOf = (there: DriveWorld, ids: readonly string[]) =>
  [...there.world.users]
    .flatMap(([email, { permissionId }]) => (ids.includes(permissionId) ? [email.split("@")[0]] : []))
    .sort();

describe("google-drive in the server, with a fake of ours", { timeout: 120_000 }, () => {
  test("people find what they read there: first, after a folder's sharing alone, and after a day of increments", async () => {
    const { kb, there, world, google, places, files } = await open();
    await same(kb, there);
    expect(namesOf(there, await kb.whoSees(files.plan))).toEqual(["ann", "dan", "kb"]);
    expect(namesOf(there, await kb.whoSees(files.minutes))).toEqual(["ann", "kb", "out"]);
    expect(namesOf(there, await kb.whoSees(files.deal))).toEqual(["cid", "kb", "oth"]);
    expect(namesOf(there, await kb.whoSees(files.link))).toEqual(["kb"]);
    // Whom one file in it was given does not learn what its folder is called.
    const given = await shownTo(kb, idOf(there, OUT));
    expect(given.listed.map(({ externalId }: { externalId: string }) => externalId)).toContain(files.budget);
    expect(JSON.stringify(given)).not.toMatch(/Plans|Ops/);

    // One row: nothing below is asked for.
    world.change(places.plans, { grants: [{ type: "user", who: CID, role: "reader" }] });
    google.paths = [];
    await kb.sync();
    expect(google.paths.filter((path) => /\/files\/file-|\/files$/.test(path))).toEqual([]);
    expect(namesOf(there, await kb.whoSees(files.plan))).toEqual(["cid", "kb"]);
    expect(namesOf(there, await kb.whoSees(files.deep))).toEqual(["cid", "kb"]);
    await alike(kb, there);

    // Somebody is put into a group in a group, somebody leaves, and a drive is given to others.
    world.groups.get("leads@acme.test")?.members.splice(0, 1, BEN);
    Object.assign(world.users.get(CID) ?? {}, { isGone: true });
    world.drives.get(places.sales)?.grants.push({ type: "user", who: DAN, role: "reader" });
    const added = world.add("later.txt", places.ops);
    for (let hours = 0; hours < 26; hours += 6.5) await kb.pass(6.5 * HOUR_MS);
    expect(namesOf(there, await kb.whoSees(added))).toEqual(["ann", "ben", "kb"]);
    const left: { externalId: string }[] = (await shownTo(kb, idOf(there, CID))).listed;
    expect(left.map(({ externalId }) => externalId)).toEqual([files.open]);
    await same(kb, there);
  });

  test("folders move, are renamed, limited, trashed and taken back, and drives come and go", async () => {
    const { kb, there, world, places, files } = await open();
    // With all that is in it, into a place for others.
    world.change(places.inner, { parent: places.limited });
    await kb.sync();
    expect(namesOf(there, await kb.whoSees(files.deep))).toEqual(["ben", "kb"]);
    world.change(places.limited, { isLimited: false });
    await kb.sync();
    await alike(kb, there);
    world.change(places.inner, { parent: places.ops, name: "Moved" });
    await kb.sync();
    await alike(kb, there);
    const shown: { kbId: string; path?: string[] }[] = (await shownTo(kb, idOf(there, BEN))).listed;
    expect(JSON.stringify(shown)).not.toContain("Plans");

    world.change(places.plans, { isTrashed: true });
    await kb.sync();
    const idsNow = async () => (await kb.rows()).map(({ externalId }) => externalId);
    expect(await idsNow()).not.toContain(files.plan);
    world.change(places.plans, { isTrashed: false });
    await kb.sync();
    expect(await idsNow()).toContain(files.plan);
    await alike(kb, there);

    const legal = world.drive("Legal", [
      { type: "user", who: KB, role: "organizer" },
      { type: "user", who: DAN, role: "reader" },
    ]);
    const contract = world.add("contract.txt", legal);
    world.drives.get(places.sales)?.grants.splice(0, 1);
    await kb.sync();
    expect(namesOf(there, await kb.whoSees(contract))).toEqual(["dan", "kb"]);
    expect(await idsNow()).not.toContain(files.deal);
    await alike(kb, there);
  });

  test("no one reads by what is no permission to read", async () => {
    const { kb, there, world, files } = await open(({ world: before, places }) => {
      const user = (more: object) => ({ type: "user", who: DAN, role: "reader", ...more });
      const tries: Record<string, object[]> = {
        "ended.txt": [user({ expirationTime: "2020-01-01T00:00:00Z" })],
        "soon.txt": [],
        "unread.txt": [user({ expirationTime: "never" })],
        "published.txt": [user({ view: "published" })],
        "role.txt": [user({ role: "lurker" })],
        "type.txt": [{ type: "audience", who: "acme.test", role: "reader", allowFileDiscovery: true }],
        "anyone.txt": [{ type: "anyone", role: "reader" }],
        "linked.txt": [{ type: "domain", who: "acme.test", role: "reader", allowFileDiscovery: false }],
        "other.txt": [{ type: "domain", who: "other.test", role: "reader", allowFileDiscovery: true }],
      };
      for (const [name, grants] of Object.entries(tries)) before.add(name, places.root, { grants: grants as never });
      before.add("pending.txt", places.root, { grants: [user({ pendingOwner: true, role: "writer" })] as never });
    });
    const of = async (name: string) =>
      namesOf(there, await kb.whoSees([...world.items.values()].find((item) => item.name === name)?.id ?? ""));
    for (const name of ["ended", "soon", "unread", "published", "role", "type", "anyone", "linked", "other"])
      expect(await of(`${name}.txt`), name).toEqual(["kb"]);
    expect(await of("pending.txt")).toEqual(["dan", "kb"]);

    // It ends before everything is surely read again.
    const soon = [...world.items.values()].find(({ name }) => name === "soon.txt")?.id ?? "";
    const until = (ms: number) => [
      { type: "user", who: DAN, role: "reader", expirationTime: new Date(kb.kb.clock.now() + ms).toISOString() },
    ];
    world.change(soon, { grants: until(HOUR_MS) });
    await kb.sync();
    expect(await of("soon.txt")).toEqual(["kb"]);
    world.change(soon, { grants: until(72 * HOUR_MS) });
    await kb.sync();
    expect(await of("soon.txt")).toEqual(["dan", "kb"]);

    // The address is another group's now.
    const team = world.groups.get("team@acme.test");
    for (const { grants } of [...world.drives.values(), ...world.items.values()])
      for (const grant of grants) if (grant.who === "team@acme.test") grant.id = team?.permissionId ?? "";
    world.group("team@acme.test", [OUT]);
    expect(team?.permissionId).not.toBe(world.groups.get("team@acme.test")?.permissionId);
    await kb.pass(13 * HOUR_MS);
    expect(namesOf(there, await kb.whoSees(files.design))).not.toContain("out");

    // Nor is who has an address now the one who had it.
    const former = idOf(there, CID);
    for (const { grants } of [...world.drives.values(), ...world.items.values()])
      for (const grant of grants) if (grant.who === CID) grant.id = former;
    world.user(CID);
    await kb.pass(HOUR_MS);
    await kb.readPeople();
    expect(await kb.whoSees(files.design)).not.toContain(idOf(there, CID));
    for (let hours = 0; hours < 26; hours += 6.5) await kb.pass(6.5 * HOUR_MS);
    expect(await kb.whoSees(files.design)).not.toContain(former);

    // A restriction of a drive narrows at once.
    const engineering = [...world.drives.values()].find(({ name }) => name === "Engineering");
    if (engineering) engineering.restrictions = { driveMembersOnly: true };
    await kb.sync();
    expect(namesOf(there, await kb.whoSees(files.minutes))).not.toContain("out");
  });

  test("without the right to read the directory, groups and domains let no one in", async () => {
    const { kb, there, google, files } = await open(({ google: before }) => void (before.hasDirectory = false));
    expect(namesOf(there, await kb.whoSees(files.plan))).toEqual(["ann", "kb"]);
    expect(namesOf(there, await kb.whoSees(files.handbook))).toEqual(["kb"]);
    google.hasDirectory = true;
    await kb.readPeople();
    await kb.sync("full");
    await alike(kb, there);
  });

  test("what goes wrong on the way deletes nothing, and hides only what was refused", async () => {
    const { kb, google, places, files, there, world } = await open();
    const before = (await kb.rows()).map(({ externalId }) => externalId).sort();
    const last = async () => (await kb.lastSync()).problem?.code;
    const during = async (instead: typeof google.instead, mode: "full" | "incremental" = "full") => {
      google.instead = instead;
      await kb.sync(mode);
      google.instead = undefined;
      expect((await kb.rows()).map(({ externalId }) => externalId).sort()).toEqual(before);
    };
    let pages = 0;
    const isLateList = (path: string) => path.endsWith("/files") && ++pages > 2;
    await during(({ path }, response) => isLateList(path) && (response.writeHead(500).end(), true));
    expect((await kb.lastSync()).state).toBe("partial");
    pages = 0;
    await during(({ path }, response) => {
      if (!isLateList(path)) return false;
      response.writeHead(200, { "content-type": "application/json", "content-length": "5000" }).write('{"files":[');
      setImmediate(() => response.destroy());
      return true;
    });
    expect(await last()).toBe("unreachable");
    await during(
      ({ path }, response) =>
        path.endsWith("/files") && (response.writeHead(302, { location: "http://169.254.169.254/" }).end(), true),
    );
    pages = 0;
    await during(
      ({ path }, response) =>
        isLateList(path) && (refuse(response, 429, "rateLimitExceeded", { "retry-after": "600" }), true),
    );
    await kb.pass(HOUR_MS);
    // A listing that Google says is not whole.
    await during(({ path, query }, response) => {
      const isWanted = path.endsWith("/files") && query.get("driveId") === places.engineering;
      if (isWanted)
        response.writeHead(200, { "content-type": "application/json" }).end('{"files":[],"incompleteSearch":true}');
      return isWanted;
    });
    // Changes that are forgotten: everything is read again.
    world.floor = world.latest + 1;
    world.touch(places.root);
    await kb.sync();
    await kb.work();
    await alike(kb, there);
    google.isRevoked = true;
    await kb.sync();
    expect(await last()).toBe("auth_required");
    expect(await kb.whoSees(files.plan)).toEqual([]);
  });

  test("a shared drive, or a folder in it, at which Google fails stays open to those who read it", async () => {
    const { kb, google, places, files } = await open();
    const readers = () => Promise.all([files.runbook, files.design, files.minutes].map((id) => kb.whoSees(id)));
    const before = await readers();
    const failing: ((asked: { path: string; query: URLSearchParams }) => boolean)[] = [
      ({ path, query }) => path.endsWith("/files") && query.get("driveId") === places.engineering,
      ({ path }) => path.endsWith(`/files/${places.engineering}/permissions`),
      ({ path }) => path.endsWith(`/files/${places.ops}/permissions`),
    ];
    for (const fails of failing) {
      google.instead = (asked, response) => fails(asked) && (response.writeHead(400).end("{}"), true);
      await kb.sync("full");
      google.instead = undefined;
      expect(await readers()).toEqual(before);
    }
  });

  test("texts are those of the version that was listed, and a refused one says why", async () => {
    const big = "x".repeat(10 * 1024 * 1024 + 1);
    const { kb, there, world, files, google } = await open(({ world: before, places }) => {
      before.add("Huge", places.root, { mimeType: "application/vnd.google-apps.document", content: big });
      const kinds = { Report: "document", Slides: "presentation", Numbers: "spreadsheet" };
      for (const [name, kind] of Object.entries(kinds)) {
        const mimeType = `application/vnd.google-apps.${kind}`;
        before.add(name, places.root, { mimeType, content: big, plain: `The words of ${name}` });
      }
      before.add("kept.txt", places.root, { canDownload: false });
      before.add("Short", places.root, { mimeType: "application/vnd.google-apps.shortcut" });
      before.add("Form", places.root, { mimeType: "application/vnd.google-apps.form" });
      before.add("id_rsa", places.root);
    });
    const rowOf = async (name: string) => {
      const { listed } = await shownTo(kb, idOf(there, KB));
      return (listed as { title: string; textState?: { message: string | null } }[]).find(
        ({ title }) => title === name,
      );
    };
    expect(await kb.textOf(files.budget)).toBe("Content of Budget.");
    expect(await rowOf("Huge")).toBeDefined();
    expect(await rowOf("kept.txt")).toBeDefined();
    expect(await rowOf("Form")).toBeDefined();
    expect(await rowOf("Short")).toBeUndefined();
    expect(await rowOf("id_rsa")).toBeUndefined();
    for (const name of ["Report", "Slides", "Numbers"]) {
      expect(await kb.textOf([...world.items.values()].find((item) => item.name === name)?.id ?? "")).toContain(
        `The words of ${name}`,
      );
    }
    expect((await rowOf("Huge"))?.textState?.message).toBe("Google exports documents up to 10 MB. This one is larger.");
    // Written while it is read: of neither version.
    world.change(files.plan, { content: "One." });
    google.instead = ({ path, query }) => {
      if (path.endsWith(files.plan) && query.get("alt") === "media") world.at(files.plan).content = "Two, and secret.";
      return false;
    };
    await kb.sync();
    google.instead = undefined;
    expect(await kb.textOf(files.plan)).not.toContain("secret");
    world.change(files.plan, { content: "Three." });
    await kb.sync();
    expect(await kb.textOf(files.plan)).toBe("Three.");
  });

  test("a drive for the organization alone is closed to others in its groups", async () => {
    const { kb, there, world, google } = await open(({ world: before }) => {
      before.groups.get("leads@acme.test")?.members.push(OUT);
      const engineering = [...before.drives.values()].find(({ name }) => name === "Engineering");
      if (engineering) engineering.restrictions = { domainUsersOnly: true };
    });
    const { design } = there.files;
    expect(namesOf(there, await kb.whoSees(design))).toEqual(["ann", "cid", "dan", "kb"]);
    await alike(kb, there);
    const engineering = [...world.drives.values()].find(({ name }) => name === "Engineering");
    if (engineering) engineering.restrictions = {};
    await kb.sync();
    expect(namesOf(there, await kb.whoSees(design))).toContain("out");
    if (engineering) engineering.restrictions = { domainUsersOnly: true };
    await kb.sync();
    expect(namesOf(there, await kb.whoSees(design))).not.toContain("out");
    // Whose domains are not told has groups that may have anybody in them.
    google.instead = ({ path }, response) => path.endsWith("/domains") && (refuse(response, 403, "forbidden"), true);
    await kb.sync();
    expect(namesOf(there, await kb.whoSees(design))).toEqual(["ann", "cid", "kb"]);
  });

  test("a file that is closed for now is hidden, not deleted", async () => {
    const { kb, there, world, google, files } = await open();
    const readers = await kb.whoSees(files.design);
    const isOne = (path: string) => path.endsWith(`/files/${files.design}`);
    google.instead = ({ path, query }, response) => {
      if (isOne(path)) refuse(response, 403, "insufficientFilePermissions");
      else if (path.endsWith("/changes") && query.has("pageToken"))
        response.writeHead(200, { "content-type": "application/json" }).end(
          JSON.stringify({
            changes: [{ changeType: "file", fileId: files.design, removed: true }],
            newStartPageToken: query.get("pageToken"),
          }),
        );
      else return false;
      return true;
    };
    await kb.sync();
    google.instead = undefined;
    expect((await kb.rows()).map(({ externalId }) => externalId)).toContain(files.design);
    expect(await kb.whoSees(files.design)).toEqual([]);
    world.touch(files.design);
    await kb.sync();
    expect(await kb.whoSees(files.design)).toEqual(readers);
    await alike(kb, there);
  });

  test("a permission ends on time, however long permissions count", async () => {
    const { kb, there, world, google, files } = await open();
    await kb.kb.as(kb.owner).patch("/api/workspace", { maxAclAgeHours: 96 });
    const grantsFor = (hours: number) => [
      {
        type: "user",
        who: DAN,
        role: "reader",
        expirationTime: new Date(kb.kb.clock.now() + hours * HOUR_MS).toISOString(),
      },
    ];
    world.change(files.open, { grants: grantsFor(72) });
    world.change(files.link, { grants: grantsFor(240) });
    await kb.sync();
    expect(namesOf(there, await kb.whoSees(files.link))).toContain("dan");
    google.instead = (_asked, response) => (response.writeHead(500).end(), true);
    for (let hours = 0; hours < 73; hours += 24.5) {
      await kb.pass(24.5 * HOUR_MS);
      expect(namesOf(there, await kb.whoSees(files.link)), `${hours}`).toContain("dan");
    }
    expect(namesOf(there, await kb.whoSees(files.open))).not.toContain("dan");
  });

  test("a directory that breaks off ends no one, and folders that are in each other end no run", async () => {
    const { kb, there, world, google, places, files } = await open(({ world: before }) => {
      for (const name of ["una", "vic", "wyn"]) before.user(`${name}@acme.test`);
    });
    const readers = await kb.whoSees(files.handbook);
    expect(namesOf(there, readers)).toContain("oth");
    google.instead = ({ path, query }, response) => {
      const isLater = path.endsWith("/users") && query.has("pageToken");
      if (isLater) refuse(response, 403, "forbidden");
      return isLater;
    };
    await kb.readPeople().catch(() => undefined);
    google.instead = undefined;
    expect(await kb.whoSees(files.handbook)).toEqual(readers);

    // Both moved while they were listed: each is seen in the other.
    const other = world.folder("Other", places.ops);
    google.instead = ({ path, query }, response) => {
      const isList = path.endsWith("/files") && query.get("driveId") === places.engineering;
      if (!isList && !path.endsWith(other)) return false;
      const folder = (id: string, parent: string) => ({
        id,
        name: id,
        mimeType: "application/vnd.google-apps.folder",
        parents: [parent],
        driveId: places.engineering,
      });
      const isOfFolders = (query.get("q") ?? "").includes("mimeType=");
      const answer = isList ? { files: isOfFolders ? [folder(places.ops, other)] : [] } : folder(other, places.ops);
      response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(answer));
      return true;
    };
    await kb.sync("full");
    google.instead = undefined;
    await kb.sync("full");
    await alike(kb, there);
  });
});
