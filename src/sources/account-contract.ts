import type { LimitSpec, SourceHttp } from "./http-contract.ts";

/** Where an instance is; the templates of its provider are filled from it. */
export interface AccountPlace {
  /** What people open, such as `https://git.example.org`. */
  baseUrl: string;
  /** Where the API is asked. */
  apiUrl: string;
  /** Where tokens are got. */
  tokenBase: string;
}

/** Who an account is at its provider, as the provider says itself. */
export interface SourceAccount {
  /** Never another person's later: a number, not a login. */
  id: string;
  /** Where one server has several tenants with users of their own, which of them this is. */
  tenantId?: string;
  login?: string;
  /** What the person recognises it by. */
  label: string;
  /** What was granted, where the provider says so. */
  scopes?: readonly string[];
}

/** What this server is at the provider. */
export interface OAuthClient {
  clientId: string;
  clientSecret: string | undefined;
}

/** What an account acts with. */
export interface AccountSecrets {
  accessToken: string;
  /** Gets the next ones. Absent = the access token does not end, or the person has to come again. */
  refreshToken?: string;
}

/**
 * OAuth 2.0 of a provider, by the code flow. URLs are templates over the place, of which RFC 6570 level 2 is understood:
 * `{name}` is encoded, `{+name}` is put in as it is.
 */
export interface OAuthSpec {
  authorizeUrl: string;
  tokenUrl: string;
  scopes: readonly string[];
  /** The parameter that names them; `scope` unless told. */
  scopeParameter?: string;
  /** What else the way there says. */
  parameters?: Readonly<Record<string, string>>;
  /** Takes a PKCE challenge, hashed by SHA-256. Source: RFC 7636. */
  hasPkce: boolean;
  /** What `iss` of a callback has to be where one comes. Source: RFC 9207. */
  issuer?: string;
  /** The key of the token answer below which a person's own tokens stand; absent = they stand in the answer itself. */
  tokensIn?: string;
  /** Ends the tokens at the provider; absent = it has no way. */
  revoke?(http: SourceHttp, at: { place: AccountPlace; client: OAuthClient; secrets: AccountSecrets }): Promise<void>;
  /** Where the operator registers this server, as a template over the place, and what they choose there. */
  setUp: { url: string; steps: string };
}

/** Tokens that people make at a provider themselves. */
export interface OwnTokens {
  /** The page where one is made, as a template over the place; absent = only the person's own program knows. */
  url?: string;
  /** How one is made. */
  steps: string;
  /** Whether an instance has them; absent = every one has. */
  areAt?(baseUrl: string): boolean;
}

/**
 * A service at which people have accounts of their own. An account says who somebody is there, and connectors can read with
 * it: a source names its provider in `spec.auth`.
 */
export interface AccountProvider {
  providerId: string;
  name: string;
  /** The source whose users its accounts are, where that has an id of its own. */
  usersOf?: string;
  /** The instance that everybody has; absent = the operator's settings, or an admin, name it. */
  usual?: AccountPlace;
  /** At another base URL, unless the settings say where the API is: a template over `baseUrl`. */
  apiUrl: string;
  /** What its sources give as `baseUrlOf`: whose users an account's are. */
  instance: "baseUrl" | "apiUrl";
  /** Origins beside that of the API that its tokens are for, as templates over the place. */
  origins?: readonly string[];
  /** How people connect there; absent = by a token of their own alone. */
  oauth?: OAuthSpec;
  /** How a person proves who they are by a token that they made there; absent = it has no such tokens. */
  ownTokens?: OwnTokens;
  /** Absent = `429` and `Retry-After` are understood, and nothing else is known. */
  limits?: LimitSpec;
  /** Who the signed-in account is. @throws ApiError of `SourceHttp` */
  whoami(http: SourceHttp, place: AccountPlace): Promise<SourceAccount>;
}
