import { oauthFailure } from "./failures.ts";
import { CODE_GRANTS, faultOfRedirectUri, OTHER_FLOWS, type RedirectRules } from "./policy.ts";

/**
 * Adapts a registration to this server. Values that a client can't have here are replaced or omitted, and the response
 * shows the result. OAuth libraries send what other servers expect, and can't be configured otherwise. For clients
 * described by a document, nothing is adapted. Source: RFC 7591 §3.2.1.
 *
 * @throws ApiError `invalid_request`, whose details contain the code of RFC 7591: no redirect address, or another flow
 */
export function toOurTerms(sent: Readonly<Record<string, unknown>>, rules: RedirectRules): Record<string, unknown> {
  const { client_secret: _secret, ...own } = sent;
  return {
    ...own,
    token_endpoint_auth_method: "none",
    redirect_uris: servedUris(listOf(own["redirect_uris"]), rules),
    grant_types: servedGrants(listOf(own["grant_types"])),
    response_types: servedResponses(listOf(own["response_types"])),
  };
}

/**
 * Returns the values of a list. A text instead of a list is split into words. Null and empty values are treated as
 * absent.
 */
function listOf(value: unknown): unknown[] {
  const values: unknown[] = typeof value === "string" ? value.split(/\s+/u) : Array.isArray(value) ? value : [value];
  return values.filter((one) => one !== undefined && one !== null && one !== "");
}

/** Returns the allowed redirect addresses. A disallowed address is omitted; the registration is still accepted. */
function servedUris(values: readonly unknown[], rules: RedirectRules): string[] {
  const served = values.filter(
    (uri): uri is string => typeof uri === "string" && faultOfRedirectUri(uri, rules) === undefined,
  );
  const [first] = values;
  if (served.length > 0 || first === undefined) return served;
  const fault = typeof first === "string" ? faultOfRedirectUri(first, rules) : "is not a string";
  throw oauthFailure(
    "invalid_redirect_uri",
    `redirect_uris contains no address that kb returns to: ${JSON.stringify(first).slice(0, 200)} ${fault}.`,
  );
}

/**
 * A client that requests only other flows would never use the code flow, so it is refused. Every other client gets the
 * code flow.
 */
function servedGrants(values: readonly unknown[]): readonly string[] {
  if (values.length > 0 && values.every((grant) => OTHER_FLOWS.has(grant))) {
    throw oauthFailure(
      "invalid_client_metadata",
      `kb doesn't support ${JSON.stringify(values).slice(0, 200)}: register with the grant type authorization_code.`,
    );
  }
  const served = CODE_GRANTS.filter((grant) => values.includes(grant));
  return served.includes("authorization_code") ? served : CODE_GRANTS;
}

function servedResponses(values: readonly unknown[]): ["code"] {
  const isCode = values.length === 0 || values.some((value) => typeof value === "string" && /\bcode\b/u.test(value));
  if (isCode) return ["code"];
  throw oauthFailure(
    "invalid_client_metadata",
    `kb doesn't support the implicit flow: register with the response type "code".`,
  );
}
