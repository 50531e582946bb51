import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, test } from "vitest";
import { verifies } from "../requirements.ts";
import { signInAdmin, startServerProcess } from "./server-process.ts";

const TASKS = 200;
const FILES = 200;
const HIDDEN = 20;

/** Headers of the contract, and nothing else. */
const headersFor = (token: string) => ({
  Authorization: `Bearer ${token}`,
  Accept: "application/json, text/event-stream",
  "Content-Type": "application/json",
  "Mcp-Protocol-Version": "2025-03-26",
});

/** A server over 200 files and 200 pushed tasks, 20 more of which nobody may read, and one that has no address. */
async function makeWorld(dir: string) {
  const folder = join(dir, "files");
  mkdirSync(folder);
  for (let n = 0; n < FILES; n++)
    writeFileSync(join(folder, `note-${n}.md`), `# Note ${n}\n\nThe ledger of week ${n}.\n`);
  const server = await startServerProcess(join(dir, "data"), { KB_LOCAL_ROOTS: folder }, () => undefined);
  const admin = await signInAdmin(server.url);
  const access = { visibility: "workspace" };
  const created = await admin("POST", "/api/connectors", {
    providerId: "filesystem",
    name: "notes",
    config: { root: folder },
    access,
  });
  const pushed = await admin("POST", "/api/connectors", { providerId: "push", name: "tracker", config: {}, access });
  const lines = Array.from({ length: TASKS + HIDDEN }, (_, n) => ({
    t: "upsert",
    item: {
      externalId: `T-${n}`,
      kind: "task",
      title: `Task ${n}`,
      status: "open",
      url: `https://tracker.test/T-${n}`,
      updatedAt: new Date(Date.UTC(2026, 0, 1, 0, n)).toISOString(),
      text: `Close the ledger, part ${n}.`,
      access: n < TASKS ? { known: true, all: [["workspace"]] } : { known: false },
    },
  }));
  const unlinked = {
    externalId: "U",
    kind: "message",
    title: "Unlinked",
    text: "No address.",
    access: lines[0]?.item.access,
  };
  const push = await fetch(`${server.url}/api/connectors/${pushed.json.connector.id}/items`, {
    method: "POST",
    headers: { Authorization: `Bearer ${pushed.json.key}`, "Content-Type": "application/x-ndjson" },
    body: [...lines, { t: "upsert", item: unlinked }].map((line) => JSON.stringify(line)).join("\n"),
  });
  const results = (await push.text()).trim().split("\n");
  await syncEnd(admin, created.json.connector.id, created.json.sync.id);
  const minted = await admin("POST", "/api/api-tokens", { name: "agent" });
  return { server, admin, minted: minted.json, results, created: created.json, pushed: pushed.json };
}

async function syncEnd(
  admin: Awaited<ReturnType<typeof signInAdmin>>,
  connectorId: string,
  syncId: string,
): Promise<void> {
  for (;;) {
    const { json } = await admin("GET", `/api/connectors/${connectorId}/syncs/${syncId}`);
    if (["succeeded", "partial", "failed", "cancelled"].includes(json.sync.state)) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

type World = Awaited<ReturnType<typeof makeWorld>>;

describe("the contract's dialogue on a running server", () => {
  const world = shareWorld();

  const rpc = async (body: unknown, token: string = world().minted.plaintext) => {
    const response = await fetch(world().minted.mcpUrl, {
      method: "POST",
      headers: headersFor(token),
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    // oxlint-disable-next-line typescript/no-explicit-any -- answers of any shape
    return { status: response.status, json: (await response.json()) as any };
  };
  const call = (args: unknown) =>
    rpc({ jsonrpc: "2.0", id: "a", method: "tools/call", params: { name: "kb_search", arguments: args } });

  verifies(
    "service:setup-sequence",
    "workspace, a token that is shown once, the MCP URL, tools/list, tools/call",
    async ({ expect }) => {
      const { server, admin, minted } = world();
      expect((await admin("GET", "/api/workspace")).status).toBe(200);
      expect(minted.mcpUrl).toBe(`${server.url}/mcp`);
      const { tokens } = (await admin("GET", "/api/api-tokens")).json;
      expect(tokens).toEqual([minted.token]);
      expect(JSON.stringify(tokens)).not.toContain(minted.plaintext);
      const list = await rpc({ jsonrpc: "2.0", id: 1, method: "tools/list" });
      expect(list.json.result.tools.map((tool: { name: string }) => tool.name)).toEqual([
        "kb_search",
        "kb_search_entities",
        "kb_get_entity_context",
        "kb_get_file_content",
      ]);
      const newest = await call({ query: "ledger", kind: "task", sortBy: "recency", limit: 5 });
      expect(newest.json.id).toBe("a");
      expect(newest.json.result.structuredContent.results.map((entry: { title: string }) => entry.title)).toEqual(
        [199, 198, 197, 196, 195].map((n) => `Task ${n}`),
      );
    },
  );

  verifies(
    ["entry:kb-id", "entry:provider-id", "entry:source", "entry:snippet"],
    "each entry names itself, where it comes from, and the words that were searched",
    async ({ expect }) => {
      const { json } = await call({ query: "ledger", kind: "task", sortBy: "recency", limit: 5 });
      const { results: entries } = json.result.structuredContent;
      const text: string = json.result.content[0].text;
      for (const entry of entries) {
        expect(entry).toMatchObject({ providerId: "push", source: "push:tracker" });
        expect(entry.kbId).toMatch(/^kbi_\w{16}$/);
        expect(text).toContain(`kbId: ${entry.kbId}`);
      }
      expect(new Set(entries.map((entry: { kbId: string }) => entry.kbId)).size).toBe(5);
      expect(text.match(/^providerId: push \| source: push:tracker \| URL: /gm)).toHaveLength(5);
      expect(text.match(/^> .*ledger/gm)).toHaveLength(5);
    },
  );

  verifies(
    "entry:url",
    "an entry has the item's URL, and kb's own page of it when its source has none",
    async ({ expect }) => {
      const [task] = (await call({ query: '"Task 199"', kind: "task", limit: 1 })).json.result.structuredContent
        .results;
      expect(task.url).toBe("https://tracker.test/T-199");
      const { json } = await call({ query: "unlinked", limit: 1 });
      const [{ kbId, title, url }] = json.result.structuredContent.results;
      expect([title, url]).toEqual(["Unlinked", `${world().server.url}/i/${kbId}`]);
      expect(json.result.content[0].text).toContain(`URL: ${url}`);
    },
  );

  verifies(
    "service:visible-only",
    "what no one was let into is in no result and no count, not even for the admin who connected it",
    async ({ expect }) => {
      expect(world().results).toHaveLength(TASKS + HIDDEN + 1);
      const total = async (args: unknown) => (await call(args)).json.result.structuredContent.total;
      expect(await total({ query: "", kind: "task", limit: 50 })).toBe(TASKS);
      expect(await total({ query: "ledger", kind: "task", limit: 5 })).toBe(TASKS);
      expect(await total({ query: "ledger", kind: "file" })).toBe(FILES);
      expect(await total({ query: `"Task ${TASKS + 1}"` })).toBe(0);
    },
  );

  verifies(
    ["resource:connector", "resource:sync", "resource:connector-api-key", "resource:indexed-file"],
    "connectors, their syncs, keys and files are there under their own ids",
    async ({ expect }) => {
      const { admin, created, pushed } = world();
      const { connector, sync } = created;
      expect(sync).toMatchObject({ connectorId: connector.id });
      expect((await admin("GET", `/api/connectors/${connector.id}`)).json.connector).toMatchObject({ name: "notes" });
      const ended = await admin("GET", `/api/connectors/${connector.id}/syncs/${sync.id}`);
      expect(ended.json.sync).toMatchObject({ id: sync.id, state: "succeeded", counts: { upserted: FILES } });
      expect(pushed.key).toMatch(/^kb_con_/);
      expect(pushed.connector).toMatchObject({ hasKey: true, keyPrefix: pushed.key.slice(0, 11) });
      const { files, total } = (await admin("GET", `/api/connectors/${connector.id}/files?limit=1`)).json;
      expect(total).toBe(FILES);
      const { kbId, title } = files[0];
      expect((await admin("GET", `/api/connectors/files/${kbId}`)).json.file).toMatchObject({ kbId, title });
    },
  );

  test("refuses what is not the contract's, and tells no secret on the way to its end", async ({ expect }) => {
    const { server, admin, minted, pushed } = world();
    expect((await rpc({ jsonrpc: "2.0", id: 2, method: "prompts/list" })).json.error.code).toBe(-32601);
    expect((await rpc("{")).json.error.code).toBe(-32700);
    for (const method of ["GET", "PUT", "DELETE"]) {
      const refused = await fetch(minted.mcpUrl, { method, headers: headersFor(minted.plaintext) });
      expect(refused.status).toBe(405);
      expect(refused.headers.get("allow")).toBe("POST");
    }
    expect((await rpc({ jsonrpc: "2.0", id: 3, method: "tools/list" }, "")).status).toBe(401);
    const other = (await admin("POST", "/api/api-tokens", { name: "another" })).json;
    await admin("DELETE", `/api/api-tokens/${other.token.id}`);
    const revoked = await rpc({ jsonrpc: "2.0", id: 4, method: "tools/list" }, other.plaintext);
    expect(revoked.status).toBe(401);
    expect(revoked.json.id).toBeNull();
    for (const secret of [minted.plaintext, pushed.key]) expect(server.output()).not.toContain(secret);
  });
});

function shareWorld(): () => World {
  let world: World | undefined;
  beforeAll(async () => {
    const dir = mkdtempSync(join(tmpdir(), "kb-test-"));
    const { server } = (world = await makeWorld(dir));
    return async () => {
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    };
  });
  return () => {
    if (world === undefined) throw new Error("The world is there once the tests run.");
    return world;
  };
}
