import { describe, test } from "vitest";
import { makeAuditBatcher } from "#server/identity/audit/batcher.ts";
import { networkOf } from "#net/client-ip.ts";
import type { NewAuditRecord } from "#storage/audit-chain.ts";
import type { Store } from "#storage/records/store.ts";
import { makeTestLog, type TestAnswer } from "../../../helpers.ts";
import { makeKit } from "../../mcp/kit.ts";

const ITEMS = [
  { title: "Quarterly ledger", text: "The ledger of the third quarter is closed." },
  { title: "Ledger rules", text: "Every ledger has two columns.", url: "https://wiki.test/rules" },
  { title: "Picnic", text: "Bring apples and a blanket." },
];

interface Read {
  credential: string;
  client: string | null;
  tool: string;
  kbIds: string[];
  answers: number;
  repeats: number;
}

const call = (name: string, args: unknown, meta?: unknown) => ({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/call",
  params: { name, arguments: args, ...(meta !== undefined && { _meta: meta }) },
});

/** Every kbId that an answer shows, from its bytes. */
const shownBy = (answer: TestAnswer): string[] => [...new Set(answer.text.match(/kbi_[2-9a-z]{16}/g) ?? [])].sort();

describe("what a leaked token read", () => {
  test("is exactly what was returned through it, each item where it came first, over /mcp and REST", async ({
    expect,
  }) => {
    const kb = await makeKit();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId);
    const [first = "", second = ""] = await kb.addItems(ana, [
      ...ITEMS.map((item) => ({ ...item, assignees: [{ name: "Cy Lo", email: "cy@acme.test", claimed: true }] })),
      ...Array.from({ length: 30 }, (_, n) => ({ title: `Budget ${n}`, text: "budget ".repeat(80) })),
    ]);
    const token = await kb.token(ana, ["mcp:read", "kb:api"]);
    const thief = kb.withToken(token);
    const headers = { "user-agent": "loot/1.0\u0007 | sneaky", accept: "application/json" };
    // Asking for reads writes them: the next answer gets a row of its own.
    const noted = async (answer: Promise<TestAnswer>) => {
      const shown = await answer;
      await kb.as(ana).get("/api/audit/reads");
      return shown;
    };
    const ip = "203.0.113.7";
    const mcp = (body: unknown) => noted(thief.request("POST", "/mcp", { body, headers, ip }));
    const get = (path: string) => noted(thief.request("GET", path, { headers, ip }));

    const answers: [tool: string, answer: TestAnswer, kbIds?: string[]][] = [
      ["kb_search", await mcp(call("kb_search", { query: "ledger" }))],
      ["kb_search", await mcp(call("kb_search", { query: "budget", limit: 30, maxTokens: 400 }))],
      ["kb_get_entity_context", await mcp(call("kb_get_entity_context", { entity: "Cy Lo" }))],
      ["kb_get_file_content", await mcp(call("kb_get_file_content", { kbId: first })), [first]],
      ["kb_get_file_content", await mcp(call("kb_get_file_content", { kbId: "https://wiki.test/rules" })), [second]],
      ["GET /api/connectors/search", await get("/api/connectors/search?query=ledger")],
      ["GET /api/connectors/files/{fileId}/content", await get(`/api/connectors/files/${first}/content`), [first]],
      ["GET /api/connectors/all-files", await get("/api/connectors/all-files?limit=3")],
    ];
    expect(answers.map(([, answer]) => [answer.status, answer.json?.detail])).toEqual(
      answers.map(() => [200, undefined]),
    );
    // Nothing shown, nothing read.
    await mcp(call("kb_search", { query: "nowhere" }));
    await mcp(call("kb_get_file_content", { kbId: "kbi_2222222222222222" }));

    const { reads } = (await kb.as(ana).get("/api/audit/reads")).json as { reads: Read[] };
    const received = new Set<string>();
    const expected = answers.map(([tool, answer, kbIds]) => {
      const shown = kbIds ?? shownBy(answer);
      const fresh = shown.filter((id) => !received.has(id));
      fresh.forEach((id) => received.add(id));
      return [tool, fresh, 1, shown.length - fresh.length];
    });
    const found = reads.map(({ tool, kbIds, answers, repeats }) => [tool, kbIds.toSorted(), answers, repeats]);
    expect(found.toReversed()).toEqual(expected);
    // The budget cut the list: what was cut was not shown.
    expect(reads.at(-2)?.kbIds.length).toBeLessThan(30);
    const { tokens } = (await kb.as(ana).get("/api/api-tokens")).json;
    expect(new Set(reads.map(({ credential }) => credential))).toEqual(new Set([`pat:${tokens[0].id}`]));
    expect(new Set(reads.map(({ client }) => client))).toEqual(new Set(["loot/1.0 ¦ sneaky"]));
    expect(JSON.stringify(reads)).not.toMatch(/ledger|Quarterly|budget/i);

    const narrowed = `/api/audit/reads?credential=pat:${tokens[0].id}&limit=3`;
    const page = (await kb.as(ana).get(narrowed)).json;
    expect([page.reads.length, typeof page.nextCursor]).toEqual([3, "string"]);
    const next = (await kb.as(ana).get(`${narrowed}&cursor=${page.nextCursor}`)).json;
    expect([...page.reads, ...next.reads]).toEqual(reads.slice(0, 6));
    // A row's number would tell a member how many rows the others have.
    const fields = ["answers", "at", "client", "credential", "kbIds", "repeats", "tool", "userId"];
    expect(Object.keys(reads[0] ?? {}).sort()).toEqual(fields);
    // A member sees their own, and not another's.
    expect((await kb.as(bo).get("/api/audit/reads")).json.reads).toEqual([]);
    expect((await kb.as(bo).get(`/api/audit/reads?userId=${ana.userId}`)).status).toBe(403);
    expect((await kb.as(ana).get("/api/audit/check")).json.isIntact).toBe(true);
    // The acts of the workspace are not drowned in them.
    const acts = (await kb.as(ana).get("/api/audit?limit=200")).json.entries as { action: string }[];
    expect(acts.map(({ action }) => action)).not.toContain("items.read");
  });

  test("names the client by the envelope of the newest revision", async ({ expect }) => {
    const kb = await makeKit();
    const ana = await kb.addOwner();
    await kb.addItems(ana, ITEMS);
    const meta = {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": { name: "claude\u202Ecode", version: "2" },
    };
    const answer = await kb.withToken(await kb.token(ana)).request("POST", "/mcp", {
      body: call("kb_search", { query: "apples" }, meta),
      headers: {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "kb_search",
        accept: "application/json, text/event-stream",
      },
    });
    expect(answer.status).toBe(200);
    const { reads } = (await kb.as(ana).get("/api/audit/reads")).json as { reads: Read[] };
    expect(reads.map(({ client }) => client)).toEqual(["claudecode"]);
  });
});

describe("the use of tokens", () => {
  test("is recorded the first time, and from each new network", async ({ expect }) => {
    const kb = await makeKit();
    const ana = await kb.addOwner();
    const token = await kb.token(ana, ["kb:api"]);
    const from = (ip: string) => kb.withToken(token).request("GET", "/api/session", { ip });
    const acts = async () => {
      // What is written behind the answer has no one to wait for it.
      for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
      const { entries } = (await kb.as(ana).get("/api/audit?limit=200")).json;
      return (entries as { action: string; details: Record<string, unknown> }[])
        .filter(({ action }) => action.startsWith("token.") && action !== "token.created")
        .map(({ action, details }) => [action, details["network"]])
        .toReversed();
    };
    for (const ip of ["203.0.113.7", "203.0.113.7", "203.0.113.200"]) await from(ip);
    const first = [["token.first_used", "203.0.113.0/24"]];
    expect(await acts()).toEqual(first);
    await from("198.51.100.1");
    await from("2001:db8:1:2::5");
    await from("2001:db8:1:2:ffff::5");
    expect(await acts()).toEqual([
      ...first,
      ["token.used_from_new_network", "198.51.100.0/24"],
      ["token.used_from_new_network", "2001:db8:1:2::/64"],
    ]);
  });

  test("a network is a /24 or a /64", ({ expect }) => {
    expect(["10.1.2.3", "::1", null].map((ip) => networkOf(ip, 24))).toEqual(["10.1.2.0/24", "0:0:0:0::/64", "none"]);
  });
});

describe("rows that no one waits for", () => {
  const row = { action: "items.read" } as NewAuditRecord;
  const storeOf = (appendMany: (rows: readonly NewAuditRecord[]) => Promise<void>): Store =>
    // The batcher uses nothing else of it.
    ({ in: () => ({ audit: { appendMany } }) }) as unknown as Store;

  test("are written in groups of at most 200, after a second or when a group is full", async ({ expect }) => {
    const groups: number[] = [];
    const timers: (() => void)[] = [];
    const batcher = makeAuditBatcher({
      store: storeOf(async (rows) => void groups.push(rows.length)),
      log: makeTestLog(),
      schedule: (run, ms) => void (timers.push(run), expect(ms).toBe(1_000)),
    });
    for (let n = 0; n < 3; n++) batcher.add("wsp_1", row);
    expect([groups, timers.length]).toEqual([[], 1]);
    timers[0]?.();
    await batcher.flush();
    for (let n = 0; n < 450; n++) batcher.add("wsp_1", row);
    await batcher.flush();
    expect(groups[0]).toBe(3);
    expect(groups.slice(1).reduce((sum, rows) => sum + rows, 0)).toBe(450);
    expect(Math.max(...groups)).toBe(200);
  });

  test("wait while they can't be written, are tried again, and beyond 10,000 nothing more is shown", async ({
    expect,
  }) => {
    let isFull = true;
    let written = 0;
    const timers: (() => void)[] = [];
    const log = makeTestLog();
    const batcher = makeAuditBatcher({
      store: storeOf(async (rows) => {
        if (isFull) throw new Error("disk full");
        written += rows.length;
      }),
      log,
      schedule: (run) => void timers.push(run),
    });
    for (let n = 0; n < 10_000; n++) batcher.add("wsp_1", row);
    expect(() => batcher.add("wsp_1", row)).toThrow(expect.objectContaining({ code: "unavailable" }));
    await batcher.flush();
    expect(log.lines[0]).toMatchObject({ level: "error", message: "the audit can't be written" });
    isFull = false;
    timers.at(-1)?.();
    await batcher.flush();
    expect(written).toBe(10_000);
    expect(() => batcher.add("wsp_1", row)).not.toThrow();
  });
});
