/** What a server outlives: a disk that fails, and one that is full. A log that nobody takes: `server/start.system.test.ts`. */
import { spawnSync } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { onTestFinished, test } from "vitest";
import { tempDir } from "../temp-dir.ts";
import { signInAdmin, startServerProcess } from "./server-process.ts";

/** A connector to push to, and its key. */
async function makeTracker(admin: Admin): Promise<{ id: string; key: string }> {
  const body = { providerId: "push", name: "tracker", config: {}, access: { visibility: "workspace" } };
  const { connector, key } = (await admin("POST", "/api/connectors", body)).json;
  return { id: connector.id, key };
}

type Admin = Awaited<ReturnType<typeof signInAdmin>>;

/** Pushes one item; the status, and the code of what went wrong. */
async function pushOne(url: string, tracker: { id: string; key: string }, id: string): Promise<[number, string?]> {
  const access = { known: true, all: [["workspace"]] };
  const item = { externalId: id, kind: "task", title: `Task ${id}`, text: `${id} ${"words ".repeat(300)}`, access };
  const answer = await fetch(`${url}/api/connectors/${tracker.id}/items`, {
    method: "POST",
    headers: { authorization: `Bearer ${tracker.key}`, "content-type": "application/x-ndjson" },
    body: `${JSON.stringify({ t: "upsert", item })}\n`,
  });
  const result = JSON.parse(await answer.text());
  return [answer.status, result.error?.code ?? result.code];
}

/** Whether every write of a running process to a file fails, as those to a failing or a read-only disk do. */
function setWritesFail(pid: number | undefined, fail: boolean): void {
  const { status, stderr } = spawnSync("prlimit", [
    "--pid",
    String(pid),
    `--fsize=${fail ? "0" : "unlimited"}:unlimited`,
  ]);
  if (status !== 0) throw new Error(String(stderr));
}

const HAS_PRLIMIT = spawnSync("prlimit", ["--version"]).status === 0;

test.runIf(HAS_PRLIMIT)(
  "where every write to the disk fails reads go on, writes answer 503, and it is over when the disk is back",
  { timeout: 120_000 },
  async ({ expect }) => {
    const dataDir = join(tempDir(), "data");
    const documents = join(tempDir(), "documents");
    mkdirSync(documents);
    const server = await startServerProcess(dataDir, { KB_LOCAL_ROOTS: documents });
    const admin = await signInAdmin(server.url);
    const tracker = await makeTracker(admin);
    expect(await pushOne(server.url, tracker, "before")).toEqual([200, undefined]);
    const folder = {
      providerId: "filesystem",
      name: "Folder",
      config: { root: documents },
      access: { visibility: "workspace" },
    };
    const { connector } = (await admin("POST", "/api/connectors", folder)).json;
    const sync = () => admin("POST", `/api/connectors/${connector.id}/syncs`, {});
    // A run that the fault interrupts waits for its lease: that is shown with a clock of its own, in sync/crash.test.ts.
    const state = async () => (await admin("GET", `/api/connectors/${connector.id}/syncs`)).json.syncs[0]?.state;
    await expect.poll(state).toBe("succeeded");
    const token = (await admin("POST", "/api/api-tokens", { name: "Cursor", scopes: ["mcp:read"] })).json.plaintext;
    const found = async () => {
      const body = {
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "kb_search", arguments: { query: "words" } },
      };
      const answer = await fetch(`${server.url}/mcp`, {
        method: "POST",
        headers: {
          authorization: `Bearer ${token}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
        },
        body: JSON.stringify(body),
      });
      return (await answer.text()).includes("Task before");
    };
    const ready = async () => (await fetch(`${server.url}/readyz`)).status;
    setWritesFail(server.child.pid, true);
    writeFileSync(join(documents, "new.md"), "# New\n");
    expect(await sync()).toMatchObject({ status: 503, json: { code: "database_unusable" } });
    const group = () => admin("POST", "/api/groups", { name: "Group" });
    expect(await group()).toMatchObject({ status: 503, json: { code: "database_unusable" } });
    expect(await pushOne(server.url, tracker, "during")).toEqual([503, "database_unusable"]);
    expect(await ready()).toBe(503);
    expect((await admin("GET", "/api/session")).status).toBe(200);
    expect((await admin("GET", "/api/connectors/search?query=words")).json.results).toHaveLength(1);
    // The first use of a token notes that it was used: that is what may be lost.
    expect(await found()).toBe(true);
    setWritesFail(server.child.pid, false);
    await expect.poll(ready).toBe(200);
    expect(await group()).toMatchObject({ status: 201 });
    expect(await pushOne(server.url, tracker, "after")).toEqual([200, undefined]);
    const titles = async () =>
      (await admin("GET", "/api/connectors/all-files?limit=100")).json.files.map(
        (file: { title: string }) => file.title,
      );
    expect((await sync()).status).toBeLessThan(300);
    await expect.poll(titles).toEqual(expect.arrayContaining(["New", "Task before", "Task after"]));
    expect(await titles()).not.toContain("Task during");
    expect(server.child.exitCode).toBeNull();
    expect(await server.stop()).toBe(0);
  },
);

/** A disk of its own, which only root can make. */
function mountSmallDisk(megabytes: number): string | undefined {
  const path = tempDir();
  const { status } = spawnSync("mount", ["-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path]);
  if (status !== 0) return undefined;
  onTestFinished(() => void spawnSync("umount", ["-l", path]));
  return path;
}

test.runIf(process.getuid?.() === 0)(
  "on a full disk reads go on, writes are refused, and nothing acknowledged is lost",
  { timeout: 120_000 },
  async ({ expect, skip }) => {
    const disk = mountSmallDisk(24);
    if (disk === undefined) return skip("no disk can be mounted here");
    mkdirSync(join(disk, "data"), { mode: 0o700 });
    const server = await startServerProcess(join(disk, "data"), { KB_LOG_FILE: join(disk, "data", "server.log") });
    const admin = await signInAdmin(server.url);
    const tracker = await makeTracker(admin);
    const acknowledged: string[] = [];
    const codes = new Set<string>();
    const push = async (id: string) => {
      const [status, code] = await pushOne(server.url, tracker, id);
      if (code === undefined) acknowledged.push(id);
      else codes.add(`${status} ${code}`);
      return code === undefined;
    };
    for (let i = 0; i < 10; i++) await push(`before-${i}`);
    // Somebody else fills the disk to the last byte.
    const filler = join(disk, "filler");
    try {
      for (;;) writeFileSync(filler, Buffer.alloc(64 * 1024), { flag: "a" });
    } catch {
      // Full.
    }
    for (let i = 0; i < 200 && codes.size === 0; i++) await push(`during-${i}`);
    expect([...codes]).toEqual(["507 storage_full"]);
    const group = () => admin("POST", "/api/groups", { name: `Group ${"x".repeat(80)}` });
    let refused = await group();
    for (let i = 0; i < 200 && refused.status === 201; i++) refused = await group();
    expect(refused).toMatchObject({ status: 507, json: { code: "storage_full" } });
    const ready = await fetch(`${server.url}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, expect.stringContaining("disk is full")]);
    expect((await admin("GET", "/api/session")).status).toBe(200);
    expect((await admin("GET", "/api/connectors/search?query=words")).status).toBe(200);
    rmSync(filler);
    await expect.poll(async () => (await fetch(`${server.url}/readyz`)).status).toBe(200);
    expect(await push("after")).toBe(true);
    expect(await server.stop()).toBe(0);
    const again = await startServerProcess(join(disk, "data"));
    const session = await signInAdmin(again.url);
    const kept = (await session("GET", "/api/connectors/all-files?limit=100")).json.files.map(
      (file: { title: string }) => file.title,
    );
    expect(acknowledged.filter((id) => !kept.includes(`Task ${id}`))).toEqual([]);
    expect(await again.stop()).toBe(0);
  },
);
