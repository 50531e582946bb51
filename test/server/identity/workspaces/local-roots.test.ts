import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { makeServer, type TestServerOptions } from "../../../helpers.ts";
import { tempDir } from "../../../temp-dir.ts";

async function makeRoots(options: TestServerOptions = {}) {
  const kb = await makeServer(options);
  const owner = await kb.addOwner();
  const folder = tempDir();
  return { kb, owner, folder, me: kb.as(owner) };
}

describe("local roots", () => {
  test("are added by their real path, once, listed and taken away", async ({ expect }) => {
    const { kb, me, owner, folder } = await makeRoots({ settings: { localRoots: ["/srv/shared"] } });
    const docs = join(folder, "docs");
    mkdirSync(docs);
    symlinkSync(docs, join(folder, "link"));
    const added = await me.post("/api/local-roots", { path: join(folder, "link") });
    expect(added).toMatchObject({ status: 201, json: { root: { path: docs, createdBy: owner.userId } } });
    expect((await me.post("/api/local-roots", { path: `${docs}/` })).json).toEqual(added.json);
    const fixed = { id: null, path: "/srv/shared", createdBy: null, createdAt: null };
    expect((await me.get("/api/local-roots")).json).toEqual({ roots: [fixed, added.json.root], nextCursor: null });
    expect(await kb.deps.localRoots.allowed()).toEqual([docs]);
    expect((await me.delete(`/api/local-roots/${added.json.root.id}`)).status).toBe(204);
    expect((await me.delete(`/api/local-roots/${added.json.root.id}`)).status).toBe(404);
    expect(await kb.deps.localRoots.allowed()).toEqual([]);
    const entries = (await me.get("/api/audit")).json.entries.map((entry: { action: string }) => entry.action);
    expect(entries.filter((action: string) => action.startsWith("local_root"))).toEqual([
      "local_root.removed",
      "local_root.added",
    ]);
  });

  test.for([
    "/",
    "/etc",
    "/etc/ssl",
    "/proc/self",
    "/usr",
    "/var",
    "/home",
    "relative/docs",
    "/nowhere/at/all",
    "/dev/null",
    "/tmp\0x",
  ])("%s is refused", async (path, { expect }) => {
    const { me } = await makeRoots();
    expect(await me.post("/api/local-roots", { path })).toMatchObject({
      status: 422,
      json: { code: "root_not_allowed", field: "path" },
    });
  });

  test("the data folder, what holds it, what is in it, a whole home and a file are refused", async ({ expect }) => {
    const homeDir = tempDir();
    const { kb, me, folder } = await makeRoots({ settings: { homeDir } });
    mkdirSync(join(kb.settings.dataDir, "inner"));
    symlinkSync(kb.settings.dataDir, join(folder, "sneaky"));
    writeFileSync(join(folder, "file.txt"), "x");
    mkdirSync(join(homeDir, "docs"));
    const paths = [
      kb.settings.dataDir,
      join(kb.settings.dataDir, "inner"),
      join(kb.settings.dataDir, ".."),
      join(folder, "sneaky"),
      join(folder, "file.txt"),
      homeDir,
    ];
    for (const path of paths) expect([path, (await me.post("/api/local-roots", { path })).status]).toEqual([path, 422]);
    expect((await me.post("/api/local-roots", { path: join(homeDir, "docs") })).status).toBe(201);
  });

  test("only the owner, in a session, from this very machine", async ({ expect }) => {
    const { kb, owner, folder } = await makeRoots();
    const admin = await kb.addMember(owner.workspaceId, "admin");
    const token = await kb.token(owner, ["kb:api", "kb:admin"]);
    const body = { path: folder };
    expect((await kb.as(admin).post("/api/local-roots", body)).status).toBe(403);
    expect((await kb.withToken(token).post("/api/local-roots", body)).status).toBe(403);
    for (const request of [
      { body, ip: "192.168.1.5" },
      { body, ip: "::ffff:10.0.0.1" },
      { body, headers: { "x-forwarded-for": "127.0.0.1" } },
      { body, headers: { forwarded: "for=127.0.0.1" } },
    ]) {
      const answer = await kb.as(owner).request("POST", "/api/local-roots", request);
      expect(answer).toMatchObject({ status: 403, json: { code: "forbidden" } });
    }
    for (const ip of ["127.0.0.1", "::1", "::ffff:127.0.0.1"]) {
      expect((await kb.as(owner).request("POST", "/api/local-roots", { body, ip })).status).toBe(201);
    }
  });

  test("not where strangers own workspaces", async ({ expect }) => {
    for (const settings of [{ mode: "managed" }, { signup: "open" }] as const) {
      const { me, folder } = await makeRoots({ settings });
      expect((await me.post("/api/local-roots", { path: folder })).status).toBe(403);
      expect((await me.get("/api/local-roots")).status).toBe(403);
    }
  });

  test.for([
    ["no path", {}, "path"],
    ["an unknown key", { path: "/srv", recursive: true }, "recursive"],
    ["too long a path", { path: `/${"a".repeat(4096)}` }, "path"],
  ] as const)("refuses %s", async ([, body, field], { expect }) => {
    const { me } = await makeRoots();
    expect(await me.post("/api/local-roots", body)).toMatchObject({ status: 400, json: { field } });
  });
});
