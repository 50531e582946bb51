import type { MCP_PATHS } from "#server/http/own-addresses.ts";
import { DEVICE_GRANT, PATHS, resourcesOf } from "./policy.ts";

/** Returns the published metadata of the authorization server. Source: RFC 8414, RFC 9207, OpenID Connect Discovery. */
export function authorizationServerMetadata(
  baseUrl: string,
  { takesDocuments }: { takesDocuments: boolean },
): Record<string, unknown> {
  const at = (path: string) => `${baseUrl}${path}`;
  return {
    issuer: baseUrl,
    authorization_endpoint: at(PATHS.authorize),
    token_endpoint: at(PATHS.token),
    registration_endpoint: at(PATHS.register),
    revocation_endpoint: at(PATHS.revoke),
    device_authorization_endpoint: at(PATHS.deviceAuthorization),
    scopes_supported: ["mcp:read"],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token", DEVICE_GRANT],
    code_challenge_methods_supported: ["S256"],
    token_endpoint_auth_methods_supported: ["none"],
    revocation_endpoint_auth_methods_supported: ["none"],
    authorization_response_iss_parameter_supported: true,
    ...(takesDocuments && { client_id_metadata_document_supported: true }),
    protected_resources: [resourcesOf(baseUrl).mcp],
    // Clients that look for OpenID Connect's document reject it if any of these three is missing.
    jwks_uri: at(PATHS.jwks),
    subject_types_supported: ["public"],
    id_token_signing_alg_values_supported: ["ES256"],
  };
}

/**
 * Returns the published metadata of `/mcp` as a protected resource, under the address that the client used. Source: RFC
 * 9728.
 */
export function protectedResourceMetadata(
  baseUrl: string,
  path: (typeof MCP_PATHS)[number] = "/mcp",
): Record<string, unknown> {
  return {
    resource: `${baseUrl}${path}`,
    authorization_servers: [baseUrl],
    scopes_supported: ["mcp:read"],
    bearer_methods_supported: ["header"],
    resource_name: "kb",
  };
}
