import { expect, test } from "vitest";
import { makeOAuthServer, startAuthServer } from "./auth-server.ts";

const CALLBACK = "http://127.0.0.1:7700/api/mcp-servers/callback";

/** An honest server whose answers don't name it, with a client of an admin's, beside one of somebody else. */
async function makeTwo() {
  const evil = await startAuthServer();
  const kb = await makeOAuthServer({ hosts: [new URL(evil.url).host], also: evil });
  kb.there.clients.set("kb-there", { secret: undefined });
  await kb.as(kb.admin).patch(`/api/mcp-servers/${kb.serverId}`, { auth: { kind: "oauth", clientId: "kb-there" } });
  const { id } = await kb.addServer({ name: "Evil", url: `${evil.url}/mcp`, auth: { kind: "oauth" } });
  const begin = async () => {
    const intents = `/api/mcp-servers/${id}/connections/intents`;
    const { json } = await kb.as(kb.anna).post(intents, { app: "evil" });
    const { url, cookie } = await kb.open(kb.anna, json.intent);
    return { url: new URL(url), cookie };
  };
  return { kb, evil, begin };
}

test("a server that sends people on to another one gets no code of theirs", async () => {
  const { kb, evil, begin } = await makeTwo();
  const { url, cookie } = await begin();
  // What the honest one knows: the client that is registered there, and the address that was registered with it.
  const mixed = new URL(`${kb.there.url}/authorize`);
  for (const [name, value] of url.searchParams) mixed.searchParams.set(name, value);
  mixed.searchParams.set("client_id", "kb-there");
  mixed.searchParams.set("redirect_uri", CALLBACK);
  mixed.searchParams.set("resource", `${kb.there.url}/mcp`);
  const location = await kb.back(kb.anna, kb.there.agree(mixed.href, "anna"), cookie);
  expect(location).toContain("status=failed&reason=sign_in_failed");
  expect(evil.asked.map(({ path }) => path)).toEqual(["/register"]);
});

test("where kb registers itself, each authorization server has an address to come back to of its own", async () => {
  const { kb, evil, begin } = await makeTwo();
  const { url, cookie } = await begin();
  const [own] = evil.asked.map(({ body }) => (body["redirect_uris"] as string[])[0] ?? "");
  expect(own).toMatch(/^http:\/\/127\.0\.0\.1:7700\/api\/mcp-servers\/callback\/[\w-]{16}$/);
  expect(url.searchParams.get("redirect_uri")).toBe(own);
  expect(await kb.back(kb.anna, evil.agree(url.href, "anna"), cookie)).toContain("#found=");
  evil.moveIssuer("/other");
  const other = await begin();
  expect(other.url.searchParams.get("redirect_uri")).not.toBe(own);
});

test("a client that an admin registered goes on with the address that was registered", async () => {
  const { kb } = await makeTwo();
  const { url, cookie } = await kb.open(kb.anna, (await kb.intend(kb.anna)).json.intent);
  expect(new URL(url).searchParams.get("redirect_uri")).toBe(CALLBACK);
  const agreed = kb.there.agree(url, "anna");
  expect(await kb.back(kb.anna, agreed.replace("callback", "callback/AAAAAAAAAAAAAAAA"), cookie)).toContain("failed");
  const again = await kb.open(kb.anna, (await kb.intend(kb.anna)).json.intent);
  expect(await kb.back(kb.anna, kb.there.agree(again.url, "anna"), again.cookie)).toContain("#found=");
});
