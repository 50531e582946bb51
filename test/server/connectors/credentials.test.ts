import { z } from "zod";
import { describe, expect, test } from "vitest";
import { makeVault } from "#storage/vault.ts";
import { makeCredentialKeeper } from "#server/connectors/credentials.ts";
import type { SourceContext } from "#sources/context.ts";
import type { Source } from "#sources/contract.ts";
import { scripted } from "../../scripted.ts";
import { composeFeatures } from "../../features.ts";
import { makeServer, TEST_VAULT } from "../../helpers.ts";
import { fakeExtractor, item, listing } from "../sync/harness.ts";
import { verifies } from "../../requirements.ts";

const CANARY = "kb-canary-3f9a1c";
const SAFE = { providerId: "safe", name: "Safe", config: { url: "https://a.test/x" } };
const BODY = { ...SAFE, credentials: { token: CANARY }, access: { visibility: "private" } };

/** A server with one source that takes a token and remembers what it was called with. */
async function makeSafeServer() {
  const calls: { what: string; token: string | undefined }[] = [];
  const world = {
    problem: undefined as string | undefined,
    forgotten: [] as string[],
    held: undefined as (() => void) | undefined,
  };
  const note = async (what: string, { git }: SourceContext<unknown>) => {
    const credentials = await git?.credentialsFor("https://safe.test");
    calls.push({ what, token: credentials?.["token"] });
  };
  const source: Source<{ url: string }> = {
    spec: {
      providerId: "safe",
      name: "Safe",
      kinds: ["file"],
      auth: [{ type: "none" }, { type: "credentials", scheme: "git" }],
      config: z.strictObject({ url: z.url(), depth: z.number().optional() }),
      credentials: z.strictObject({ token: z.string().min(3) }),
      acl: "connector",
    },
    async check(ctx) {
      await note("check", ctx);
      if (world.problem === undefined) return { ok: true };
      return { ok: false, problem: { code: "auth_required", message: world.problem } };
    },
    sessions: scripted(async function* (ctx) {
      await note("sync", ctx);
      if (world.held) {
        const { held } = world;
        world.held = undefined;
        held();
        // Ends by being told to, and by nothing else.
        await new Promise((_, reject) => ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)));
      }
      yield* listing(() => [item("a", "text")])(ctx);
    }),
    async fetchContent(ctx) {
      await note("fetch", ctx);
      return { bytes: Buffer.from("text"), fileName: "a" };
    },
    async browse(ctx) {
      await note("browse", ctx);
      return { nodes: [], nextCursor: null };
    },
    originOf: ({ url }) => new URL(url).origin,
    isForAdmins: (_config, { hasCredentials }) => !hasCredentials,
    forget: async (connectorId) => void world.forgotten.push(connectorId),
  };
  // A source of a config of its own stands among the others as every source does.
  const sources = { find: async () => source as Source, list: async () => [source as Source] };
  const kb = await makeServer({}, (core, database) =>
    composeFeatures(core, database, { sources, extractor: fakeExtractor }),
  );
  const owner = await kb.addOwner();
  const admin = await kb.addMember(owner.workspaceId, "admin");
  const member = await kb.addMember(owner.workspaceId, "member");
  const sealed = async () => (await kb.database.read.selectFrom("connector_credentials").selectAll().execute())[0];
  const holdFirstSync = () => new Promise<void>((began) => void (world.held = began));
  return { ...kb, holdFirstSync, calls, world, owner, admin, member, sealed, worker: kb.deps.worker };
}

describe("credentials of a connector", () => {
  verifies(
    "credentials:write-only",
    "are given to the source alone, and come back over no route, log or error",
    async () => {
      const kb = await makeSafeServer();
      const owner = kb.as(kb.owner);
      const made = await owner.post("/api/connectors", BODY);
      expect([made.status, made.text.includes(CANARY)]).toEqual([201, false]);
      const { id } = made.json.connector;
      await kb.worker.runUntilIdle();
      const browsed = await owner.post("/api/connectors/browse", {
        providerId: "safe",
        config: SAFE.config,
        credentials: { token: CANARY },
      });
      kb.world.problem = `The token=${CANARY} is wrong: Authorization: Bearer ${CANARY}`;
      const failed = await owner.patch(`/api/connectors/${id}`, { credentials: { token: CANARY } });
      const invalid = await owner.patch(`/api/connectors/${id}`, { credentials: { token: CANARY, other: CANARY } });
      const answers = [made, browsed, failed, invalid];
      for (const path of ["", "/files", "/syncs"]) answers.push(await owner.get(`/api/connectors/${id}${path}`));
      for (const path of ["/api/connectors", "/api/connectors/sources", "/api/audit", "/api/connectors/progress"]) {
        answers.push(await owner.get(path));
      }
      expect(answers.map(({ status }) => status)).toEqual([201, 200, 422, 422, 200, 200, 200, 200, 200, 200, 200]);
      expect(answers.filter(({ text }) => text.includes(CANARY))).toEqual([]);
      expect(JSON.stringify(kb.log.lines)).not.toContain(CANARY);
      expect(kb.calls.map(({ what, token }) => [what, token])).toEqual([
        ["check", CANARY],
        ["sync", CANARY],
        ["browse", CANARY],
        ["check", CANARY],
      ]);
    },
  );

  verifies("vault:row-bound", "are stored sealed, for their row alone", async () => {
    const kb = await makeSafeServer();
    const { json } = await kb.as(kb.owner).post("/api/connectors", BODY);
    const row = await kb.sealed();
    expect(JSON.stringify(row)).not.toContain(CANARY);
    const { id } = json.connector;
    const place = (connectorId: string) => ({
      table: "connector_credentials",
      row: [kb.owner.workspaceId, connectorId],
      column: "sealed",
    });
    expect(JSON.parse(TEST_VAULT.open(place(id), row?.sealed ?? ""))).toEqual({ token: CANARY });
    expect(() => TEST_VAULT.open(place("con_2222222222222222"), row?.sealed ?? "")).toThrow();
  });

  verifies(
    "credentials:end",
    "go with the connector at once, and the source forgets the rest with the purge",
    async () => {
      const kb = await makeSafeServer();
      const { json } = await kb.as(kb.owner).post("/api/connectors", BODY);
      await kb.as(kb.owner).delete(`/api/connectors/${json.connector.id}`);
      expect(await kb.sealed()).toBeUndefined();
      await kb.worker.runUntilIdle();
      expect(kb.world.forgotten).toEqual([json.connector.id]);
    },
  );

  test("are not kept when the check fails", async () => {
    const kb = await makeSafeServer();
    kb.world.problem = "No.";
    expect((await kb.as(kb.owner).post("/api/connectors", BODY)).status).toBe(422);
    expect(await kb.sealed()).toBeUndefined();
  });

  verifies(
    "credentials:origin-bound",
    "stay for changes at the same origin, and must come along to another",
    async () => {
      const kb = await makeSafeServer();
      const owner = kb.as(kb.owner);
      const { json } = await owner.post("/api/connectors", BODY);
      const path = `/api/connectors/${json.connector.id}`;
      const patch = async (body: object) => {
        const { status, json } = await owner.patch(path, body);
        return [status, json.code];
      };
      expect(await patch({ config: { url: "https://a.test/y" } })).toEqual([200, undefined]);
      for (const url of ["https://b.test/x", "http://a.test/x", "https://a.test:8443/x"]) {
        expect(await patch({ config: { url } })).toEqual([409, "credential_required"]);
      }
      expect(await patch({ config: { url: "https://b.test/x" }, credentials: { token: "new" } })).toEqual([
        200,
        undefined,
      ]);
      expect(kb.calls.at(-1)).toMatchObject({ what: "check", token: "new" });
      expect(await patch({ config: { url: "https://c.test/x" }, credentials: {} })).toEqual([200, undefined]);
      expect(await kb.sealed()).toBeUndefined();
    },
  );

  /** As it was possible once: somebody else gave the credentials of the only connector. */
  const givenBy = (kb: Awaited<ReturnType<typeof makeSafeServer>>, { userId }: { userId: string }) =>
    kb.database.write.updateTable("connector_credentials").set({ givenBy: userId }).execute();

  test("of one person are not aimed at something else by another, and no one replaces another's", async () => {
    const kb = await makeSafeServer();
    const { json } = await kb.as(kb.member).post("/api/connectors", BODY);
    const path = `/api/connectors/${json.connector.id}`;
    const change = { config: { url: "https://a.test/other" } };
    const before = await kb.sealed();
    for (const body of [change, { ...change, credentials: { token: "mine" } }, { credentials: { token: "mine" } }]) {
      expect((await kb.as(kb.admin).patch(path, body)).json.code).toBe("forbidden");
    }
    expect(await kb.sealed()).toEqual(before);
    await givenBy(kb, kb.admin);
    expect((await kb.as(kb.member).patch(path, change)).json.code).toBe("credential_required");
  });

  test("let a member connect what only an admin may connect without", async () => {
    const kb = await makeSafeServer();
    const { credentials: _none, ...without } = BODY;
    expect((await kb.as(kb.member).post("/api/connectors", without)).status).toBe(403);
    expect((await kb.as(kb.admin).post("/api/connectors", without)).status).toBe(201);
    expect((await kb.as(kb.member).post("/api/connectors", BODY)).status).toBe(201);
    await kb.worker.runUntilIdle();
    // The two runs go side by side.
    const made = kb.calls.filter(({ what }) => what === "sync").map(({ token }) => token ?? "none");
    expect(made.toSorted()).toEqual([CANARY, "none"]);
  });

  test("given again open a connector that waits for them", async () => {
    const kb = await makeSafeServer();
    const { json } = await kb.as(kb.owner).post("/api/connectors", BODY);
    const { id } = json.connector;
    const connectors = kb.store.in(kb.owner.workspaceId).connectors;
    await connectors.update(id, { state: "needs_reauth", stateReason: "No." });
    const changed = await kb.as(kb.owner).patch(`/api/connectors/${id}`, { credentials: { token: "new" } });
    expect(changed.json.connector).toMatchObject({ state: "active", stateReason: null });
    await kb.worker.runUntilIdle();
    expect(kb.calls.at(-1)).toMatchObject({ what: "sync", token: "new" });
  });

  describe("of someone who leaves", () => {
    const left = async (kb: Awaited<ReturnType<typeof makeSafeServer>>, userId = kb.member.userId) =>
      expect((await kb.as(kb.owner).delete(`/api/workspace/members/${userId}`)).status).toBe(204);
    const nextRunAt = async (kb: Awaited<ReturnType<typeof makeSafeServer>>, id: string) =>
      (await kb.store.in(kb.owner.workspaceId).connectors.find(id))?.nextRunAt;

    test("are deleted, and their connector waits for someone to take it over", async () => {
      const kb = await makeSafeServer();
      const { id } = (await kb.as(kb.member).post("/api/connectors", BODY)).json.connector;
      await kb.worker.runUntilIdle();
      const calls = kb.calls.length;
      await left(kb);
      expect(await kb.sealed()).toBeUndefined();
      const { connector } = (await kb.as(kb.admin).get(`/api/connectors/${id}`)).json;
      expect(connector).toMatchObject({
        state: "needs_owner",
        stateReason: expect.stringMatching(/owner left the workspace.*take it over/),
      });
      expect(await nextRunAt(kb, id)).toBeNull();
      for (const act of ["syncs", "resume"]) {
        expect((await kb.as(kb.admin).post(`/api/connectors/${id}/${act}`, {})).json.code).toBe(
          "connector_state_conflict",
        );
      }
      kb.clock.advance(86_400_000);
      await kb.worker.runUntilIdle();
      expect(kb.calls).toHaveLength(calls);
    });

    test("end the run under way at once, and what waits", async () => {
      const kb = await makeSafeServer();
      const { id } = (await kb.as(kb.member).post("/api/connectors", BODY)).json.connector;
      const second = (await kb.as(kb.member).post("/api/connectors", { ...BODY, name: "Queued" })).json.connector;
      const began = kb.holdFirstSync();
      const working = kb.worker.runUntilIdle();
      await began;
      await left(kb);
      await working;
      for (const each of [id, second.id]) {
        const { syncs } = (await kb.as(kb.admin).get(`/api/connectors/${each}/syncs`)).json;
        expect(syncs).toMatchObject([{ state: "cancelled" }]);
      }
    });

    test("leave an admin to take it over, who reads what the new credentials give and nothing from before", async () => {
      const kb = await makeSafeServer();
      const scope = { include: ["f1"], exclude: [], titles: { f1: "Salaries" } };
      const { id } = (await kb.as(kb.member).post("/api/connectors", { ...BODY, scope })).json.connector;
      await kb.worker.runUntilIdle();
      await left(kb);
      const found = async () =>
        (await kb.as(kb.admin).get(`/api/connectors/all-files?connectorId=${id}`)).json.files.length;
      const taken = await kb.as(kb.admin).patch(`/api/connectors/${id}`, { credentials: { token: "mine" } });
      expect(taken.json.connector).toMatchObject({
        state: "active",
        stateReason: null,
        owner: { id: kb.admin.userId },
        access: { visibility: "private" },
      });
      // The names that the former owner saw go with them.
      expect(taken.json.connector.scope).toEqual({ include: ["f1"], exclude: [] });
      expect(await found()).toBe(0);
      await kb.worker.runUntilIdle();
      expect(kb.calls.at(-1)).toMatchObject({ what: "sync", token: "mine" });
      expect(await found()).toBe(1);
      const { entries } = (await kb.as(kb.owner).get("/api/audit?action=connector.taken_over")).json;
      expect(entries).toMatchObject([{ details: { from: kb.member.userId, to: kb.admin.userId } }]);
    });

    test("ask the owner of a connector for new ones when someone else gave them", async () => {
      const kb = await makeSafeServer();
      const { id } = (await kb.as(kb.member).post("/api/connectors", BODY)).json.connector;
      await givenBy(kb, kb.admin);
      await left(kb, kb.admin.userId);
      expect(await kb.sealed()).toBeUndefined();
      const { connector } = (await kb.as(kb.member).get(`/api/connectors/${id}`)).json;
      expect(connector).toMatchObject({
        state: "needs_reauth",
        stateReason: expect.stringContaining("left the workspace"),
        owner: { id: kb.member.userId },
      });
    });

    test("that were given to a connector of theirs by someone else stay, for that person to take it over with", async () => {
      const kb = await makeSafeServer();
      const { id } = (await kb.as(kb.member).post("/api/connectors", BODY)).json.connector;
      await givenBy(kb, kb.admin);
      await left(kb);
      expect((await kb.as(kb.admin).get(`/api/connectors/${id}`)).json.connector.state).toBe("needs_owner");
      expect((await kb.as(kb.owner).patch(`/api/connectors/${id}`, { takeOver: true })).json.code).toBe(
        "credential_required",
      );
      const taken = await kb.as(kb.admin).patch(`/api/connectors/${id}`, { takeOver: true });
      expect(taken.json.connector).toMatchObject({ state: "active", owner: { id: kb.admin.userId } });
      expect(await kb.sealed()).toMatchObject({ givenBy: kb.admin.userId });
      // By its schedule, which had ended with its owner.
      expect(await nextRunAt(kb, id)).not.toBeNull();
    });
  });

  verifies("vault:keys-change", "sealed with an older key are sealed again when they are next used", async () => {
    const kb = await makeSafeServer();
    const { json } = await kb.as(kb.owner).post("/api/connectors", BODY);
    const connector = {
      connectorId: json.connector.id,
      createdBy: kb.owner.userId,
      accountId: null,
      connectionId: null,
    };
    const bytes = (count: number) => new Uint8Array(count).fill(3);
    const keys = [
      { id: "new", key: new Uint8Array(32).fill(9) },
      { id: "test", key: new Uint8Array(32).fill(7) },
    ];
    const accounts = { tokensOf: () => Promise.reject(new Error("No account.")), ownerOf: async () => undefined };
    const connections = { wayOf: () => Promise.reject(new Error("No connection.")) };
    const given = { store: kb.store, accounts, connections, now: Date.now };
    const keeper = makeCredentialKeeper({ ...given, vault: makeVault(keys, bytes) });
    expect((await keeper.credentialsOf(kb.owner.workspaceId, connector)).credentials).toEqual({ token: CANARY });
    expect((await kb.sealed())?.sealed).toMatch(/^v1\.new\./);
    const alone = makeCredentialKeeper({ ...given, vault: makeVault(keys.slice(0, 1), bytes) });
    expect((await alone.credentialsOf(kb.owner.workspaceId, connector)).credentials).toEqual({ token: CANARY });
  });

  test("that can't be opened end the run and ask for new ones", async () => {
    const kb = await makeSafeServer();
    const { json } = await kb.as(kb.owner).post("/api/connectors", BODY);
    await kb.database.write.updateTable("connector_credentials").set({ sealed: "v1.gone.AAAA.AAAA.AAAA" }).execute();
    await kb.worker.runUntilIdle();
    const { connector } = (await kb.as(kb.owner).get(`/api/connectors/${json.connector.id}`)).json;
    expect(connector).toMatchObject({ state: "needs_reauth", lastSync: { state: "failed" } });
  });
});
