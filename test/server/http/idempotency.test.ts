import { readFileSync } from "node:fs";
import { describe, test } from "vitest";
import { ROUTE_ACCESS } from "#server/http/auth.ts";
import { CREATE_RULES, makeIdempotency } from "#server/http/idempotency.ts";
import type { Caller } from "#server/http/authenticate.ts";
import { makeServer, openTestStore, makeTestClock, type TestClient } from "../../helpers.ts";
import { makeConnectorServer } from "../connectors/server.ts";

const DAY = 86_400_000;

const send = (client: TestClient, path: string, body: unknown, key: string) =>
  client.request("POST", path, { body, headers: { "idempotency-key": key } });

describe("Idempotency-Key", () => {
  test("20 parallel posts with one key make one thing and get one answer", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const posts = Array.from({ length: 20 }, () => send(kb.as(ana), "/api/groups", { name: "Ops" }, "k-1"));
    const answers = await Promise.all(posts);
    expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
    expect(answers[0]).toMatchObject({ status: 201, json: { group: { name: "Ops" } } });
    expect(answers.filter(({ headers }) => headers.get("idempotency-replayed") === "true")).toHaveLength(19);
    expect((await kb.as(ana).get("/api/groups")).json.groups).toHaveLength(1);
    // Another key is another request.
    await send(kb.as(ana), "/api/groups", { name: "Ops" }, "k-2");
    expect((await kb.as(ana).get("/api/groups")).json.groups).toHaveLength(2);
  });

  test("another body is refused, while the first runs and after; equal ones may write their keys in any order", async ({
    expect,
  }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const [first, other] = await Promise.all([
      send(kb.as(ana), "/api/groups", { name: "Ops", memberIds: [] }, "k"),
      send(kb.as(ana), "/api/groups", { name: "Dev" }, "k"),
    ]);
    expect([first.status, other.status, other.json.code]).toEqual([201, 409, "idempotency_key_reused"]);
    expect((await send(kb.as(ana), "/api/groups", { name: "Dev" }, "k")).json.code).toBe("idempotency_key_reused");
    const again = await send(kb.as(ana), "/api/groups", { memberIds: [], name: "Ops" }, "k");
    expect([again.status, again.text]).toEqual([201, first.text]);
  });

  test("is bound to person, credential, workspace and route: B with A's key gets his own", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const bo = await kb.addMember(ana.workspaceId, "admin");
    const stranger = await kb.addOwner("Other");
    const token = await kb.token(ana, ["kb:admin"]);
    const clients = [kb.as(ana), kb.as(bo), kb.as(stranger), kb.withToken(token), kb.as(await kb.signIn(ana))];
    const ids = [];
    for (const client of clients) ids.push((await send(client, "/api/groups", { name: "Ops" }, "same")).json.group.id);
    expect(new Set(ids).size).toBe(clients.length);
    const invitation = await send(
      kb.as(ana),
      "/api/workspace/invitations",
      { email: "x@y.test", role: "member" },
      "same",
    );
    expect(invitation.status).toBe(201);
  });

  test("what failed made nothing: the key is free again", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const wrong = { name: "Ops", groupIds: ["grp_2222222222222222"] };
    const failures = await Promise.all([1, 2, 3].map(() => send(kb.as(ana), "/api/groups", wrong, "k")));
    expect(failures.map(({ status }) => status)).toEqual([422, 422, 422]);
    expect((await send(kb.as(ana), "/api/groups", { name: "Ops" }, "k")).status).toBe(201);
  });

  test("counts for 24 hours", async ({ expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const first = await send(kb.as(ana), "/api/groups", { name: "Ops" }, "k");
    kb.clock.advance(DAY - 1);
    expect((await send(kb.as(ana), "/api/groups", { name: "Ops" }, "k")).text).toBe(first.text);
    kb.clock.advance(1);
    expect((await send(kb.as(ana), "/api/groups", { name: "Other" }, "k")).status).toBe(201);
    kb.clock.advance(DAY);
    await kb.deps.idempotency.sweep();
    const left = await kb.database.read.selectFrom("idempotency_records").selectAll().execute();
    expect(left).toEqual([]);
  });

  test.for(["", "a b", "ü", "x".repeat(201), "tab\t1"])("refuses %j as a key", async (key, { expect }) => {
    const kb = await makeServer();
    const ana = await kb.addOwner();
    const headers = { "idempotency-key": key };
    const answer = await kb.as(ana).request("POST", "/api/groups", { body: { name: "Ops" }, headers });
    expect([answer.status, answer.json.field]).toEqual([400, "Idempotency-Key"]);
  });

  test("S14, 49: an answer with a secret is kept nowhere, and its replay names what was made", async ({ expect }) => {
    const kb = await makeConnectorServer();
    const me = kb.as(kb.owner);
    const push = { providerId: "push", name: "Feed", config: {}, access: { visibility: "workspace" } };
    const creates: [path: string, body: unknown, secret: (json: never) => string, id: RegExp][] = [
      ["/api/api-tokens", { name: "ci" }, (json: { plaintext: string }) => json.plaintext, /tok_\w{16}/],
      ["/api/connectors", push, (json: { key: string }) => json.key, /con_\w{16}/],
      [
        "/api/workspace/invitations",
        { email: "cy@acme.test", role: "member" },
        (json: { url: string }) => json.url.split("#token=")[1] ?? "",
        /inv_\w{16}/,
      ],
      [
        `/api/workspace/members/${kb.member.userId}/password-reset`,
        undefined,
        (json: { url: string }) => json.url.split("#token=")[1] ?? "",
        /usr_\w{16}/,
      ],
    ];
    const secrets: string[] = [];
    for (const [path, body, secretOf, id] of creates) {
      const first = await send(me, path, body, "k");
      expect([path, first.status]).toEqual([path, 201]);
      secrets.push(secretOf(first.json as never));
      const again = await send(me, path, body, "k");
      expect(again).toMatchObject({
        status: 409,
        json: { code: "already_created", detail: expect.stringMatching(id) },
      });
    }
    const { connectors } = (await me.get("/api/connectors")).json;
    const rotate = `/api/connectors/${connectors.at(-1).id}/rotate-key`;
    const rotated = await send(me, rotate, {}, "k");
    secrets.push(rotated.json.key);
    expect((await send(me, rotate, {}, "k")).json.detail).toContain(connectors.at(-1).id);
    expect(connectors).toHaveLength(1);

    expect(secrets.every((secret) => secret.length > 20)).toBe(true);
    await kb.database.writer.request({ type: "execute", sql: "pragma wal_checkpoint(truncate)", parameters: [] });
    const dump = readFileSync(kb.database.file, "latin1") + readFileSync(`${kb.database.file}-wal`, "latin1");
    for (const secret of secrets) expect(dump.includes(secret), "in the database file").toBe(false);
    const rows = await kb.database.read.selectFrom("idempotency_records").selectAll().execute();
    expect(rows).toHaveLength(5);
    expect(JSON.stringify(rows)).not.toMatch(/kb_pat_|kb_con_|#token=/);
  });

  test("what a crash left behind in the middle starts over", async ({ expect }) => {
    const { store } = await openTestStore();
    const clock = makeTestClock();
    const caller: Caller = { type: "connector", connector: { workspaceId: "w", connectorId: "c", keyId: "k" } };
    const request = { rule: { id: "id" }, caller, route: "POST /x", key: "k", pathId: undefined, content: { a: 1 } };
    const dead = makeIdempotency({ store, clock });
    void dead.run(request, () => new Promise(() => {}));
    const begun = () => store.idempotency.sweep(clock.now() + 2 * DAY, 0).then(() => undefined);
    await begun();
    const alive = makeIdempotency({ store, clock });
    expect(await alive.run(request, async () => ({ status: 201, body: { id: "one" } }))).toMatchObject({
      isReplay: false,
    });
    expect(await alive.run(request, async () => expect.fail("made twice"))).toMatchObject({
      isReplay: true,
      status: 201,
      body: { id: "one" },
    });
  });

  test("a secret that a rule forgot is not stored either", async ({ expect }) => {
    const { store, database } = await openTestStore();
    const service = makeIdempotency({ store, clock: makeTestClock() });
    const caller: Caller = { type: "connector", connector: { workspaceId: "w", connectorId: "c", keyId: "k" } };
    const request = { rule: {}, caller, route: "POST /x", key: "k", pathId: "con_1", content: {} };
    const secret = `kb_con_${"a".repeat(38)}`;
    await service.run(request, async () => ({ status: 201, body: { deep: { secret } } }));
    const rows = await database.read.selectFrom("idempotency_records").selectAll().execute();
    expect(rows).toMatchObject([{ answer: null, targetId: "con_1", status: 201 }]);
  });

  test("what a rule calls a secret is none where it is absent, and is whatever it looks like", async ({ expect }) => {
    const { store } = await openTestStore();
    const service = makeIdempotency({ store, clock: makeTestClock() });
    const caller: Caller = { type: "connector", connector: { workspaceId: "w", connectorId: "c", keyId: "k" } };
    const twice = async (key: string, body: object) => {
      const rule = { id: "one.id", secrets: ["secret"] };
      const request = { rule, caller, route: "POST /x", key, pathId: undefined, content: {} };
      await service.run(request, async () => ({ status: 201, body }));
      return service.run(request, async () => expect.fail("made twice"));
    };
    for (const absent of [{ one: { id: "a" } }, { one: { id: "a" }, secret: null }]) {
      const again = await twice(JSON.stringify(absent).slice(-9, -2).replaceAll(/\W/g, "x"), absent);
      expect(again).toMatchObject({ isReplay: true, status: 201, body: absent });
    }
    await expect(twice("k", { one: { id: "a" }, secret: "plain" })).rejects.toMatchObject({
      code: "already_created",
      details: { id: "a" },
    });
  });

  test("every rule names a route that a signed-in caller opens", ({ expect }) => {
    const wrong = Object.keys(CREATE_RULES).filter((route) => ROUTE_ACCESS[route]?.public !== false);
    expect(wrong).toEqual([]);
  });
});
