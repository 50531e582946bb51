import { expect, test } from "vitest";
import { discoverAuthorization, type McpAuthorization } from "#mcp-client/authorization.ts";
import type { McpChallenge } from "#mcp-client/problem.ts";
import { parseChallenge } from "#mcp-client/challenge.ts";
import { makeTestClient, problemFrom, startHttp } from "./servers.ts";

type Documents = (origin: string) => Readonly<Record<string, object | string>>;

/** A server with these documents, and all that was asked of it. */
async function start(documents: Documents) {
  const asked: string[] = [];
  const origin: string = await startHttp((request, response) => {
    asked.push(request.url ?? "");
    const found = documents(origin)[request.url ?? ""];
    if (found === undefined) response.writeHead(404).end();
    else
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(typeof found === "string" ? found : JSON.stringify(found));
  });
  const discover = (challenge: McpChallenge = {}): Promise<McpAuthorization> =>
    discoverAuthorization({ url: `${origin}/mcp`, isListUsed: true }, challenge, {
      client: makeTestClient([origin]),
      signal: new AbortController().signal,
      timeoutMs: 2_000,
    });
  return { origin, asked, discover };
}

const RESOURCE = "/.well-known/oauth-protected-resource/mcp";
const SERVER = "/.well-known/oauth-authorization-server";
const server = (origin: string, issuer = origin) => ({
  issuer,
  authorization_endpoint: `${origin}/authorize`,
  token_endpoint: `${origin}/token`,
  code_challenge_methods_supported: ["S256"],
});

test("the way to sign in is found by the known places, with the scopes of the challenge before those of the resource", async () => {
  const { origin, asked, discover } = await start((at) => ({
    [RESOURCE]: {
      resource: `${at}/mcp`,
      authorization_servers: [`${at}/tenant`],
      scopes_supported: ["read", "two words"],
    },
    [`${SERVER}/tenant`]: {
      ...server(at, `${at}/tenant`),
      registration_endpoint: `${at}/register`,
      client_id_metadata_document_supported: true,
      authorization_response_iss_parameter_supported: true,
      token_endpoint_auth_methods_supported: ["none"],
    },
  }));
  const found = await discover();
  expect(found).toEqual({
    resource: `${origin}/mcp`,
    issuer: `${origin}/tenant`,
    authorizationEndpoint: `${origin}/authorize`,
    tokenEndpoint: `${origin}/token`,
    registrationEndpoint: `${origin}/register`,
    scopes: ["read"],
    supportsCimd: true,
    supportsOpenId: false,
    sendsIssuer: true,
    tokenAuthMethods: ["none"],
    grantTypes: ["authorization_code", "implicit"],
  });
  expect(asked).toEqual([RESOURCE, `${SERVER}/tenant`]);
  expect((await discover({ scope: "write more" })).scopes).toEqual(["write", "more"]);
});

test("a server without metadata of its own is its own authorization server", async () => {
  const { origin, discover } = await start((at) => ({ "/.well-known/openid-configuration": server(at) }));
  expect(await discover()).toMatchObject({ resource: `${origin}/mcp`, issuer: origin, scopes: [] });
});

test.each<[string, Documents]>([
  ["an issuer in another spelling", (at) => ({ [RESOURCE]: named(at), [SERVER]: server(at, `${at}/`) })],
  [
    "no PKCE by S256",
    (at) => ({ [RESOURCE]: named(at), [SERVER]: { ...server(at), code_challenge_methods_supported: ["plain"] } }),
  ],
  [
    "silence about PKCE",
    (at) => ({ [RESOURCE]: named(at), [SERVER]: { ...server(at), code_challenge_methods_supported: undefined } }),
  ],
  [
    "a token endpoint without https",
    (at) => ({ [RESOURCE]: named(at), [SERVER]: { ...server(at), token_endpoint: "http://tokens.example/" } }),
  ],
  [
    "an endpoint that is a script",
    (at) => ({ [RESOURCE]: named(at), [SERVER]: { ...server(at), authorization_endpoint: "javascript:alert(1)" } }),
  ],
  ["no document", (at) => ({ [RESOURCE]: named(at) })],
  ["a document that is none", (at) => ({ [RESOURCE]: named(at), [SERVER]: "<html>PLANTED" })],
])("%s makes the metadata unusable", async (_what, documents) => {
  const { discover } = await start(documents);
  expect(await problemFrom(discover())).toBe("auth: authorization_unusable");
});

test("metadata of another resource, by the challenge, is refused, and nothing else is tried", async () => {
  const { origin, asked, discover } = await start((at) => ({
    "/metadata": { resource: "https://other.example/mcp", authorization_servers: [at] },
    [SERVER]: server(at),
  }));
  expect(await problemFrom(discover({ resourceMetadata: `${origin}/metadata` }))).toBe("auth: authorization_unusable");
  expect(asked).toEqual(["/metadata"]);
});

test("metadata leads to no address that is not allowed", async () => {
  const { discover } = await start((at) => ({
    [RESOURCE]: { resource: `${at}/mcp`, authorization_servers: ["http://169.254.169.254"] },
  }));
  expect(await problemFrom(discover())).toBe("auth: address_not_allowed");
  expect(await problemFrom(discover({ resourceMetadata: "http://127.0.0.1:1/x" }))).toBe("auth: address_not_allowed");
});

test("a challenge is read as far as it is well-formed", () => {
  expect(parseChallenge('Bearer resource_metadata="https://a.example/x", scope="a b"')).toEqual({
    resourceMetadata: "https://a.example/x",
    scope: "a b",
  });
  expect(parseChallenge('DPoP algs="ES256", bearer error=insufficient_scope')).toEqual({ error: "insufficient_scope" });
  expect(parseChallenge('Bearer resource_metadata="javascript:1", scope="a\tb", error="PLANTED"')).toEqual({});
  expect([parseChallenge(undefined), parseChallenge("Basic realm=x"), parseChallenge("x".repeat(1e6))]).toEqual([
    {},
    {},
    {},
  ]);
});

function named(origin: string): object {
  return { resource: `${origin}/mcp`, authorization_servers: [origin] };
}
