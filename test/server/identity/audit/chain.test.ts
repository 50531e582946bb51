import { createHash } from "node:crypto";
import { describe, test } from "vitest";
import type { NewAuditRecord } from "#storage/audit-chain.ts";
import { makeServer, TEST_NOW, type TestServer, type TestUser } from "../../../helpers.ts";

const DAY = 86_400_000;

/** The verifier of docs/audit.md, from its text alone: nothing of the product is used. */
function verify(ndjson: string): { rows: number; broken: number | undefined } {
  let before: { hash: string; seq: number } | undefined;
  const lines = ndjson.split("\n").slice(0, -1);
  for (const line of lines) {
    const { hash, ...row } = JSON.parse(line);
    const digest = createHash("sha256").update(sorted(row)).digest("hex");
    const follows = before === undefined || (row.previousHash === before.hash && row.seq === before.seq + 1);
    if (digest !== hash || !follows) return { rows: lines.length, broken: row.seq };
    before = { hash, seq: row.seq };
  }
  return { rows: lines.length, broken: undefined };
}

function sorted(value: unknown): string {
  return JSON.stringify(value, (_key, member) =>
    typeof member === "object" && member !== null && !Array.isArray(member)
      ? Object.fromEntries(Object.entries(member).sort())
      : member,
  );
}

async function withRows(kb: TestServer, acts: number): Promise<TestUser> {
  const owner = await kb.addOwner();
  for (let i = 0; i < acts; i++) await kb.as(owner).post("/api/groups", { name: `Group ${i}` });
  return owner;
}

const change = (kb: TestServer, sql: string, ...values: (string | number)[]) =>
  kb.database.writer.request({ type: "execute", sql, parameters: values });

const row = (at: number, details: Record<string, unknown> = {}): NewAuditRecord => ({
  at: at,
  actorUserId: null,
  credential: "system",
  action: "group.created",
  targetType: "tool",
  targetId: "kb_search",
  outcome: "done",
  ip: null,
  requestId: null,
  details,
});

describe("the chain of the audit", () => {
  test("is whole after acts, reads and parallel writing, and its export can be verified by anyone", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const owner = await withRows(kb, 3);
    const { audit } = kb.store.in(owner.workspaceId);
    const many = Array.from({ length: 40 }, (_, n) =>
      row(TEST_NOW, { kbIds: [`kbi_${n}`], "ключ ü": "z\u2028", a: 1 }),
    );
    await Promise.all([
      audit.appendMany(many),
      ...["A", "B", "C", "D"].map((name) => kb.as(owner).post("/api/groups", { name })),
      audit.appendMany(many),
    ]);
    const check = (await kb.as(owner).get("/api/audit/check")).json;
    expect(check).toMatchObject({ isIntact: true, entries: 88, brokenAt: null, firstSeq: 1, lastSeq: 88 });
    const exported = await kb.as(owner).get("/api/audit/export");
    expect(exported.headers.get("content-type")).toBe("application/x-ndjson");
    expect(verify(exported.text)).toEqual({ rows: 89, broken: undefined });
    const lines = exported.text.trimEnd().split("\n");
    expect(JSON.parse(lines[87] ?? "")).toMatchObject({ seq: 88, hash: check.lastHash });
    expect(JSON.parse(lines[88] ?? "")).toMatchObject({ action: "audit.exported", actorUserId: owner.userId });
  });

  test.for([
    ["a changed word", "update audit set details = '{}' where seq = 3", 3],
    ["another actor", "update audit set actorUserId = null where seq = 2", 2],
    ["a removed row", "delete from audit where seq = 3", 4],
    ["a hash made to fit", "update audit set ip = '10.0.0.1', hash = 'ff' where seq = 2", 2],
    ["a row without hashes", "update audit set hash = null, previousHash = null where seq = 3", 3],
    ["a beginning said to be from before the chain", "update audit set hash = null where seq <= 2", 2],
  ] as const)("shows %s", async ([, sql, brokenAt], { expect }) => {
    const kb = await makeServer();
    const owner = await withRows(kb, 4);
    await change(kb, sql);
    expect((await kb.as(owner).get("/api/audit/check")).json).toMatchObject({ isIntact: false, brokenAt });
    const exported = await kb.as(owner).get("/api/audit/export");
    expect(verify(exported.text).broken).toBeDefined();
  });

  test("begins after rows from before there was one", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    await change(kb, "update audit set hash = null, previousHash = null");
    await kb.as(owner).post("/api/groups", { name: "Ops" });
    expect((await kb.as(owner).get("/api/audit/check")).json).toMatchObject({ isIntact: true, entries: 2 });
  });

  test("keeps 90 days, begins at the first row kept, and goes on from the newest even when all are old", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const owner = await kb.addOwner();
    const { audit } = kb.store.in(owner.workspaceId);
    await audit.appendMany(Array.from({ length: 2_500 }, () => row(TEST_NOW)));
    kb.clock.advance(60 * DAY);
    await kb.signIn(owner);
    kb.clock.advance(31 * DAY);
    await kb.deps.audit.sweep();
    const later = await kb.signIn(owner);
    expect((await kb.as(later).get("/api/audit/check")).json).toMatchObject({ isIntact: true, firstSeq: 2502 });
    kb.clock.advance(200 * DAY);
    await kb.deps.audit.sweep();
    const last = await kb.signIn(owner);
    const check = (await kb.as(last).get("/api/audit/check")).json;
    expect(check).toMatchObject({ isIntact: true, entries: 2, lastSeq: check.firstSeq + 1 });
  });

  test("is each workspace's own: check, export and acts of others do not touch it", async ({ expect }) => {
    const kb = await makeServer();
    const [ana, bo] = [await withRows(kb, 2), await withRows(kb, 1)];
    await change(kb, "update audit set ip = 'x' where workspaceId = ?", ana.workspaceId);
    expect((await kb.as(bo).get("/api/audit/check")).json).toMatchObject({ isIntact: true, entries: 2 });
    const { text } = await kb.as(bo).get("/api/audit/export");
    expect(text).not.toContain(ana.workspaceId);
    const member = await kb.addMember(bo.workspaceId);
    for (const path of ["/api/audit/check", "/api/audit/export", "/api/audit"]) {
      expect((await kb.as(member).get(path)).status).toBe(403);
    }
  });

  test("the export can begin later, and streams", async ({ expect }) => {
    const kb = await makeServer();
    const owner = await withRows(kb, 1);
    kb.clock.advance(1_000);
    await kb.deps.store
      .in(owner.workspaceId)
      .audit.appendMany(Array.from({ length: 1_200 }, () => row(kb.clock.now())));
    const since = new Date(kb.clock.now()).toISOString();
    const { text } = await kb.as(owner).get(`/api/audit/export?since=${since}`);
    expect(verify(text)).toEqual({ rows: 1_201, broken: undefined });
    expect(JSON.parse(text.slice(0, text.indexOf("\n"))).seq).toBe(3);
  });
});
