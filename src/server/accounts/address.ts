import { createHash } from "node:crypto";
import { type ConfiguredProvider, urlAt } from "./providers.ts";

/** The provider's answer in the callback. */
export interface ProviderAnswer {
  state: string;
  code: string | undefined;
  issuer: string | undefined;
  isRefused: boolean;
}

/** Returns the address of the provider's authorization page for this flow. Source: RFC 6749 §4.1.1, RFC 7636 §4.3. */
export function makeAddress(at: ConfiguredProvider, state: string, verifier: string | undefined): string {
  const { oauth } = at.provider;
  const url = new URL(urlAt(oauth.authorizeUrl, at.place));
  const parameters = {
    ...oauth.parameters,
    response_type: "code",
    client_id: at.client.clientId,
    redirect_uri: at.redirectUrl,
    [oauth.scopeParameter ?? "scope"]: oauth.scopes.join(" "),
    state,
    ...(verifier !== undefined && challengeOf(verifier)),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** The parameters that keep anyone else from using the code. Source: RFC 7636 §4.2. */
export function challengeOf(verifier: string): Record<string, string> {
  const code_challenge = createHash("sha256").update(verifier).digest("base64url");
  return { code_challenge, code_challenge_method: "S256" };
}

/** Returns the address of a page of this server with these query parameters added. */
export function withQuery(path: string, values: Readonly<Record<string, string>>): string {
  const url = new URL(path, "https://here.invalid");
  for (const [name, value] of Object.entries(values)) url.searchParams.set(name, value);
  return url.pathname + url.search + url.hash;
}

/**
 * Reads a callback's query. If a parameter is repeated, no code is read: anyone who registers kb at an authorization
 * server can put an `iss` of their choice into the redirect address, and the server then appends the true `iss`.
 *
 * Source: RFC 6749 §3.1, RFC 9207 §2.4
 */
export function readAnswer(query: string): ProviderAnswer {
  const parameters = new URLSearchParams(query);
  const isTwice = ANSWERED.some((name) => parameters.getAll(name).length > 1);
  return {
    state: parameters.get("state") ?? "",
    code: isTwice ? undefined : (parameters.get("code") ?? undefined),
    issuer: parameters.get("iss") ?? undefined,
    isRefused: parameters.has("error"),
  };
}

const ANSWERED = ["state", "code", "iss"] as const;
