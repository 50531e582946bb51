import { describe, expect, test } from "vitest";
import { makeOAuthServer } from "./auth-server.ts";

describe("a test of a server that asks people to sign in", () => {
  test("says where, from the server's metadata, for settings that are stored and that are not", async () => {
    const kb = await makeOAuthServer();
    const url = `${kb.there.url}/mcp`;
    const authRequired = { authorizationServers: [kb.there.url], scopes: ["read"] };
    const stored = await kb.as(kb.admin).post(`/api/mcp-servers/${kb.serverId}/connection-tests`, {});
    expect(stored.json).toMatchObject({ ok: true, authRequired });
    const tryIt = async (auth: object) =>
      (await kb.as(kb.admin).post("/api/mcp-servers/connection-tests", { url, auth })).json;
    expect(await tryIt({ kind: "oauth" })).toMatchObject({ ok: true, authRequired });
    // Without a way to sign in it fails, and says where people would.
    expect(await tryIt({ kind: "none" })).toMatchObject({ ok: false, authRequired });
    // A token is given here, and nowhere else.
    expect(await tryIt({ kind: "bearer" })).toMatchObject({ ok: true, authRequired: { authorizationServers: [] } });
  });

  test("says nothing of a place that is not proven, and why no one can sign in, as the attempt to connect does", async () => {
    const kb = await makeOAuthServer({ metadata: { code_challenge_methods_supported: ["plain"] } });
    const path = `/api/mcp-servers/${kb.serverId}/connection-tests`;
    const { json } = await kb.as(kb.admin).post(path, {});
    expect(json).toMatchObject({ ok: true, authRequired: { authorizationServers: [], scopes: ["read"] } });
    const metadata = {
      field: "code_challenge_methods_supported",
      problem: "missing",
      found: null,
      expected: kb.there.url,
    };
    const message =
      "kb can't sign in at this server: its OAuth metadata isn't usable. " +
      `The authorization server ${kb.there.url} doesn't say that it supports PKCE with S256.`;
    const code = "authorization_unusable";
    expect(json.authRequired.problem).toEqual({ step: "auth", code, message, metadata });
    const begun = await kb.as(kb.admin).post(`/api/mcp-servers/${kb.serverId}/connections/intents`, { app: "notes" });
    expect(begun.json).toMatchObject({ code: "connection_failed", detail: message });
  });
});
