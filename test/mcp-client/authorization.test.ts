import { expect, test } from "vitest";
import { discoverAuthorization, type McpAuthorization } from "#mcp-client/authorization.ts";
import type { McpChallenge } from "#mcp-client/problem.ts";
import { parseChallenge } from "#mcp-client/challenge.ts";
import { makeTestClient, problemFrom, startHttp } from "./servers.ts";

type Documents = (origin: string) => Readonly<Record<string, object | string>>;

/** A server with these documents, and all that was asked of it. The operator has listed it, and `inner` for something else. */
async function start(documents: Documents, inner: readonly string[] = []) {
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
  const discover = (
    challenge: McpChallenge = {},
    authorizationServers: readonly string[] = [],
  ): Promise<McpAuthorization> =>
    discoverAuthorization({ url: `${origin}/mcp` }, challenge, {
      authorizationServers,
      client: makeTestClient([origin, ...inner]),
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

test.each<[string, Documents, (origin: string) => string]>([
  [
    "an issuer in another spelling",
    (at) => ({ [RESOURCE]: named(at), [SERVER]: server(at, `${at}/`) }),
    (at) => `The metadata of the authorization server ${at} names the issuer ${at}/.`,
  ],
  [
    "no PKCE by S256",
    (at) => ({ [RESOURCE]: named(at), [SERVER]: { ...server(at), code_challenge_methods_supported: ["plain"] } }),
    (at) => `The authorization server ${at} doesn't say that it supports PKCE with S256.`,
  ],
  [
    "silence about PKCE",
    (at) => ({ [RESOURCE]: named(at), [SERVER]: { ...server(at), code_challenge_methods_supported: undefined } }),
    (at) => `The authorization server ${at} doesn't say that it supports PKCE with S256.`,
  ],
  [
    "a token endpoint without https",
    (at) => ({ [RESOURCE]: named(at), [SERVER]: { ...server(at), token_endpoint: "http://tokens.example/?PLANTED" } }),
    () => "The token endpoint http://tokens.example/ doesn't use https.",
  ],
  [
    "an endpoint that is a script",
    (at) => ({ [RESOURCE]: named(at), [SERVER]: { ...server(at), authorization_endpoint: "javascript:PLANTED" } }),
    () => "The authorization endpoint isn't a URL that kb can use.",
  ],
  [
    "a resource that is somewhere else",
    (at) => ({ [RESOURCE]: { ...named(at), resource: "https://b.example/mcp?PLANTED" } }),
    (at) => `The metadata names the resource https://b.example/mcp, but the server is ${at}/mcp.`,
  ],
  [
    "a resource that is no URL",
    (at) => ({ [RESOURCE]: { ...named(at), resource: "PLANTED" } }),
    (at) => `The metadata describes a different resource than the server, which is ${at}/mcp.`,
  ],
  [
    "no authorization server",
    (at) => ({ [RESOURCE]: { ...named(at), authorization_servers: [] } }),
    () => "The metadata names no authorization server.",
  ],
  [
    "an authorization server that is no URL",
    (at) => ({ [RESOURCE]: { ...named(at), authorization_servers: ["PLANTED"] } }),
    () => "The metadata names an authorization server whose URL kb can't use.",
  ],
  ["no document", (at) => ({ [RESOURCE]: named(at) }), (at) => `There is no usable OAuth metadata for ${at}.`],
  [
    "a document that is none",
    (at) => ({ [RESOURCE]: named(at), [SERVER]: "<html>PLANTED" }),
    (at) => `There is no usable OAuth metadata for ${at}.`,
  ],
])("%s makes the metadata unusable, and is said", async (_what, documents, sentence) => {
  const { origin, discover } = await start(documents);
  expect(await problemFrom(discover())).toBe("auth: authorization_unusable");
  await expect(discover()).rejects.toThrow(
    `kb can't sign in at this server: its OAuth metadata isn't usable. ${sentence(origin)}`,
  );
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
  await expect(discover()).rejects.toThrow("kb asked http://169.254.169.254/.well-known/oauth-authorization-server.");
  expect(await problemFrom(discover({ resourceMetadata: "http://127.0.0.1:1/x" }))).toBe("auth: address_not_allowed");
});

test("metadata leads to the authorization server that the operator named, and to no other port of its host", async () => {
  const login: string = await startHttp((request, response) => {
    const body = request.url === SERVER ? JSON.stringify(server(login)) : "{}";
    response.writeHead(200, { "content-type": "application/json" }).end(body);
  });
  const { discover } = await start(
    (at) => ({ [RESOURCE]: { resource: `${at}/mcp`, authorization_servers: [login] } }),
    [login],
  );
  await expect(discover()).rejects.toThrow("KB_MCP_AUTHORIZATION_SERVERS");
  expect(await problemFrom(discover({}, ["https://127.0.0.1:1"]))).toBe("auth: address_not_allowed");
  const found = await discover({}, [`https://${new URL(login).host}`]);
  expect(found).toMatchObject({ issuer: login, tokenEndpoint: `${login}/token` });
});

test("no document leads to a host that the operator listed for something else", async () => {
  const reached: string[] = [];
  const inner = await startHttp((request, response) => {
    reached.push(`${request.method} ${request.url}`);
    response.writeHead(200, { "content-type": "application/json" }).end("{}");
  });
  const of = (documents: Documents) => start(documents, [inner]);
  const byChallenge = await of(() => ({}));
  const resourceMetadata = `${inner}/api/v1/admin/secret?do=1`;
  expect(await problemFrom(byChallenge.discover({ resourceMetadata }))).toBe("auth: address_not_allowed");
  const byIssuer = await of((at) => ({ [RESOURCE]: { resource: `${at}/mcp`, authorization_servers: [inner] } }));
  expect(await problemFrom(byIssuer.discover())).toBe("auth: address_not_allowed");
  for (const field of ["authorization_endpoint", "token_endpoint", "registration_endpoint", "revocation_endpoint"]) {
    const { discover } = await of((at) => ({
      [RESOURCE]: named(at),
      [SERVER]: { ...server(at), [field]: `${inner}/create-user?admin=1` },
    }));
    expect(await problemFrom(discover()), field).toBe("auth: authorization_unusable");
  }
  // By its place it is about another resource, which tells more.
  const { origin, discover } = await of(() => ({}));
  await expect(discover({ resourceMetadata: `${inner}${RESOURCE}` })).rejects.toThrow(
    `The metadata names the resource ${inner}/mcp, but the server is ${origin}/mcp.`,
  );
  expect(reached).toEqual([]);
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
