import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { loadAuthority } from "#server/connectors/authority.ts";
import { requestIdentities } from "#server/sync/schedule/identity-requests.ts";
import { makeWebdavSource } from "#sources/webdav/index.ts";
import type { Source } from "#sources/contract.ts";
import { buildChild } from "../../extract/build-child.ts";
import { CONNECTOR, type Harness, makeHarness, WORKSPACE } from "../../server/sync/harness.ts";
import { syncKilling } from "../../server/sync/kill/run.ts";
import { tempDir } from "../../temp-dir.ts";
import { makePool, serve } from "../http/fixture.ts";
import { makeFiles } from "./fixture.ts";
import { type TestProxy, startProxy } from "../proxy.ts";
import { type DavServer, findPython, startServer } from "./server.ts";
import { answerTree, type Tree } from "./tree.ts";

const PYTHON = findPython();
/** The long form has 500, for changes and for readers: `KB_TEST_FILES=500 npx vitest run test/sources/webdav/engine.system.test.ts`. */
const FILES = Number(process.env["KB_TEST_FILES"] ?? 100);
/** Where the short form needs fewer. */
const FEW = Number(process.env["KB_TEST_FILES"] ?? 20);
/** A request to list each folder, and one for the root. */
const LISTINGS = FILES / 5 + 1;
const GROUP = "grp_2222222222222222";
let server: DavServer;
let root = "";
let folders = 0;

/** A connector to this folder of a server, in the real engine. */
async function connectTo(server: { port: number }, path: string) {
  // Its configurations were parsed by its own schema.
  const source = makeWebdavSource() as unknown as Source;
  const { pool, clock } = makePool([server]);
  const credentials = { username: "anna", password: "secret-of-anna" };
  const kb: Harness = await makeHarness(() => [], {
    findSource: () => source,
    http: pool,
    credentialsOf: async () => ({ credentials }),
    loadAuthority: async (_workspaceId, _source, connector) =>
      loadAuthority({ groups: kb.store.in(WORKSPACE).groups }, source, connector, undefined),
    people: { isTrusted: async () => false, onEnded: async () => undefined, link: async () => undefined },
    parallel: 1,
  });
  const url = `http://127.0.0.1:${server.port}${path}`;
  await kb.store.in(WORKSPACE).connectors.update(CONNECTOR, { config: { url, readers: ["workspace"] } });
  /** Time for all. */
  const pass = (ms: number) => void [(kb.clock.now += ms), (clock.now += ms)];
  return { kb, url, pass };
}

/** A connector to a folder of its own with so many files, 5 to a folder. */
async function connect(files = FILES) {
  const name = `engine-${++folders}`;
  const remote = makeFiles(root, name);
  for (let i = 0; i < files; i++) remote.write(`d${Math.floor(i / 5)}/f${i}.md`, `# File ${i}\n\nsome words`);
  const proxy = await startProxy(server.port);
  onTestFinished(() => proxy.stop());
  return { proxy, remote, ...(await connectTo(proxy, `/locked/${name}/`)) };
}

async function living(kb: Harness) {
  return (await kb.items()).filter(({ removedAt }) => removedAt === null);
}

function asked({ requests }: TestProxy): string {
  const count = (method: string) => requests.filter((each) => each.method === method).length;
  return `${count("PROPFIND")} PROPFIND, ${count("GET")} GET`;
}

function tell(what: string): void {
  process.stderr.write(`WebDAV: ${what}\n`);
}

describe.skipIf(PYTHON === undefined)("webdav in the engine, with a real server", { timeout: 120_000 }, () => {
  beforeAll(async () => {
    if (PYTHON === undefined) return undefined;
    root = mkdtempSync(join(tmpdir(), "kb-webdav-"));
    server = await startServer(PYTHON, root);
    return () => {
      server.stop();
      rmSync(root, { recursive: true, force: true });
    };
  });

  test("many files, then nothing, then a change, a removal and a new name: only that is read", async () => {
    const { kb, proxy, remote } = await connect();
    const since = performance.now();
    expect(await kb.sync()).toMatchObject({ state: "succeeded", counts: { upserted: FILES, failed: 0 } });
    const tookMs = Math.round(performance.now() - since);
    expect(await living(kb)).toHaveLength(FILES);
    tell(`${FILES} files first: ${asked(proxy)}, ${tookMs} ms, ${proxy.connections()} connection(s)`);

    proxy.requests.length = 0;
    expect(await kb.sync()).toMatchObject({ state: "succeeded", counts: { upserted: 0, unchanged: FILES } });
    expect(proxy.requests.map(({ method }) => method)).toEqual(Array.from({ length: LISTINGS }, () => "PROPFIND"));
    tell(`unchanged: ${asked(proxy)}`);

    proxy.requests.length = 0;
    remote.write("d3/f16.md", "# Changed\n\nother words");
    remote.remove("d4/f20.md");
    remote.rename("d5/f25.md", "d5/renamed.md");
    expect(await kb.sync()).toMatchObject({
      state: "succeeded",
      counts: { upserted: 2, deleted: 2, unchanged: FILES - 3 },
    });
    const ids = (await living(kb)).map(({ externalId }) => externalId);
    expect(ids).toHaveLength(FILES - 1);
    expect(ids).toContain("d5/renamed.md");
    expect(ids).not.toContain("d4/f20.md");
    tell(`changed, removed, renamed: ${asked(proxy)}; all runs over ${proxy.connections()} connection(s)`);
    expect(proxy.connections()).toBe(1);
  });

  test("a folder that answers 500 or 403 stays as it is, and the rest goes on", async () => {
    const { kb, proxy, remote } = await connect(20);
    await kb.sync();
    remote.write("d3/new.md");
    for (const status of [500, 403, 404]) {
      proxy.instead = ({ path }, response) => path.endsWith("/d1/") && (response.writeHead(status).end(), true);
      remote.write(`d2/after-${status}.md`);
      const { counts } = await kb.sync();
      expect(counts).toMatchObject({ deleted: 0, failed: status === 403 ? 0 : 1 });
      const ids = (await living(kb)).map(({ externalId }) => externalId);
      expect(ids.filter((id) => id.startsWith("d1/"))).toHaveLength(5);
      expect(ids).toContain(`d2/after-${status}.md`);
    }
    proxy.instead = undefined;
    expect(await kb.sync()).toMatchObject({ state: "succeeded", counts: { deleted: 0, failed: 0 } });
  });

  test("a server that fails everywhere removes nothing", async () => {
    const { kb, proxy } = await connect(20);
    await kb.sync();
    for (const [status, code] of [
      [500, "unreachable"],
      [404, "not_found"],
      [401, "auth_required"],
    ] as const) {
      proxy.instead = (_passed, response) => (response.writeHead(status).end(), true);
      expect(await kb.sync()).toMatchObject({ state: "failed", problem: { code } });
      expect(await living(kb)).toHaveLength(20);
    }
  });

  test("a 401 asks for other credentials, once, hides nothing, and its files go on with them", async () => {
    const { kb, proxy, remote } = await connect(20);
    await kb.sync();
    remote.write("d0/after.md");
    proxy.instead = (_passed, response) => (
      response.writeHead(401, { "www-authenticate": 'Basic realm="x"' }).end(),
      true
    );
    proxy.requests.length = 0;
    expect(await kb.sync()).toMatchObject({ state: "failed", problem: { code: "auth_required" } });
    expect(proxy.requests.length).toBeLessThanOrEqual(2);
    expect(await kb.connector()).toMatchObject({ state: "needs_reauth", refusedAt: kb.clock.now });
    expect(await living(kb)).toHaveLength(20);
    proxy.instead = undefined;
    expect(await kb.sync()).toMatchObject({ state: "succeeded", counts: { upserted: 1, unchanged: 20 } });
    expect(await kb.connector()).toMatchObject({ state: "active", refusedAt: null });
    expect(proxy.connections()).toBe(1);
  });

  test("other readers are one row, at once, and nothing is asked of the server", async () => {
    const { kb, proxy, url } = await connect(FEW);
    const { connectors, syncs } = kb.store.in(WORKSPACE);
    const members = async () => {
      const rows = await kb.database.read
        .selectFrom("memberships")
        .select(["groupPrincipal", "memberPrincipal"])
        .execute();
      return rows.map(({ groupPrincipal, memberPrincipal }) => `${memberPrincipal} in ${groupPrincipal}`).sort();
    };
    const tellPeople = async () => {
      const wish = { trigger: "manual", now: kb.clock.now, randomBytes } as const;
      const { syncId } = await kb.store.transaction(async (tx) =>
        requestIdentities(tx, WORKSPACE, await kb.connector(), wish),
      );
      await kb.worker.runUntilIdle();
      expect(await syncs.find(syncId)).toMatchObject({ state: "succeeded", counts: { seen: 1 } });
    };
    await kb.sync();
    await tellPeople();
    const group = `group:${CONNECTOR}:readers`;
    expect(await members()).toEqual([`workspace in ${group}`]);
    const items = await kb.items();
    const requests = proxy.requests.length;

    await kb.database.write
      .insertInto("groups")
      .values({
        workspaceId: WORKSPACE,
        groupId: GROUP,
        name: "Finance",

        createdAt: 1,
      })
      .execute();
    await connectors.update(CONNECTOR, { config: { url, readers: [GROUP] } });
    const since = performance.now();
    await tellPeople();
    tell(
      `other readers of ${FEW} files: ${Math.round(performance.now() - since)} ms, ${proxy.requests.length - requests} requests`,
    );
    expect(await members()).toEqual([`group:${GROUP} in ${group}`]);
    expect(await kb.items()).toEqual(items);
    expect(proxy.requests).toHaveLength(requests);
    // The next sync finds nothing to do: who reads is no part of an item.
    expect(await kb.sync()).toMatchObject({ counts: { upserted: 0, unchanged: FEW } });
    expect(await kb.items()).toEqual(items);
  });

  test("a 429 makes the run wait, and it goes on where it stood", async () => {
    const { kb, proxy, pass } = await connect(20);
    let left = 10;
    proxy.instead = (_passed, response) =>
      left-- <= 0 && (response.writeHead(429, { "retry-after": "3600" }).end(), true);
    const { syncId } = await kb.request();
    await kb.worker.runUntilIdle();
    const { syncs } = kb.store.in(WORKSPACE);
    expect(await syncs.find(syncId)).toMatchObject({ state: "waiting", finishedAt: null });
    tell(`429 with an hour to wait: ${-left} refused request(s)`);
    expect(-left).toBeLessThanOrEqual(2);
    proxy.instead = undefined;
    pass(3_700_000);
    await kb.worker.runUntilIdle();
    expect(await syncs.find(syncId)).toMatchObject({ state: "succeeded" });
    expect(await living(kb)).toHaveLength(20);
  });

  test("killed by the system in the middle, it ends in the same state", async () => {
    const { url } = await connect(150);
    const open = url.replace("/locked/", "/");
    const connected = { providerId: "webdav", config: { url: open, readers: ["workspace"] } };
    const child = [await buildChild("test/sources/webdav/child.ts")];
    const dir = tempDir();
    const calm = await syncKilling(join(dir, "calm.db"), open, [], child, connected);
    expect(calm.items).toBe(150);
    const moments = [
      { items: 1, delayMs: 0 },
      { items: 110, delayMs: 0 },
    ];
    const killed = await syncKilling(join(dir, "killed.db"), open, moments, child, connected);
    tell(`kill -9 at ${killed.hits.join(" and ")} of 150 items`);
    expect(killed.hits.length).toBeGreaterThan(0);
    expect(killed.digest).toBe(calm.digest);
  });
});

test("a renamed file stays the same item where the server has a number for it", async () => {
  const tree: Tree = new Map([
    ["a.md", { text: "the first", fileId: 7 }],
    ["b/", { fileId: 8 }],
    ["b/c.md", { text: "the second", fileId: 9 }],
    ["d.md", { text: "without" }],
  ]);
  const { kb } = await connectTo(await serve(answerTree(tree)), "/dav/");
  await kb.sync();
  const before = new Map((await living(kb)).map(({ externalId, kbId }) => [externalId, kbId]));
  for (const [from, to] of [
    ["a.md", "b/a2.md"],
    ["b/c.md", "c.md"],
    ["d.md", "e.md"],
  ] as const) {
    tree.set(to, tree.get(from) ?? {});
    tree.delete(from);
  }
  await kb.sync();
  const after = new Map((await living(kb)).map(({ externalId, kbId }) => [externalId, kbId]));
  expect([...after.keys()]).toEqual(["b/a2.md", "c.md", "e.md"]);
  expect(after.get("b/a2.md")).toBe(before.get("a.md"));
  expect(after.get("c.md")).toBe(before.get("b/c.md"));
  expect(after.get("e.md")).not.toBe(before.get("d.md"));
});
