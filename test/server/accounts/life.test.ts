import type { ServerResponse } from "node:http";
import { describe, test } from "vitest";
import { makeAccounts } from "#server/compose/accounts.ts";
import { makeSourceHttpPool } from "#sources/http/pool.ts";
import { takeNoTime } from "../../features.ts";
import { FAKE_CLIENT, startFakeProvider } from "./fake-provider.ts";
import { makeAccountServer } from "./server.ts";
import type { TestUser } from "../../helpers.ts";

const ANNA = { id: 7, login: "anna" };
const DAY = 24 * 3_600_000;

/** A provider, and what connects accounts and connectors there. */
async function makeConnected() {
  const provider = await startFakeProvider();
  const principal = `user:gitea:${encodeURIComponent(provider.url)}:7`;
  const kb = await makeAccountServer(
    { gitea: { baseUrl: provider.url, ...FAKE_CLIENT } },
    { readers: () => [principal] },
  );
  const connect = async (user: TestUser, as = ANNA) => {
    const { location } = await kb.go(user, provider.agree(await kb.begin(user, "gitea"), as));
    return (await kb.accept(user, location)).json.account as { id: string };
  };
  const addConnector = async (user: TestUser, body: Record<string, unknown> = {}) => {
    const { json, status, text } = await kb.as(user).post("/api/connectors", {
      providerId: "gitea",
      name: "Forge",
      config: { baseUrl: provider.url },
      access: { visibility: "source" },
      ...body,
    });
    if (status !== 201) throw new Error(text);
    await kb.worker.runUntilIdle();
    return json.connector as { id: string; state: string };
  };
  return { kb, provider, connect, addConnector };
}

/** An account as it is stored, with its tokens. */
async function openAccount({ store, owner, deps }: Awaited<ReturnType<typeof makeConnected>>["kb"], accountId: string) {
  const account = await store.in(owner.workspaceId).accounts.find(accountId);
  if (account === undefined) throw new Error("There is no such account.");
  return { account, secrets: await deps.accountDeps.keeper.open(owner.workspaceId, account) };
}

describe("an account", () => {
  test("lets its person read what they may read there, until it is disconnected", async ({ expect }) => {
    const { kb, connect, addConnector } = await makeConnected();
    const { id: accountId } = await connect(kb.owner, { id: 1, login: "boss" });
    expect(await addConnector(kb.owner, { accountId })).toMatchObject({ accountId });
    const count = async (user: TestUser) => (await kb.as(user).get("/api/connectors/all-files")).json.files.length;
    expect([await count(kb.anna), await count(kb.ben), await count(kb.owner)]).toEqual([0, 0, 0]);
    const account = await connect(kb.anna);
    expect([await count(kb.anna), await count(kb.ben)]).toEqual([1, 0]);
    expect((await kb.as(kb.anna).delete(`/api/accounts/${account.id}`)).status).toBe(204);
    expect(await count(kb.anna)).toBe(0);
    expect(await kb.accountsOf(kb.anna)).toEqual([]);
    // The token goes with the job that revokes it.
    await kb.worker.runUntilIdle();
    expect(await kb.store.in(kb.anna.workspaceId).accounts.find(account.id)).toBeUndefined();
    const { text } = await kb.as(kb.owner).get("/api/audit?action=person.unlinked");
    expect(text).toContain("account_disconnected");
  });

  test("is asked who it is within maxAclAge, and counts no longer than the last answer", async ({ expect }) => {
    const { kb, provider, connect } = await makeConnected();
    const { id } = await connect(kb.anna);
    const principals = async () => {
      const maxAclAgeMs = await kb.store.in(kb.anna.workspaceId).access.maxAclAgeMs();
      const { access } = kb.store.in(kb.anna.workspaceId);
      const at = { now: kb.clock.now(), maxAclAgeMs };
      return (await access.expandAt([`user:${kb.anna.userId}`], at)).principals.filter((name) =>
        name.startsWith("user:gitea"),
      );
    };
    const before = provider.whoamis;
    kb.clock.advance(DAY / 2 + 1);
    await kb.worker.runUntilIdle();
    // For its new tokens, and because it is due.
    expect(provider.whoamis).toBe(before + 2);
    const [confirmed] = await kb.accountsOf(kb.anna);
    expect(Date.parse(confirmed.confirmedAt)).toBe(kb.clock.now());
    // From now on the provider is down.
    provider.userStatus = 503;
    for (let hours = 0; hours < 23; hours++) {
      kb.clock.advance(3_600_000);
      expect((await principals()).length, `after ${hours + 1} h`).toBe(1);
    }
    kb.clock.advance(3_600_000);
    expect(await principals()).toEqual([]);
    await kb.worker.runUntilIdle();
    expect((await kb.accountsOf(kb.anna))[0]).toMatchObject({ id, state: "active", isLinked: false });
    // It comes back by itself.
    provider.userStatus = undefined;
    kb.clock.advance(DAY / 4);
    await kb.worker.runUntilIdle();
    expect((await principals()).length).toBe(1);
  });

  test("is asked who it is at once when that counts for another time", async ({ expect }) => {
    const { kb, provider, connect } = await makeConnected();
    await connect(kb.anna);
    const before = provider.whoamis;
    kb.clock.advance(2 * 3_600_000);
    await kb.as(kb.owner).patch("/api/workspace", { maxAclAgeHours: 1 });
    await kb.worker.runUntilIdle();
    // For its new tokens, and because it is due.
    expect(provider.whoamis).toBe(before + 2);
    expect((await kb.accountsOf(kb.anna))[0]).toMatchObject({ state: "active", isLinked: true });
  });

  test("whose tokens are someone else's by now is theirs no more", async ({ expect }) => {
    const { kb, provider, connect } = await makeConnected();
    await connect(kb.anna);
    kb.clock.advance(DAY / 2 + 1);
    provider.fault = (_form, response) => {
      const token = provider.makeToken({ id: 8, login: "renamed" });
      response.writeHead(200, { "content-type": "application/json" });
      return Boolean(response.end(JSON.stringify({ access_token: token })));
    };
    await kb.worker.runUntilIdle();
    expect((await kb.accountsOf(kb.anna))[0]).toMatchObject({ state: "needs_reauth", isLinked: false });
  });

  test("that gets tokens of someone else for its own uses them for nothing, and needs its person", async ({
    expect,
  }) => {
    const { kb, provider, connect, addConnector } = await makeConnected();
    const { id } = await connect(kb.anna);
    const connector = await addConnector(kb.anna, { accountId: id, access: { visibility: "private" } });
    const lastSync = async () => (await kb.as(kb.anna).get(`/api/connectors/${connector.id}`)).json.connector;
    const before = (await lastSync()).lastSync.id;
    provider.endAccess();
    provider.fault = (_form, response) => {
      const token = provider.makeToken({ id: 8, login: "somebody" });
      response.writeHead(200, { "content-type": "application/json" });
      return Boolean(response.end(JSON.stringify({ access_token: token, refresh_token: "of-somebody" })));
    };
    await kb.as(kb.anna).post(`/api/connectors/${connector.id}/syncs`, {});
    await kb.worker.runUntilIdle();
    expect((await kb.accountsOf(kb.anna))[0]).toMatchObject({ id, state: "needs_reauth", isLinked: false });
    const now = await lastSync();
    expect(now).toMatchObject({ state: "needs_reauth", lastSync: { state: "failed" } });
    expect(now.lastSync.id).not.toBe(before);
    const { secrets } = await openAccount(kb, id);
    expect(secrets.refreshToken).not.toBe("of-somebody");
  });

  test("keeps new tokens of which the provider doesn't say now whose they are, and asks again soon", async ({
    expect,
  }) => {
    const { kb, provider, connect } = await makeConnected();
    const { id } = await connect(kb.anna);
    provider.endAccess();
    provider.userStatus = 503;
    const { account, secrets } = await openAccount(kb, id);
    const token = await kb.deps.accountDeps.keeper.tokensOf(kb.owner.workspaceId, account).refresh(secrets.accessToken);
    expect(token).not.toBe(secrets.accessToken);
    expect((await openAccount(kb, id)).secrets.accessToken).toBe(token);
    expect((await kb.accountsOf(kb.anna))[0]).toMatchObject({ state: "active", isLinked: true });
    provider.userStatus = undefined;
    const { whoamis } = provider;
    await kb.worker.runUntilIdle();
    expect(provider.whoamis).toBe(whoamis + 1);
  });

  test("needs its person when the provider refuses the refresh, and its connectors with it", async ({ expect }) => {
    const { kb, provider, connect, addConnector } = await makeConnected();
    const { id } = await connect(kb.anna);
    const connector = await addConnector(kb.anna, { accountId: id, access: { visibility: "private" } });
    const stateOf = async () => (await kb.as(kb.anna).get(`/api/connectors/${connector.id}`)).json.connector;
    expect((await stateOf()).state).toBe("active");
    provider.endAccess();
    provider.endRefresh();
    await kb.as(kb.anna).post(`/api/connectors/${connector.id}/syncs`, {});
    await kb.worker.runUntilIdle();
    expect((await kb.accountsOf(kb.anna))[0]).toMatchObject({ id, state: "needs_reauth" });
    expect(await stateOf()).toMatchObject({ state: "needs_reauth" });
    expect((await kb.as(kb.anna).get("/api/accounts/gitea/status")).json).toMatchObject({ connected: false });
    // A new connector can't be made on it.
    const refused = await kb.as(kb.anna).post("/api/connectors", {
      providerId: "gitea",
      name: "Two",
      config: { baseUrl: provider.url },
      accountId: id,
      access: { visibility: "private" },
    });
    expect(refused).toMatchObject({ status: 422, json: { code: "connector_config_invalid", field: "accountId" } });
    // Connected again, everything goes on.
    const back = provider.agree(await kb.begin(kb.anna, "gitea", { accountId: id }), ANNA);
    expect((await kb.go(kb.anna, back)).location).toContain("account=connected");
    await kb.worker.runUntilIdle();
    expect(await stateOf()).toMatchObject({ state: "active", stateReason: null, lastSync: { state: "succeeded" } });
  });

  test("is not lost when the provider, or this server's client, is at fault", async ({ expect }) => {
    const { kb, provider, connect } = await makeConnected();
    await connect(kb.anna);
    const faults = [
      (status: number, body: string) => (_form: URLSearchParams, response: ServerResponse) =>
        Boolean(response.writeHead(status, { "content-type": "application/json" }).end(body)),
    ].flatMap((say) => [say(503, "{}"), say(401, '{"error":"invalid_client"}'), say(200, "{}"), say(200, "<html>")]);
    for (const fault of faults) {
      provider.fault = fault;
      provider.endAccess();
      kb.clock.advance(DAY / 2 + 1);
      await kb.worker.runUntilIdle();
      expect((await kb.accountsOf(kb.anna))[0].state).toBe("active");
    }
  });

  test("gets new tokens once, however many need them in this process and another", async ({ expect }) => {
    const { kb, provider, connect } = await makeConnected();
    const { id } = await connect(kb.anna);
    const other = await makeAccounts(kb.deps, kb.deps, {
      http: makeSourceHttpPool({
        guard: kb.deps.addressGuard,
        now: () => kb.clock.now(),
        sleep: takeNoTime,
      }),
      sleep: () => new Promise((resolve) => setImmediate(resolve)),
      wake: () => undefined,
    });
    const account = await kb.store.in(kb.anna.workspaceId).accounts.find(id);
    if (!account) throw new Error("There is no account.");
    kb.clock.advance(3_600_000);
    const tokens = [kb.deps.accountDeps, other.accountDeps].map(({ keeper }) =>
      keeper.tokensOf(kb.anna.workspaceId, account),
    );
    let open = () => {};
    let isAsked = () => {};
    const asked = new Promise<void>((resolve) => (isAsked = resolve));
    provider.beforeRefresh = async () => {
      isAsked();
      await new Promise<void>((resolve) => (open = resolve));
    };
    const first = tokens[1]?.accessToken();
    await asked;
    const others = [1, 1, 1, 1].map((at) => tokens[at]?.accessToken());
    open();
    const all = await Promise.all([first, ...others]);
    expect(new Set(all).size).toBe(1);
    expect(await tokens[0]?.accessToken()).toBe(all[0]);
    expect(provider.asked).toEqual(["authorization_code", "refresh_token"]);
    expect(provider.holdsRefresh()).toBe(1);
  });

  test("goes with its member: nothing is read with it, and its tokens are revoked", async ({ expect }) => {
    const { kb, connect, addConnector } = await makeConnected();
    const { id } = await connect(kb.anna);
    const connector = await addConnector(kb.anna, { accountId: id, access: { visibility: "private" } });
    await kb.as(kb.owner).delete(`/api/workspace/members/${kb.anna.userId}`);
    const { connectors, accounts } = kb.store.in(kb.owner.workspaceId);
    expect(await connectors.find(connector.id)).toMatchObject({ state: "needs_owner" });
    expect(await accounts.find(id)).toMatchObject({ state: "ended" });
    await kb.worker.runUntilIdle();
    expect(await accounts.find(id)).toBeUndefined();
    // Who comes next can be that user.
    expect(await connect(kb.ben)).toMatchObject({ state: "active", isLinked: true });
  });

  test("says where its service is: a connector that names no address reads there, and is browsed there", async ({
    expect,
  }) => {
    const { kb, provider, connect } = await makeConnected();
    const { id } = await connect(kb.anna);
    const body = { providerId: "gitea", name: "Forge", config: {}, access: { visibility: "private" } };
    const { status, json } = await kb.as(kb.anna).post("/api/connectors", { ...body, accountId: id });
    expect([status, json.connector?.config]).toEqual([201, { baseUrl: provider.url }]);
    const without = await kb.as(kb.anna).post("/api/connectors", body);
    expect(without).toMatchObject({ status: 422, json: { field: "config.baseUrl" } });
  });

  test("is its owner's alone, and for its own instance", async ({ expect }) => {
    const { kb, provider, connect } = await makeConnected();
    const { id } = await connect(kb.anna);
    const body = (baseUrl: string) => ({
      providerId: "gitea",
      name: "Forge",
      config: { baseUrl },
      accountId: id,
      access: { visibility: "private" },
    });
    for (const user of [kb.ben, kb.owner]) {
      const refused = await kb.as(user).post("/api/connectors", body(provider.url));
      expect(refused).toMatchObject({ status: 422, json: { field: "accountId" } });
      expect((await kb.as(user).delete(`/api/accounts/${id}`)).status).toBe(404);
    }
    const elsewhere = await startFakeProvider();
    const moved = await kb.as(kb.anna).post("/api/connectors", body(elsewhere.url));
    expect(moved).toMatchObject({ status: 422, json: { code: "connector_config_invalid", field: "accountId" } });
    expect(elsewhere.whoamis).toBe(0);
    // Nor does an admin aim it elsewhere.
    const { json } = await kb.as(kb.anna).post("/api/connectors", body(provider.url));
    const patch = { config: { baseUrl: elsewhere.url } };
    expect(await kb.as(kb.owner).patch(`/api/connectors/${json.connector.id}`, patch)).toMatchObject({
      json: { code: "forbidden" },
    });
    expect(await kb.as(kb.anna).patch(`/api/connectors/${json.connector.id}`, patch)).toMatchObject({
      json: { code: "credential_required" },
    });
    expect(elsewhere.whoamis).toBe(0);
  });
});
