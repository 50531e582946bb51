import { canParseUrl } from "#api/parse-url.ts";
import { cleanField } from "#api/clean.ts";
import { oauthFailure } from "./failures.ts";
import {
  CODE_GRANTS,
  DEVICE_GRANT,
  faultOfRedirectUri,
  LIFETIMES,
  OWN_CLIENT_ID,
  OWN_CLIENT_NAME,
  OTHER_FLOWS,
  type RedirectRules,
} from "./policy.ts";

/** The client metadata that is stored. All other metadata is dropped. */
export interface ClientMetadata {
  client_name: string;
  client_uri?: string;
  redirect_uris: string[];
  grant_types: string[];
  response_types: ["code"];
  response_modes: ["query"];
  token_endpoint_auth_method: "none";
  application_type: "native";
  id_token_signed_response_alg: "ES256";
}

/** Maximum redirect addresses of a client. Source: docs/oauth.md#rules. */
const MAX_REDIRECT_URIS = 20;
const MAX_NAME_CHARS = 80;

/**
 * Validates the client's metadata: public, native, code flow with PKCE only. Names are cut to one line without special
 * characters. Logos are never accepted, because one could make another client's page look like this one's.
 *
 * @throws ApiError `invalid_request`, whose details contain the code of RFC 7591
 */
export function readClientMetadata(
  metadata: Readonly<Record<string, unknown>>,
  fallbackName: string,
  rules: RedirectRules,
): ClientMetadata {
  const method = metadata["token_endpoint_auth_method"] ?? "none";
  if (method !== "none" || "client_secret" in metadata) {
    throw oauthFailure(
      "invalid_client_metadata",
      `Clients are public: set token_endpoint_auth_method to "none", and use PKCE.`,
    );
  }
  const uri = metadata["client_uri"];
  return {
    client_name: readName(metadata["client_name"], fallbackName),
    ...(typeof uri === "string" && isWebAddress(uri) && { client_uri: uri }),
    redirect_uris: readRedirectUris(metadata["redirect_uris"], rules),
    grant_types: readGrantTypes(metadata["grant_types"]),
    response_types: readResponseTypes(metadata["response_types"]),
    response_modes: ["query"],
    token_endpoint_auth_method: "none",
    application_type: "native",
    id_token_signed_response_alg: "ES256",
  };
}

/** The client of the command line. It uses a loopback address with any port, or a device code. */
export const OWN_CLIENT = {
  client_id: OWN_CLIENT_ID,
  client_name: OWN_CLIENT_NAME,
  redirect_uris: ["http://127.0.0.1/callback"],
  grant_types: ["authorization_code", "refresh_token", DEVICE_GRANT],
  response_types: ["code" as const],
  response_modes: ["query"],
  token_endpoint_auth_method: "none" as const,
  application_type: "native" as const,
  id_token_signed_response_alg: "ES256" as const,
};

/** Milliseconds after which an unused registered client is deleted. */
export const CLIENT_UNUSED_MS = 30 * LIFETIMES.document * 1000;
/** Maximum registered clients that were never used. The newest are kept. */
export const MAX_UNUSED_CLIENTS = 5_000;

/** Returns the allowed redirect addresses. A disallowed address is dropped; the client is still accepted. */
function readRedirectUris(value: unknown, rules: RedirectRules): string[] {
  if (!Array.isArray(value) || value.length === 0) {
    throw oauthFailure("invalid_redirect_uri", "redirect_uris must contain at least one address.");
  }
  if (value.length > MAX_REDIRECT_URIS) {
    throw oauthFailure("invalid_redirect_uri", `redirect_uris contains more than ${MAX_REDIRECT_URIS} addresses.`);
  }
  const faultOf = (uri: unknown) => (typeof uri === "string" ? faultOfRedirectUri(uri, rules) : "is not a string");
  const served = value.filter((uri): uri is string => faultOf(uri) === undefined);
  if (served.length > 0) return [...new Set(served)];
  const shown = JSON.stringify(value[0])?.slice(0, 200);
  throw oauthFailure("invalid_redirect_uri", `The address ${shown} ${faultOf(value[0])}.`);
}

/**
 * A client that lists no grant types also gets refresh tokens; otherwise the person would have to consent every hour.
 * Unknown grant types (a device code, a token exchange) are dropped.
 */
function readGrantTypes(value: unknown): string[] {
  if (value === undefined) return [...CODE_GRANTS];
  const types: unknown[] = Array.isArray(value) ? value : [value];
  const known = types.filter((type): type is string => typeof type === "string" && CODE_GRANTS.includes(type));
  if (known.length !== types.length && !known.includes("authorization_code")) {
    throw oauthFailure(
      "invalid_client_metadata",
      "grant_types can be authorization_code and refresh_token, and must contain authorization_code.",
    );
  }
  const refused = types.find((type) => typeof type !== "string" || OTHER_FLOWS.has(type));
  if (refused !== undefined) {
    throw oauthFailure("invalid_client_metadata", `The grant type ${JSON.stringify(refused)} is not supported.`);
  }
  return known.includes("authorization_code") ? known : ["authorization_code", ...known];
}

function readResponseTypes(value: unknown): ["code"] {
  const isCode = value === undefined || (Array.isArray(value) && value.includes("code"));
  if (isCode) return ["code"];
  throw oauthFailure("invalid_client_metadata", 'response_types can be "code" only.');
}

function readName(value: unknown, fallback: string): string {
  const name = typeof value === "string" ? cleanField(value, MAX_NAME_CHARS) : "";
  return name === "" ? fallback : name;
}

function isWebAddress(text: string): boolean {
  return text.length <= 500 && canParseUrl(text) && new URL(text).protocol === "https:";
}
