import { canParseUrl } from "#api/parse-url.ts";
import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { MetadataFault } from "#api/metadata-fault.ts";
import { defined } from "#core/defined.ts";
import { type ConfiguredPlaces, configuredPlaces } from "#net/configured-places.ts";
import type { GuardedClient } from "#net/guarded-client.ts";
import { MCP_CAPS } from "./caps.ts";
import { isScope } from "./challenge.ts";
import type { McpTarget } from "./contract.ts";
import { type Exchange, makeExchange } from "./exchange.ts";
import { guardedBody } from "./guarded-stream.ts";
import { type MetadataEndpoint, shownUrl } from "./metadata-fault.ts";
import { type McpChallenge, McpProblem } from "./problem.ts";

/** How to sign in at a server, from its metadata (RFC 9728) and that of its authorization server (RFC 8414). */
export interface McpAuthorization {
  /** The resource that every token request names (RFC 8707). */
  resource: string;
  /** Byte for byte as in the metadata. The connection pins it: a different value later means a different authorization server. */
  issuer: string;
  authorizationEndpoint: string;
  /** Pinned like the issuer. */
  tokenEndpoint: string;
  registrationEndpoint?: string;
  revocationEndpoint?: string;
  /** Scopes to request: those of the challenge; if it has none, all that the resource names; otherwise none. */
  scopes: string[];
  /** Whether it accepts the URL of a document as client id. */
  supportsCimd: boolean;
  /** Whether it reports who signed in when the scope `openid` is requested. */
  supportsOpenId: boolean;
  /** Whether it promises `iss` in the callback (RFC 9207). If it does, a callback without `iss` is refused. */
  sendsIssuer: boolean;
  /** `none`, `client_secret_basic`, …; defaults to `client_secret_basic`, as in RFC 8414. */
  tokenAuthMethods: string[];
  /** Defaults to `authorization_code` and `implicit`, as in RFC 8414. */
  grantTypes: string[];
}

export interface DiscoverDeps {
  client: GuardedClient;
  signal: AbortSignal;
  /** Private hosts that the operator allows in the documents of every server, each as `https://host:port`. Source: S66. */
  authorizationServers?: readonly string[];
  /** Time limit for the whole discovery; 10 s by default. */
  timeoutMs?: number;
}

/** The maximum number of authorization servers that are tried, and of characters in a URL. */
const MAX_ISSUERS = 3;
const MAX_URL_CHARS = 2_000;
const MAX_SCOPES = 50;
/** The location of a resource's metadata, before its path. */
const KNOWN = "/.well-known/oauth-protected-resource";

const Texts = z.array(z.string().max(200)).max(200);
const ResourceMetadata = z.looseObject({
  resource: z.string().max(MAX_URL_CHARS),
  authorization_servers: z.array(z.string().max(MAX_URL_CHARS)).optional(),
  scopes_supported: Texts.optional().catch(undefined),
});
const Endpoint = z.string().max(MAX_URL_CHARS);
const ServerMetadata = z.looseObject({
  issuer: Endpoint,
  authorization_endpoint: Endpoint,
  token_endpoint: Endpoint,
  registration_endpoint: Endpoint.optional().catch(undefined),
  revocation_endpoint: Endpoint.optional().catch(undefined),
  code_challenge_methods_supported: Texts.optional().catch(undefined),
  token_endpoint_auth_methods_supported: Texts.optional().catch(undefined),
  grant_types_supported: Texts.optional().catch(undefined),
  client_id_metadata_document_supported: z.boolean().catch(false),
  authorization_response_iss_parameter_supported: z.boolean().catch(false),
  scopes_supported: Texts.optional().catch(undefined),
});

/**
 * Discovers how to sign in at a server: its metadata from the challenge or at the well-known places, then that of the
 * first usable authorization server it names. A server without metadata of its own is its own authorization server, as
 * in the revision 2025-03-26.
 *
 * Refuses metadata for another resource, an issuer that isn't byte for byte the one requested, a server without PKCE by
 * S256, and endpoints without https except at the server's own host and port, where the operator listed them. Requests
 * are unsigned, and no redirect is followed. The first refused value is in the problem's `metadata`.
 *
 * @throws McpProblem `authorization_unusable`, `unreachable`, `timeout`, `address_not_allowed`; the signal's reason
 *
 * Source: RFC 8414 §3.3, RFC 9728 §3.3
 */
export async function discoverAuthorization(
  target: Pick<McpTarget, "url">,
  challenge: McpChallenge,
  { client, signal, authorizationServers = [], timeoutMs = MCP_CAPS.openMs }: DiscoverDeps,
): Promise<McpAuthorization> {
  signal.throwIfAborted();
  const exchange = makeExchange("auth", signal, timeoutMs);
  const faults: MetadataFault[] = [];
  try {
    const find = { client, exchange, configured: configuredPlaces([target.url, ...authorizationServers]), faults };
    const resource = await findResource(new URL(target.url), challenge, find);
    for (const issuer of resource.issuers.slice(0, MAX_ISSUERS)) {
      const found = await findServer(issuer, find);
      if (found) return toAuthorization(found, resource, challenge);
    }
    throw unusable(faults);
  } catch (error) {
    throw exchange.problem ?? (exchange.signal.aborted ? exchange.signal.reason : error);
  } finally {
    exchange.end();
  }
}

interface Finding {
  client: GuardedClient;
  exchange: Exchange;
  /** The server itself and the places that the operator named. Hosts in its documents are reached only if they are public or in this set. */
  configured: ConfiguredPlaces;
  /** The values refused so far. */
  faults: MetadataFault[];
}

function unusable([first]: readonly MetadataFault[]): McpProblem {
  return new McpProblem({ step: "auth", code: "authorization_unusable", ...defined({ metadata: first }) });
}

interface FoundResource {
  resource: string;
  issuers: string[];
  scopes: string[];
}

async function findResource(target: URL, challenge: McpChallenge, find: Finding): Promise<FoundResource> {
  const elsewhere = await faultOfPlace(challenge.resourceMetadata, target, find);
  if (elsewhere) throw unusable([elsewhere]);
  const path = target.pathname.replace(/\/$/, "");
  const places = challenge.resourceMetadata
    ? [challenge.resourceMetadata]
    : [...new Set([`${target.origin}${KNOWN}${path}`, `${target.origin}${KNOWN}`])];
  for (const place of places) {
    const { data } = ResourceMetadata.safeParse(await getJson(place, find));
    if (data === undefined) continue;
    const issuers = data.authorization_servers ?? [];
    const fault = faultOf(data, target);
    if (fault !== undefined) {
      find.faults.push(fault);
      break;
    }
    const scopes = (data.scopes_supported ?? []).filter((scope) => isScope(scope) && !scope.includes(" "));
    return { resource: data.resource, issuers, scopes: scopes.slice(0, MAX_SCOPES) };
  }
  // Only a server without metadata is its own authorization server; unusable metadata is a fault.
  if (challenge.resourceMetadata) {
    const expected = shownUrl(challenge.resourceMetadata);
    throw unusable([...find.faults, { field: "metadata", problem: "missing", found: null, expected }]);
  }
  return { resource: target.href, issuers: [target.origin], scopes: [] };
}

function faultOf(
  { resource, authorization_servers: issuers = [] }: z.output<typeof ResourceMetadata>,
  target: URL,
): MetadataFault | undefined {
  if (!isAbout(resource, target)) {
    return { field: "resource", problem: "differs", found: shownUrl(resource), expected: shownUrl(target.href) };
  }
  if (issuers.length > 0) return undefined;
  return { field: "authorization_servers", problem: "missing", found: null, expected: null };
}

/**
 * Returns the fault of a challenge that names metadata at another origin, to which kb doesn't connect. The location shows that the metadata concerns
 * another resource, which is a clearer error than a disallowed address. Source: RFC 9728 §3.3.
 */
async function faultOfPlace(
  place: string | undefined,
  target: URL,
  { client, configured }: Finding,
): Promise<MetadataFault | undefined> {
  if (place === undefined || !canParseUrl(place)) return undefined;
  const url = new URL(place);
  if (url.origin === target.origin || !url.pathname.startsWith(KNOWN)) return undefined;
  const isRefused = await client.resolve(url, { configured }).then(
    () => false,
    (error: unknown) => error instanceof ApiError && error.code === "address_not_allowed",
  );
  if (!isRefused) return undefined;
  const found = shownUrl(`${url.origin}${url.pathname.slice(KNOWN.length)}`);
  return { field: "resource", problem: "differs", found, expected: shownUrl(target.href) };
}

/** Whether the metadata is for the same resource, or for one at the same origin whose path contains the target. */
function isAbout(resource: string, target: URL): boolean {
  if (!canParseUrl(resource)) return false;
  const { origin, pathname, hash, username, password } = new URL(resource);
  if (origin !== target.origin || hash !== "" || username !== "" || password !== "") return false;
  const folder = pathname.endsWith("/") ? pathname : `${pathname}/`;
  return `${target.pathname}/`.startsWith(folder);
}

async function findServer(issuer: string, find: Finding): Promise<z.output<typeof ServerMetadata> | undefined> {
  const refuse = (fault: MetadataFault) => void find.faults.push(fault);
  const expected = shownUrl(issuer);
  const places = placesOf(issuer);
  if (places === undefined) {
    return refuse({ field: "authorization_servers", problem: "unusable", found: expected, expected: null });
  }
  for (const place of places) {
    const { data } = ServerMetadata.safeParse(await getJson(place, find));
    if (data === undefined) continue;
    // Compared byte for byte, because another spelling can be another server. Source: RFC 8414 §3.3.
    if (data.issuer !== issuer) {
      return refuse({ field: "issuer", problem: "differs", found: shownUrl(data.issuer), expected });
    }
    if (data.code_challenge_methods_supported?.includes("S256") !== true) {
      return refuse({ field: "code_challenge_methods_supported", problem: "missing", found: null, expected });
    }
    const fault = await faultOfEndpoints(data, find);
    return fault === undefined ? data : refuse(fault);
  }
  return refuse({ field: "metadata", problem: "missing", found: null, expected });
}

/** Returns the possible locations of an issuer's metadata; undefined if the text can't be an issuer. */
function placesOf(issuer: string): string[] | undefined {
  if (!canParseUrl(issuer)) return undefined;
  const { origin, pathname, search, hash } = new URL(issuer);
  if (search !== "" || hash !== "") return undefined;
  const path = pathname.replace(/\/$/, "");
  return [
    `${origin}/.well-known/oauth-authorization-server${path}`,
    `${origin}/.well-known/openid-configuration${path}`,
    ...(path === "" ? [] : [`${origin}${path}/.well-known/openid-configuration`]),
  ];
}

const ENDPOINTS: readonly MetadataEndpoint[] = [
  "authorization_endpoint",
  "token_endpoint",
  "registration_endpoint",
  "revocation_endpoint",
];

async function faultOfEndpoints(
  data: z.output<typeof ServerMetadata>,
  find: Finding,
): Promise<MetadataFault | undefined> {
  for (const field of ENDPOINTS) {
    const endpoint = data[field];
    if (endpoint === undefined || (await isUsable(endpoint, find))) continue;
    const isPlainHttp = /^http:/i.test(endpoint);
    return { field, problem: "unusable", found: isPlainHttp ? shownUrl(endpoint) : null, expected: null };
  }
  return undefined;
}

/** Whether the endpoint uses https, or is at the server's own host and port and the operator listed them. */
async function isUsable(endpoint: string, { client, configured }: Finding): Promise<boolean> {
  if (!canParseUrl(endpoint)) return false;
  const url = new URL(endpoint);
  if (url.username !== "" || url.password !== "" || url.hash !== "") return false;
  if (url.protocol === "https:") return true;
  if (url.protocol !== "http:") return false;
  return client.resolve(url, { configured }).then(
    ({ isListed }) => isListed,
    () => false,
  );
}

function toAuthorization(
  server: z.output<typeof ServerMetadata>,
  { resource, scopes }: FoundResource,
  { scope }: McpChallenge,
): McpAuthorization {
  return {
    resource,
    issuer: server.issuer,
    authorizationEndpoint: server.authorization_endpoint,
    tokenEndpoint: server.token_endpoint,
    scopes: scope === undefined ? scopes : scope.split(" "),
    supportsCimd: server.client_id_metadata_document_supported,
    supportsOpenId: server.scopes_supported?.includes("openid") ?? false,
    sendsIssuer: server.authorization_response_iss_parameter_supported,
    tokenAuthMethods: server.token_endpoint_auth_methods_supported ?? ["client_secret_basic"],
    grantTypes: server.grant_types_supported ?? ["authorization_code", "implicit"],
    ...defined({ registrationEndpoint: server.registration_endpoint, revocationEndpoint: server.revocation_endpoint }),
  };
}

/** Fetches a document; undefined when there is none at this location. */
async function getJson(place: string, { client, exchange, configured }: Finding): Promise<unknown> {
  const refused = (code: "address_not_allowed" | "unreachable", cause?: unknown) =>
    exchange.fail({ code, asked: shownUrl(place) ?? "no URL", ...defined({ cause }) });
  try {
    const url = new URL(place);
    const pinned = await client.resolve(url, { configured });
    if (url.protocol !== "https:" && !pinned.isListed) throw refused("address_not_allowed");
    const message = await client.send(url, pinned, {
      headers: { accept: "application/json", "accept-encoding": "gzip, deflate, br" },
      signal: exchange.signal,
    });
    if (message.statusCode !== 200) {
      message.destroy();
      return undefined;
    }
    const maxBytes = MCP_CAPS.otherBytes;
    const body = guardedBody(message, { exchange, caps: MCP_CAPS, maxBytes, isEndless: false });
    return (await new Response(body).json()) as unknown;
  } catch (error) {
    if (exchange.signal.aborted) throw exchange.problem ?? exchange.signal.reason;
    if (error instanceof SyntaxError) return undefined;
    const isRefused = error instanceof ApiError && error.code === "address_not_allowed";
    throw refused(isRefused ? "address_not_allowed" : "unreachable", error);
  }
}
