import { expect, test } from "vitest";
import type { TestUser } from "../../helpers.ts";
import { makeOAuthServer, startAuthServer } from "./auth-server.ts";

const SHARED = "http://127.0.0.1:7700/api/mcp-servers/callback";
const OWN = /^http:\/\/127\.0\.0\.1:7700\/api\/mcp-servers\/callback\/[\w-]{16}$/;

/** An honest server whose answers don't name it, with a client of an admin's, beside one of somebody else. */
async function makeTwo() {
  const evil = await startAuthServer();
  const kb = await makeOAuthServer({ hosts: [new URL(evil.url).host], also: evil });
  const { id } = await kb.addServer({ name: "Evil", url: `${evil.url}/mcp`, auth: { kind: "oauth" } });
  const change = async (serverId: string, body: object) =>
    (await kb.as(kb.admin).patch(`/api/mcp-servers/${serverId}`, body)).json.server;
  const seenBy = async (user: TestUser, serverId: string) =>
    (await kb.as(user).get("/api/mcp-servers")).json.servers.find((one: { id: string }) => one.id === serverId);
  const register = async (serverId: string, at: typeof evil, clientId: string) => {
    at.clients.set(clientId, { secret: undefined });
    return change(serverId, { auth: { kind: "oauth", clientId } });
  };
  await register(kb.serverId, kb.there, "kb-there");
  const begin = async (serverId: string, app: string) => {
    const { json } = await kb.as(kb.anna).post(`/api/mcp-servers/${serverId}/connections/intents`, { app });
    const { url, cookie } = await kb.open(kb.anna, json.intent);
    return { url: new URL(url), cookie, redirectUrl: new URL(url).searchParams.get("redirect_uri") ?? "" };
  };
  return {
    kb,
    evil,
    evilId: id,
    change,
    seenBy,
    register,
    begin: () => begin(id, "evil"),
    beginThere: () => begin(kb.serverId, "notes"),
    /** As servers are that an earlier program added: their admin registered the address that all of them had. */
    forgetCallback: (serverId: string) =>
      kb.store.in(kb.owner.workspaceId).providerServers.update(serverId, { callback: null }),
  };
}

type Two = Awaited<ReturnType<typeof makeTwo>>;

/** Somebody begins at the evil server, which sends them on to the honest one; gives where they end. */
async function mixUp({ kb, begin, beginThere }: Two): Promise<string> {
  const { url, cookie } = await begin();
  // What the honest one knows: the client that is registered there, and the address that was registered with it.
  const mixed = new URL(`${kb.there.url}/authorize`);
  for (const [name, value] of url.searchParams) mixed.searchParams.set(name, value);
  mixed.searchParams.set("client_id", "kb-there");
  mixed.searchParams.set("redirect_uri", (await beginThere()).redirectUrl);
  mixed.searchParams.set("resource", `${kb.there.url}/mcp`);
  return kb.back(kb.anna, kb.there.agree(mixed.href, "anna"), cookie);
}

test("a server that sends people on to another one gets no code of theirs", async () => {
  const two = await makeTwo();
  expect(await mixUp(two)).toContain("status=failed&reason=sign_in_failed");
  expect(two.evil.asked.map(({ path }) => path)).toEqual(["/register"]);
});

test("nor does one where an admin registered kb too, beside old and new ones", async () => {
  const two = await makeTwo();
  await two.register(two.evilId, two.evil, "kb-at-evil");
  expect(await mixUp(two)).toContain("status=failed&reason=sign_in_failed");
  expect(two.evil.asked).toEqual([]);
  await two.forgetCallback(two.evilId);
  expect(await mixUp(two)).toContain("status=failed&reason=sign_in_failed");
  expect(two.evil.asked).toEqual([]);
});

test("where kb registers itself, each authorization server has an address to come back to of its own", async () => {
  const { kb, evil, begin } = await makeTwo();
  const { url, cookie, redirectUrl } = await begin();
  const [own] = evil.asked.map(({ body }) => (body["redirect_uris"] as string[])[0] ?? "");
  expect(own).toMatch(OWN);
  expect(redirectUrl).toBe(own);
  expect(await kb.back(kb.anna, evil.agree(url.href, "anna"), cookie)).toContain("#found=");
  evil.moveIssuer("/other");
  expect((await begin()).redirectUrl).not.toBe(own);
});

test("the redirect URL of a client is known before there is one, and stays when it is given and gets a secret", async () => {
  const { kb, evilId, evil, seenBy, register, change, begin } = await makeTwo();
  const before = (await seenBy(kb.admin, evilId)).auth;
  expect(before).toEqual({ kind: "oauth", hasSecret: false, redirectUrl: expect.stringMatching(OWN) });
  expect((await seenBy(kb.admin, kb.serverId)).auth.redirectUrl).not.toBe(before.redirectUrl);
  expect((await register(evilId, evil, "kb-at-evil")).auth).toEqual({ ...before, clientId: "kb-at-evil" });
  evil.clients.set("kb-at-evil", { secret: "s3cret" });
  const auth = { kind: "oauth", clientId: "kb-at-evil", secret: "s3cret" };
  expect((await change(evilId, { auth })).auth.redirectUrl).toBe(before.redirectUrl);
  const { url, cookie, redirectUrl } = await begin();
  expect(redirectUrl).toBe(before.redirectUrl);
  expect(await kb.back(kb.anna, evil.agree(url.href, "anna"), cookie)).toContain("#found=");
  expect(evil.asked.map(({ path }) => path)).toEqual(["/token"]);
  // Not for members, and not for servers that nobody signs in to with OAuth.
  expect((await seenBy(kb.anna, evilId)).auth).toEqual({ kind: "oauth", hasSecret: true });
  expect((await change(kb.serverId, { auth: { kind: "bearer" } })).auth).toEqual({ kind: "bearer", hasSecret: false });
});

test("a server that is added with a client ID has its redirect URL in the answer", async () => {
  const kb = await makeOAuthServer();
  await kb.as(kb.admin).delete(`/api/mcp-servers/${kb.serverId}`);
  const body = { name: "Notes", url: `${kb.there.url}/mcp`, auth: { kind: "oauth", clientId: "kb-there" } };
  const { json } = await kb.as(kb.admin).post("/api/mcp-servers", body);
  expect(json.server.auth).toMatchObject({ clientId: "kb-there", redirectUrl: expect.stringMatching(OWN) });
});

test("at another place it is another one: what was registered at the former one is of no use here", async () => {
  const { kb, evil, evilId, change } = await makeTwo();
  const url = `${kb.there.url}/mcp`;
  const redirectUrl = async (to: string) => (await change(kb.serverId, { url: to })).auth.redirectUrl;
  const before = await redirectUrl(url);
  expect(await redirectUrl(`${url}/v2`)).toBe(before);
  await kb.as(kb.admin).delete(`/api/mcp-servers/${evilId}`);
  const after = await redirectUrl(`${evil.url}/mcp`);
  expect(after).toMatch(OWN);
  expect(after).not.toBe(before);
});

test("a client of an earlier program goes on with the address that was registered, until another one is given", async () => {
  const { kb, forgetCallback, seenBy, register, beginThere } = await makeTwo();
  await forgetCallback(kb.serverId);
  const { url, cookie, redirectUrl } = await beginThere();
  expect(redirectUrl).toBe(SHARED);
  const agreed = kb.there.agree(url.href, "anna");
  expect(await kb.back(kb.anna, agreed.replace("callback", "callback/AAAAAAAAAAAAAAAA"), cookie)).toContain("failed");
  const again = await beginThere();
  const location = await kb.back(kb.anna, kb.there.agree(again.url.href, "anna"), again.cookie);
  const { connection } = (await kb.confirm(kb.anna, location)).json;
  const { auth } = await seenBy(kb.admin, kb.serverId);
  expect(auth).toMatchObject({ clientId: "kb-there", redirectUrl: SHARED });
  await kb.as(kb.anna).delete(`${kb.path}/${connection.id}`);
  expect((await register(kb.serverId, kb.there, "kb-there")).auth.redirectUrl).toBe(SHARED);
  const own = (await register(kb.serverId, kb.there, "kb-again")).auth.redirectUrl;
  expect(own).toMatch(OWN);
  expect((await beginThere()).redirectUrl).toBe(own);
});

test("without its client it has one of its own, which stays when the same client is given again", async () => {
  const { kb, forgetCallback, change, register, beginThere } = await makeTwo();
  await forgetCallback(kb.serverId);
  const own = (await change(kb.serverId, { auth: { kind: "oauth" } })).auth.redirectUrl;
  expect(own).toMatch(OWN);
  expect((await register(kb.serverId, kb.there, "kb-there")).auth).toMatchObject({
    clientId: "kb-there",
    redirectUrl: own,
  });
  expect((await beginThere()).redirectUrl).toBe(own);
});

test("a test says where only an admin can register kb", async () => {
  const metadata = { registration_endpoint: undefined };
  const kb = await makeOAuthServer({ metadata });
  const path = `/api/mcp-servers/${kb.serverId}`;
  const needsClient = async () =>
    (await kb.as(kb.admin).post(`${path}/connection-tests`, {})).json.authRequired.needsClient;
  expect(await needsClient()).toBe(true);
  await kb.as(kb.admin).patch(path, { auth: { kind: "oauth", clientId: "kb-there" } });
  expect(await needsClient()).toBeUndefined();
});
