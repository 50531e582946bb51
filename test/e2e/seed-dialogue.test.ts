import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe } from "vitest";
import { tempDir } from "../helpers.ts";
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

/** A server over 200 files and 200 pushed tasks, 20 more of which nobody may read; a member's token beside the admin's. */
async function makeWorld() {
  const dir = tempDir();
  const folder = join(dir, "files");
  mkdirSync(folder);
  for (let n = 0; n < FILES; n++)
    writeFileSync(join(folder, `note-${n}.md`), `# Note ${n}\n\nThe ledger of week ${n}.\n`);
  const server = await startServerProcess(join(dir, "data"), { KB_LOCAL_ROOTS: folder });
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
  const push = await fetch(`${server.url}/api/connectors/${pushed.json.connector.id}/items`, {
    method: "POST",
    headers: { Authorization: `Bearer ${pushed.json.key}`, "Content-Type": "application/x-ndjson" },
    body: lines.map((line) => JSON.stringify(line)).join("\n"),
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

describe("the contract's dialogue on a running server", () => {
  verifies(
    [
      "service:json-rpc",
      "service:two-methods",
      "service:visible-only",
      "service:setup-sequence",
      "entry:kb-id",
      "entry:provider-id",
      "entry:source",
      "entry:url",
      "entry:snippet",
      "search-arg:limit",
      "resource:connector",
      "resource:indexed-file",
      "resource:sync",
      "resource:connector-api-key",
    ],
    "from an empty folder to the newest visible tasks, with the contract's headers alone",
    async ({ expect }) => {
      const { server, minted, results, admin, created, pushed } = await makeWorld();
      expect(results).toHaveLength(TASKS + HIDDEN);
      expect(created.sync).toMatchObject({ connectorId: created.connector.id });
      expect(pushed.key).toMatch(/^kb_con_/);
      expect(minted.mcpUrl).toBe(`${server.url}/mcp`);

      const rpc = async (body: unknown, token: string = minted.plaintext) => {
        const response = await fetch(minted.mcpUrl, {
          method: "POST",
          headers: headersFor(token),
          body: typeof body === "string" ? body : JSON.stringify(body),
        });
        // oxlint-disable-next-line typescript/no-explicit-any -- answers of any shape
        return { status: response.status, json: (await response.json()) as any };
      };
      const call = (args: unknown) =>
        rpc({ jsonrpc: "2.0", id: "a", method: "tools/call", params: { name: "kb_search", arguments: args } });

      const list = await rpc({ jsonrpc: "2.0", id: 1, method: "tools/list" });
      expect(list.json.result.tools.map((tool: { name: string }) => tool.name)).toEqual([
        "kb_search",
        "kb_search_entities",
        "kb_get_entity_context",
        "kb_get_file_content",
      ]);

      const newest = await call({ query: "ledger", kind: "task", sortBy: "recency", limit: 5 });
      expect(newest.json.id).toBe("a");
      const { results: entries, total } = newest.json.result.structuredContent;
      expect(total).toBe(TASKS);
      expect(entries.map((entry: { title: string }) => entry.title)).toEqual(
        [199, 198, 197, 196, 195].map((n) => `Task ${n}`),
      );
      const text: string = newest.json.result.content[0].text;
      for (const entry of entries) {
        expect(text).toContain(`kbId: ${entry.kbId}`);
        expect(text).toContain(`URL: ${entry.url}`);
      }
      expect(text.match(/^providerId: push \| source: push:tracker \| URL: /gm)).toHaveLength(5);
      expect(text.match(/^> .*ledger/gm)).toHaveLength(5);

      expect((await call({ query: "", kind: "task", limit: 50 })).json.result.structuredContent.total).toBe(TASKS);
      expect((await call({ query: "ledger", kind: "file" })).json.result.structuredContent.total).toBe(FILES);

      expect((await rpc({ jsonrpc: "2.0", id: 2, method: "prompts/list" })).json.error.code).toBe(-32601);
      expect((await rpc("{")).json.error.code).toBe(-32700);
      for (const method of ["GET", "PUT", "DELETE"]) {
        const refused = await fetch(minted.mcpUrl, { method, headers: headersFor(minted.plaintext) });
        expect(refused.status).toBe(405);
        expect(refused.headers.get("allow")).toBe("POST");
      }

      expect((await rpc({ jsonrpc: "2.0", id: 3, method: "tools/list" }, "")).status).toBe(401);
      await admin("DELETE", `/api/api-tokens/${minted.token.id}`);
      const revoked = await rpc({ jsonrpc: "2.0", id: 4, method: "tools/list" });
      expect(revoked.status).toBe(401);
      expect(revoked.json.id).toBeNull();
      expect(server.output()).not.toContain(minted.plaintext);
      expect(server.output()).not.toContain(pushed.key);
      expect(await server.stop()).toBe(0);
    },
  );
});
