import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, test } from "vitest";
import { makeOperatorProof } from "#core/operator-proof.ts";
import { makeServer, TEST_OPERATOR_KEY, type TestServerOptions } from "../../../helpers.ts";
import { tempDir } from "../../../temp-dir.ts";

async function makeRoots(options: TestServerOptions = {}) {
  const kb = await makeServer(options);
  const owner = await kb.addOwner();
  const folder = tempDir();
  /** The owner at the server's own terminal. */
  const me = {
    get: (path: string) => kb.as(owner).request("GET", path, { headers: kb.operator() }),
    post: (path: string, body: unknown) => kb.as(owner).request("POST", path, { body, headers: kb.operator() }),
    delete: (path: string) => kb.as(owner).request("DELETE", path, { headers: kb.operator() }),
  };
  return { kb, owner, folder, me };
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

  test("only an owner, in a session, who can read the data folder, wherever they are", async ({ expect }) => {
    const { kb, owner, folder } = await makeRoots();
    const admin = await kb.addMember(owner.workspaceId, "admin");
    const token = await kb.token(owner, ["kb:api", "kb:admin"]);
    const asked = { body: { path: folder }, headers: kb.operator() };
    const add = "/api/local-roots";
    expect((await kb.as(admin).request("POST", add, asked)).status).toBe(403);
    expect((await kb.withToken(token).request("POST", add, asked)).status).toBe(403);
    for (const ip of ["127.0.0.1", "::1", "192.168.1.5", "203.0.113.9"]) {
      expect((await kb.as(owner).request("POST", add, { ...asked, ip })).status).toBe(201);
    }
  });

  test.for([
    ["from the machine itself", {}, {}],
    ["from behind a proxy that names no client", { ip: "127.0.0.1" }, {}],
    ["by IPv6", { ip: "::1" }, {}],
    ["with a header that names this machine", {}, { "x-forwarded-for": "127.0.0.1", "x-real-ip": "127.0.0.1" }],
    ["with a made-up proof", {}, { "kb-operator": `kb_op_${Date.UTC(2030, 0, 1)}.${"A".repeat(43)}` }],
  ] as const)(
    "an owner %s, without the proof, neither sees, allows nor forgets a folder",
    async ([, request, headers], { expect }) => {
      const { kb, owner, folder, me } = await makeRoots();
      const { root } = (await me.post("/api/local-roots", { path: folder })).json;
      const ask = (method: string, path: string, body?: unknown) =>
        kb
          .as(owner)
          .request(method, path, { ...request, headers: { ...headers }, ...(body !== undefined && { body }) });
      for (const answer of [
        await ask("GET", "/api/local-roots"),
        await ask("POST", "/api/local-roots", { path: folder }),
        await ask("DELETE", `/api/local-roots/${root.id}`),
      ]) {
        expect(answer).toMatchObject({ status: 403, json: { code: "forbidden" } });
        expect(answer.json.hint).toContain("--data-dir");
      }
      expect(await kb.deps.localRoots.allowed()).toEqual([folder]);
    },
  );

  test("a proof lasts ten minutes and is of one installation", async ({ expect }) => {
    const { kb, owner } = await makeRoots();
    const proofs = {
      own: kb.operator(),
      early: { "kb-operator": makeOperatorProof(TEST_OPERATOR_KEY, kb.clock.now() + 60_000) },
      another: { "kb-operator": makeOperatorProof(new Uint8Array(32).fill(6), kb.clock.now()) },
    };
    const status = async (headers: Record<string, string>) =>
      (await kb.as(owner).request("GET", "/api/local-roots", { headers })).status;
    expect([await status(proofs.own), await status(proofs.early), await status(proofs.another)]).toEqual([
      200, 403, 403,
    ]);
    kb.clock.advance(10 * 60_000 - 1);
    expect(await status(proofs.own)).toBe(200);
    kb.clock.advance(1);
    expect(await status(proofs.own)).toBe(403);
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
