/** How people write a server's address: `localhost` beside `127.0.0.1`, `/mcp/` beside `/mcp`, the origin alone. */
import * as oauth from "oauth4webapi";
import { describe, expect, test } from "vitest";
import { makeServer } from "../../../helpers.ts";
import { challengeOf, makeBrowser, newVerifier, REDIRECT, startServer } from "./harness.ts";

const list = { jsonrpc: "2.0", id: 1, method: "tools/list" };

async function makeTwin() {
  const kb = await startServer();
  const owner = await kb.addOwner();
  const twin = kb.base.replace("127.0.0.1", "localhost");
  const call = (url: string, token?: string) =>
    fetch(url, {
      method: "POST",
      redirect: "manual",
      headers: {
        "content-type": "application/json",
        accept: "application/json",
        ...(token !== undefined && { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(list),
    });
  const json = async (url: string) => (await (await fetch(url)).json()) as Record<string, unknown>;
  return { kb, owner, twin, call, json };
}

describe("a server on this machine, reached by its other name", () => {
  test("names that one in the 401 and in both documents, and the answers of one sign-in agree", async () => {
    const { kb, owner, twin, call, json } = await makeTwin();
    const refused = await call(`${twin}/mcp`);
    const metadataUrl = `${twin}/.well-known/oauth-protected-resource/mcp`;
    expect(refused.headers.get("www-authenticate")).toContain(`resource_metadata="${metadataUrl}"`);
    expect(await json(metadataUrl)).toMatchObject({ resource: `${twin}/mcp`, authorization_servers: [twin] });
    const issuer = new URL(twin);
    const options = { [oauth.allowInsecureRequests]: true, algorithm: "oauth2" as const };
    const server = await oauth.processDiscoveryResponse(issuer, await oauth.discoveryRequest(issuer, options));
    const addresses = Object.entries(server).filter(([name]) => name.endsWith("_endpoint") || name === "jwks_uri");
    expect(addresses.map(([, address]) => new URL(String(address)).origin)).toEqual(addresses.map(() => twin));

    const clientId = await kb.client();
    const verifier = newVerifier();
    const ask = { clientId, resource: `${twin}/mcp` };
    const browser = makeBrowser(twin, kb.deps.cookie.name, owner);
    const uid = await kb.reachConsent(browser, ask, challengeOf(verifier));
    const decided = await kb.decide(browser, uid);
    const { redirectTo } = (await decided.json()) as { redirectTo: string };
    expect(new URL(redirectTo).origin).toBe(twin);
    const back = new URL((await browser.get(redirectTo)).headers.get("location") ?? "");
    const answer = oauth.validateAuthResponse(server, { client_id: clientId }, back, "st");
    const client = { client_id: clientId };
    const response = await oauth.authorizationCodeGrantRequest(
      server,
      client,
      oauth.None(),
      answer,
      REDIRECT,
      verifier,
      { additionalParameters: { resource: `${twin}/mcp` }, ...options },
    );
    const tokens = await oauth.processAuthorizationCodeResponse(server, client, response);
    for (const base of [twin, kb.base]) expect((await call(`${base}/mcp`, tokens.access_token)).status).toBe(200);
    const refreshed = await kb.refresh(ask, tokens.refresh_token, { resource: `${kb.base}/mcp/` });
    expect(refreshed.status).toBe(200);
  });

  test("an error goes back to the client with the issuer that it knows", async () => {
    const { kb, owner, twin } = await makeTwin();
    const browser = makeBrowser(twin, kb.deps.cookie.name, owner);
    const ask = { clientId: await kb.client(), resource: "https://elsewhere.test/mcp" };
    const back = new URL(
      (await browser.get(kb.authorizeUrl(ask, challengeOf(newVerifier())))).headers.get("location") ?? "",
    );
    expect([back.searchParams.get("error"), back.searchParams.get("iss")]).toEqual(["invalid_target", twin]);
  });

  test("behind any other public address, Host changes nothing", async () => {
    const kb = await makeServer({ settings: { baseUrl: "https://kb.example.org" } });
    const host = { host: "localhost:7700" };
    const refused = await kb.app.request("http://localhost:7700/mcp", {
      method: "POST",
      headers: { ...host, "content-type": "application/json" },
      body: JSON.stringify(list),
    });
    expect(refused.headers.get("www-authenticate")).toContain("https://kb.example.org/.well-known/");
    for (const path of ["oauth-protected-resource/mcp", "oauth-authorization-server"]) {
      const answer = await kb.app.request(`http://localhost:7700/.well-known/${path}`, { headers: host });
      expect(await answer.text()).not.toContain("localhost");
    }
  });
});

describe("the endpoint with a slash at its end", () => {
  test("is the same, without a redirect, with metadata of its own spelling and one audience", async () => {
    const { kb, owner, call, json } = await makeTwin();
    const refused = await call(`${kb.base}/mcp/`);
    const metadataUrl = `${kb.base}/.well-known/oauth-protected-resource/mcp/`;
    expect(refused.status).toBe(401);
    expect(refused.headers.get("www-authenticate")).toContain(`resource_metadata="${metadataUrl}"`);
    expect(await json(metadataUrl)).toMatchObject({ resource: `${kb.base}/mcp/` });
    const tokens = await kb.letIn(owner, { clientId: await kb.client(), resource: `${kb.base}/mcp/` });
    for (const path of ["/mcp", "/mcp/"]) expect((await call(kb.base + path, tokens.access_token)).status).toBe(200);
    expect((await fetch(`${kb.base}/mcp/`)).status).toBe(405);
  });

  test("pages of other sites are refused there, too", async () => {
    const { kb } = await makeTwin();
    const answer = await fetch(`${kb.base}/mcp/`, {
      method: "POST",
      headers: { origin: "https://evil.test", "content-type": "application/json" },
      body: JSON.stringify(list),
    });
    expect(answer.status).toBe(403);
  });
});

test("a client that asks for the server's origin gets a token for the tools, and for nothing else", async () => {
  const { kb, owner, call } = await makeTwin();
  for (const resource of [kb.base, `${kb.base}/`]) {
    const tokens = await kb.letIn(owner, { clientId: await kb.client(), resource });
    expect((await call(`${kb.base}/mcp`, tokens.access_token)).status).toBe(200);
    expect((await kb.api(tokens.access_token)).status).toBe(401);
  }
});
