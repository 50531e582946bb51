import { createHash } from "node:crypto";
import type { AccountPlace, OAuthClient } from "#sources/account-contract.ts";
import { type KnownProvider, urlAt } from "./providers.ts";

/** What a browser brought back from a provider. */
export interface ProviderAnswer {
  state: string;
  code: string | undefined;
  issuer: string | undefined;
  isRefused: boolean;
}

/** The provider's page for this trip. Source: RFC 6749 §4.1.1, RFC 7636 §4.3. */
export function makeAddress(
  at: Pick<KnownProvider, "provider" | "redirectUrl"> & { client: OAuthClient; place: AccountPlace },
  state: string,
  verifier: string | undefined,
): string {
  const { oauth } = at.provider;
  const url = new URL(urlAt(oauth.authorizeUrl, at.place));
  const parameters = {
    ...oauth.parameters,
    response_type: "code",
    client_id: at.client.clientId,
    redirect_uri: at.redirectUrl,
    [oauth.scopeParameter ?? "scope"]: oauth.scopes.join(" "),
    state,
    ...(verifier !== undefined && {
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
    }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

/** Reads a callback's query; what is there twice is not there. */
export function readAnswer(query: string): ProviderAnswer {
  const parameters = new URLSearchParams(query);
  const one = (name: string) => {
    const values = parameters.getAll(name);
    return values.length === 1 ? values[0] : undefined;
  };
  return { state: one("state") ?? "", code: one("code"), issuer: one("iss"), isRefused: parameters.has("error") };
}
