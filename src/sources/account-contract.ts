import type { LimitSpec, SourceHttp } from "./http-contract.ts";

/** The location of an instance; its provider's templates are filled from it. */
export interface AccountPlace {
  /** The address that people open, such as `https://git.example.org`. */
  baseUrl: string;
  /** Base of API requests. */
  apiUrl: string;
  /** Base of token requests. */
  tokenBase: string;
}

/** The identity of an account, as its provider reports it. */
export interface SourceAccount {
  /** Never reassigned to another person: a number, not a login. */
  id: string;
  /** The tenant, on a server that has several tenants with separate users. */
  tenantId?: string;
  login?: string;
  /** A label the person recognizes. */
  label: string;
  /** Granted scopes, where the provider reports them. */
  scopes?: readonly string[];
}

/** This server's OAuth client at the provider. */
export interface OAuthClient {
  clientId: string;
  clientSecret: string | undefined;
}

/** The tokens of an account. */
export interface AccountSecrets {
  accessToken: string;
  /** Gets the next tokens. Absent = the access token doesn't expire, or the person has to sign in again. */
  refreshToken?: string;
}

/**
 * OAuth 2.0 at a provider, by the code flow. URLs are templates over the place, in a subset of RFC 6570 level 2:
 * `{name}` is encoded, `{+name}` is inserted unchanged.
 */
export interface OAuthSpec {
  authorizeUrl: string;
  tokenUrl: string;
  scopes: readonly string[];
  /** The parameter that lists the scopes; `scope` by default. */
  scopeParameter?: string;
  /** Extra parameters of the authorization request. */
  parameters?: Readonly<Record<string, string>>;
  /** Supports a PKCE challenge, hashed by SHA-256. Source: RFC 7636. */
  hasPkce: boolean;
  /** Required value of `iss` in a callback that has one. Source: RFC 9207. */
  issuer?: string;
  /** The key of the token response that holds a person's own tokens; absent = they are at its top level. */
  tokensIn?: string;
  /** Revokes the tokens at the provider; absent = the provider can't. */
  revoke?(http: SourceHttp, at: { place: AccountPlace; client: OAuthClient; secrets: AccountSecrets }): Promise<void>;
  /** Where the operator registers this server (a template over the place), and what to choose there. */
  setUp: { url: string; steps: string };
}

/** Tokens that people create themselves at a provider. */
export interface OwnTokens {
  /** The page where a token is created, as a template over the place; absent = only the person's own program knows. */
  url?: string;
  /** How to create one. */
  steps: string;
  /** Whether an instance has such tokens; absent = every instance has. */
  areAt?(baseUrl: string): boolean;
}

/**
 * A service where people have their own accounts. An account identifies a person there, and connectors can read with
 * it: a source names its provider in `spec.auth`.
 */
export interface AccountProvider {
  providerId: string;
  name: string;
  /** The source whose users the accounts are, if its id differs. */
  usersOf?: string;
  /** The public instance that everyone can use; absent = the operator's settings, or an admin, name it. */
  usual?: AccountPlace;
  /** The API at another base URL, unless the settings say where it is: a template over `baseUrl`. */
  apiUrl: string;
  /**
   * The value of `baseUrlOf` in the provider's sources: it identifies the instance that an account's user belongs to.
   */
  instance: "baseUrl" | "apiUrl";
  /** Origins that accept its tokens, besides the API's, as templates over the place. */
  origins?: readonly string[];
  /** How people connect with OAuth; absent = only with a token they created. */
  oauth?: OAuthSpec;
  /** How people prove their identity with a token they created; absent = the provider has no such tokens. */
  ownTokens?: OwnTokens;
  /** Absent = only `429` and `Retry-After` are recognized. */
  limits?: LimitSpec;
  /** Returns the signed-in account. @throws ApiError of `SourceHttp` */
  whoami(http: SourceHttp, place: AccountPlace): Promise<SourceAccount>;
}
