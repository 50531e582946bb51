import { describe, test } from "vitest";
import { isWellFormedSecret, mintSecret } from "#core/secrets.ts";
import { makeServer, TEST_NOW } from "../../../helpers.ts";
import { verifies } from "../../../requirements.ts";

const DAY_MS = 86_400_000;
const iso = (ms: number) => new Date(ms).toISOString();

describe("personal access tokens", () => {
  verifies(
    ["auth:pat-by-signed-in-user", "pat-route:create", "pat-route:answer-plaintext", "pat-route:answer-mcp-url"],
    "are created by who is signed in with {name} alone, and answered with the plaintext and the MCP URL",
    async ({ expect }) => {
      const kb = await makeServer();
      const ana = await kb.addOwner();
      expect((await kb.anyone().post("/api/api-tokens", { name: "laptop" })).status).toBe(401);
      const made = await kb.as(ana).post("/api/api-tokens", { name: "laptop" });
      expect(made.status).toBe(201);
      expect(made.headers.get("cache-control")).toBe("no-store");
      expect(Object.keys(made.json).toSorted()).toEqual(["mcpUrl", "plaintext", "token"]);
      expect(made.json.mcpUrl).toBe("http://127.0.0.1:7700/mcp");
      const { plaintext } = made.json;
      const opened = async (token: string) =>
        (await kb.withToken(token).post("/mcp", { jsonrpc: "2.0", id: 1, method: "tools/list" })).status;
      // It opens /mcp to its maker, as nothing like it does.
      expect([await opened(plaintext), await opened(`${plaintext.slice(0, -1)}_`)]).toEqual([200, 401]);
    },
  );

  verifies(
    ["pat:plaintext-prefix", "pat:field-prefix"],
    "begin with kb_pat_, and show as much of the plaintext as tells them apart",
    async ({ expect }) => {
      const kb = await makeServer();
      const me = kb.as(await kb.addOwner());
      const [one, other] = [
        await me.post("/api/api-tokens", { name: "a" }),
        await me.post("/api/api-tokens", { name: "b" }),
      ];
      for (const { plaintext, token } of [one.json, other.json]) {
        expect(plaintext).toMatch(/^kb_pat_[0-9A-Za-z]{38}$/);
        expect(token.prefix).toBe(plaintext.slice(0, 11));
      }
      expect(one.json.plaintext).not.toBe(other.json.plaintext);
    },
  );

  verifies(
    ["pat:field-id", "pat:field-name", "pat:field-created-at", "pat-route:answer-token"],
    "carry their id, their name and when they were made, in the answer and in the list alike",
    async ({ expect }) => {
      const kb = await makeServer();
      const me = kb.as(await kb.addOwner());
      kb.clock.advance(1000);
      const { token } = (await me.post("/api/api-tokens", { name: "laptop" })).json;
      expect(token).toEqual({
        id: expect.stringMatching(/^tok_\w{16}$/),
        name: "laptop",
        prefix: expect.any(String),
        createdAt: iso(TEST_NOW + 1000),
        lastUsedAt: null,
        revokedAt: null,
        scopes: ["mcp:read"],
        expiresAt: null,
        grantId: null,
      });
      expect((await me.get("/api/api-tokens")).json.tokens).toEqual([token]);
      // The id is what revokes it.
      expect((await me.delete(`/api/api-tokens/${token.id}`)).json.token.id).toBe(token.id);
    },
  );

  verifies(
    ["pat:field-last-used-at", "pat:field-revoked-at", "pat-state:active", "pat-state:created-active"],
    "are active and unused once made, until they are used and revoked",
    async ({ expect }) => {
      const kb = await makeServer();
      const me = kb.as(await kb.addOwner());
      const made = (await me.post("/api/api-tokens", { name: "ci", scopes: ["kb:api"] })).json;
      const listed = async () => (await me.get("/api/api-tokens")).json.tokens;
      expect(await listed()).toMatchObject([{ lastUsedAt: null, revokedAt: null }]);
      kb.clock.advance(1000);
      const use = async () => (await kb.withToken(made.plaintext).get("/api/workspace")).status;
      expect(await use()).toBe(200);
      expect(await listed()).toMatchObject([{ lastUsedAt: iso(TEST_NOW + 1000), revokedAt: null }]);
      const gone = await me.delete(`/api/api-tokens/${made.token.id}`);
      expect(gone.json.token.revokedAt).toBe(iso(TEST_NOW + 1000));
      expect([await use(), await listed()]).toEqual([401, []]);
    },
  );

  verifies(
    ["pat-route:list", "pat-route:list-mcp-url", "auth:scope"],
    "are listed newest first with the MCP URL, with mcp:read unless more was asked for, and never with the plaintext",
    async ({ expect }) => {
      const kb = await makeServer();
      const me = kb.as(await kb.addOwner());
      const first = await me.post("/api/api-tokens", { name: "laptop" });
      kb.clock.advance(1000);
      const second = await me.post("/api/api-tokens", { name: "ci", scopes: ["kb:api", "mcp:read"], expiresInDays: 7 });
      expect(first.json.token.scopes).toEqual(["mcp:read"]);
      expect(second.json.token.expiresAt).toBe(iso(TEST_NOW + 1000 + 7 * DAY_MS));
      const list = await me.get("/api/api-tokens");
      const tokens = [second.json.token, first.json.token];
      expect(list.json).toEqual({ tokens, mcpUrl: "http://127.0.0.1:7700/mcp" });
      for (const { plaintext } of [first.json, second.json]) expect(list.text).not.toContain(plaintext);
    },
  );

  verifies(
    ["pat:hash-only", "pat:plaintext-once"],
    "test 49: the database holds the hash and never the plaintext, nor do the log lines",
    async ({ expect }) => {
      const kb = await makeServer();
      const ana = await kb.addOwner();
      const plaintext = await kb.token(ana);
      const rows = await kb.database.read.selectFrom("api_tokens").selectAll().execute();
      expect(JSON.stringify(rows)).not.toContain(plaintext.slice(12));
      expect(rows[0]?.hash).toMatch(/^[0-9a-f]{64}$/);
      expect(JSON.stringify(kb.log.lines)).not.toContain(plaintext);
    },
  );

  verifies(
    ["pat-state:revoke", "pat-state:revoked-is-final", "pat-route:revoke"],
    "a revoked token opens nothing from the next request on; revoking again gives the same answer",
    async ({ expect }) => {
      const kb = await makeServer();
      const ana = await kb.addOwner();
      const token = await kb.token(ana, ["kb:api"]);
      expect((await kb.withToken(token).get("/api/workspace")).status).toBe(200);
      const [{ id }] = (await kb.as(ana).get("/api/api-tokens")).json.tokens;
      const gone = await kb.as(ana).delete(`/api/api-tokens/${id}`);
      expect(gone).toMatchObject({ status: 200, json: { token: { id, revokedAt: iso(TEST_NOW) } } });
      kb.clock.advance(5000);
      expect((await kb.as(ana).delete(`/api/api-tokens/${id}`)).json).toEqual(gone.json);
      expect((await kb.as(ana).get("/api/api-tokens")).json.tokens).toEqual([]);
      expect(await kb.withToken(token).get("/api/workspace")).toMatchObject({
        status: 401,
        json: { code: "unauthenticated" },
      });
    },
  );

  test("an expired token counts as revoked at the moment it expired", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const made = (await kb.as(ana).post("/api/api-tokens", { name: "x", scopes: ["kb:api"], expiresInDays: 1 })).json;
    kb.clock.advance(DAY_MS - 1);
    expect((await kb.withToken(made.plaintext).get("/api/workspace")).status).toBe(200);
    kb.clock.advance(1);
    expect((await kb.withToken(made.plaintext).get("/api/workspace")).status).toBe(401);
    expect((await kb.as(ana).get("/api/api-tokens")).json.tokens).toEqual([]);
    const gone = await kb.as(ana).delete(`/api/api-tokens/${made.token.id}`);
    expect(gone.json.token.revokedAt).toBe(made.token.expiresAt);
  });

  verifies(
    "pat-state:last-used-records-use",
    "test 50: lastUsedAt is written on the first use and then at most once in 5 minutes",
    async ({ expect }) => {
      const kb = await makeServer();
      const ana = await kb.addOwner();
      const token = await kb.token(ana, ["kb:api"]);
      const lastUsed = async () => (await kb.as(ana).get("/api/api-tokens")).json.tokens[0].lastUsedAt;
      expect(await lastUsed()).toBeNull();
      kb.clock.advance(1000);
      await Promise.all(Array.from({ length: 5 }, () => kb.withToken(token).get("/api/workspace")));
      expect(await lastUsed()).toBe(iso(TEST_NOW + 1000));
      kb.clock.advance(299_000);
      await kb.withToken(token).get("/api/workspace");
      expect(await lastUsed()).toBe(iso(TEST_NOW + 1000));
      kb.clock.advance(1000);
      await kb.withToken(token).get("/api/workspace");
      expect(await lastUsed()).toBe(iso(TEST_NOW + 301_000));
    },
  );

  verifies(
    "auth:tokens-act-for-user",
    "another person's and another workspace's token can't be seen or revoked",
    async ({ expect }) => {
      const kb = await makeServer();
      const ana = await kb.addOwner();
      const bo = await kb.addMember(ana.workspaceId);
      const eve = await kb.addOwner("Other");
      const token = await kb.token(ana, ["kb:api"]);
      const [{ id }] = (await kb.as(ana).get("/api/api-tokens")).json.tokens;
      const unknown = await kb.as(bo).delete("/api/api-tokens/tok_2222222222222222");
      for (const stranger of [bo, eve]) {
        const answer = await kb.as(stranger).delete(`/api/api-tokens/${id}`);
        expect({ ...answer.json, requestId: "" }).toEqual({ ...unknown.json, requestId: "" });
        expect((await kb.as(stranger).get("/api/api-tokens")).json.tokens).toEqual([]);
      }
      expect((await kb.withToken(token).get("/api/workspace")).status).toBe(200);
    },
  );

  test("50 active tokens are the limit, also for parallel requests", async ({ expect }) => {
    const kb = await makeServer();
    const me = kb.as(await kb.addOwner());
    const made = await Promise.all(Array.from({ length: 52 }, (_, i) => me.post("/api/api-tokens", { name: `t${i}` })));
    expect(made.filter((answer) => answer.status === 201).length).toBe(50);
    const [refused] = made.filter((answer) => answer.status !== 201);
    expect(refused).toMatchObject({ status: 409, json: { code: "token_limit_reached" } });
    const created = made.find((answer) => answer.status === 201);
    await me.delete(`/api/api-tokens/${created?.json.token.id}`);
    expect((await me.post("/api/api-tokens", { name: "again" })).status).toBe(201);
  });

  test("test 48: a token makes no token, a member none with kb:admin, an old sign-in none at all", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId);
    const token = await kb.token(ana, ["kb:api", "kb:admin", "mcp:read"]);
    expect(await kb.withToken(token).post("/api/api-tokens", { name: "x" })).toMatchObject({ status: 403 });
    expect(await kb.as(bo).post("/api/api-tokens", { name: "x", scopes: ["kb:admin"] })).toMatchObject({
      status: 403,
      json: { code: "insufficient_scope" },
    });
    kb.clock.advance(12 * 3_600_000 + 1);
    expect(await kb.as(ana).post("/api/api-tokens", { name: "x" })).toMatchObject({
      status: 403,
      json: { code: "recent_sign_in_required" },
    });
  });

  test("a kb:admin token loses its power with the role, at once", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId, "admin");
    const token = await kb.token(bo, ["kb:admin"]);
    expect((await kb.withToken(token).get("/api/audit")).status).toBe(200);
    await kb.as(ana).patch(`/api/workspace/members/${bo.userId}`, { role: "member" });
    expect(await kb.withToken(token).get("/api/audit")).toMatchObject({
      status: 403,
      json: { code: "insufficient_scope" },
    });
    expect((await kb.withToken(token).get("/api/workspace")).status).toBe(200);
  });

  verifies("pat-route:create-name-required", "creation without a name is refused", async ({ expect }) => {
    const kb = await makeServer();
    const me = kb.as(await kb.addOwner());
    expect(await me.post("/api/api-tokens", {})).toMatchObject({ status: 400, json: { field: "name" } });
    expect((await me.get("/api/api-tokens")).json.tokens).toEqual([]);
  });

  test.for([
    ["no name", {}, "name"],
    ["an empty name", { name: " " }, "name"],
    ["a wrong type", { name: 7 }, "name"],
    ["too long a name", { name: "a".repeat(121) }, "name"],
    ["a name of two lines", { name: "a\nb" }, "name"],
    ["an unknown key", { name: "a", scope: "mcp:read" }, "scope"],
    ["an unknown scope", { name: "a", scopes: ["all"] }, "scopes.0"],
    ["no scopes", { name: "a", scopes: [] }, "scopes"],
    ["a zero lifetime", { name: "a", expiresInDays: 0 }, "expiresInDays"],
  ] as const)("creation refuses %s", async ([, body, field], { expect }) => {
    const kb = await makeServer();
    const answer = await kb.as(await kb.addOwner()).post("/api/api-tokens", body);
    expect(answer).toMatchObject({ status: 400, json: { code: "invalid_request", field } });
  });
});

describe("when a request is authenticated", () => {
  test("test 47: typos, other prefixes, revoked and expired tokens are 401, and a typo asks no database", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const token = await kb.token(ana, ["kb:api"]);
    const typo = token.slice(0, -1) + (token.endsWith("a") ? "b" : "a");
    for (const wrong of [
      typo,
      `kb_xat_${token.slice(7)}`,
      token.slice(0, -1),
      `${token}x`,
      "kb_pat_",
      "x".repeat(43),
    ]) {
      expect([wrong.length, (await kb.withToken(wrong).get("/api/workspace")).status]).toEqual([wrong.length, 401]);
    }
    // With the database gone only a well-formed one still asks it.
    await kb.database.read.destroy();
    expect((await kb.withToken(typo).get("/api/workspace")).status).toBe(401);
    expect((await kb.withToken(token).get("/api/workspace")).status).toBe(500);
  });

  test("test 48: another person's token is not there to be revoked", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId, "admin");
    const token = await kb.token(ana, ["kb:api"]);
    const [{ id }] = (await kb.as(ana).get("/api/api-tokens")).json.tokens;
    expect((await kb.as(bo).delete(`/api/api-tokens/${id}`)).status).toBe(404);
    expect((await kb.withToken(token).get("/api/workspace")).status).toBe(200);
  });

  test("test 49: the answer that holds the plaintext is kept by no one, and no other answer holds it", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const made = await kb.as(ana).post("/api/api-tokens", { name: "laptop" });
    expect(made.headers.get("cache-control")).toBe("no-store");
    const { id } = made.json.token;
    const others = [
      await kb.as(ana).get("/api/api-tokens"),
      await kb.as(ana).get("/api/audit"),
      await kb.as(ana).delete(`/api/api-tokens/${id}`),
    ];
    for (const answer of others) expect(answer.text).not.toContain(made.json.plaintext.slice(11));
  });

  test("test 50: two hundred uses within five minutes write nothing", async ({ expect }) => {
    const kb = await makeServer({ settings: { rateLimits: "off" } });
    const ana = await kb.addOwner();
    const token = await kb.token(ana, ["kb:api"]);
    await kb.withToken(token).get("/api/workspace");
    const stamp = iso(kb.clock.now());
    kb.clock.advance(299_999);
    await Promise.all(Array.from({ length: 200 }, () => kb.withToken(token).get("/api/workspace")));
    const [row] = (await kb.as(ana).get("/api/api-tokens")).json.tokens;
    expect(row).toMatchObject({ lastUsedAt: stamp });
  });
});

describe("the secret's form", () => {
  test("test 47: a changed character is found by the form alone", async ({ expect }) => {
    const { plaintext } = mintSecret("kb_pat_", (n) => Buffer.alloc(n, 200));
    expect(plaintext).toHaveLength(45);
    expect(isWellFormedSecret("kb_pat_", plaintext)).toBe(true);
    for (let i = 7; i < plaintext.length; i++) {
      const other = plaintext[i] === "a" ? "b" : "a";
      expect(isWellFormedSecret("kb_pat_", plaintext.slice(0, i) + other + plaintext.slice(i + 1))).toBe(false);
    }
    expect(isWellFormedSecret("kb_con_", plaintext)).toBe(false);
  });
});
