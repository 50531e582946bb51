import type { LimitSpec, SourceHttp } from "./http-contract.ts";

/** The location of an instance, with which the templates of its provider are filled in. */
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
  /** The tenant, if the server has several tenants with separate users. */
  tenantId?: string;
  login?: string;
  /** A label the person recognizes. */
  label: string;
  /** The granted scopes, if the provider reports them. */
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
  /**
   * The token that requests the next tokens. Absent = the access token doesn't expire, or the person has to sign in
   * again.
   */
  refreshToken?: string;
}

/**
 * OAuth 2.0 at a provider, by the authorization code flow. URLs are templates filled in from the place, in a subset of
 * RFC 6570 level 2: `{name}` is encoded, and `{+name}` is inserted unchanged.
 */
export interface OAuthSpec {
  authorizeUrl: string;
  tokenUrl: string;
  scopes: readonly string[];
  /** The parameter that lists the requested scopes. Defaults to `scope`. */
  scopeParameter?: string;
  /** Extra parameters of the authorization request. */
  parameters?: Readonly<Record<string, string>>;
  /** Supports a PKCE challenge, hashed by SHA-256. Source: RFC 7636. */
  hasPkce: boolean;
  /** The value that `iss` must have in a callback with that parameter. Source: RFC 9207. */
  issuer?: string;
  /** The key of the token response that holds the person's own tokens. Absent = the tokens are at the top level. */
  tokensIn?: string;
  /** Revokes the tokens at the provider. Absent = the provider can't revoke tokens. */
  revoke?(http: SourceHttp, at: { place: AccountPlace; client: OAuthClient; secrets: AccountSecrets }): Promise<void>;
  /**
   * The page where the operator registers this server (a template filled in from the place), and the options to choose
   * there.
   */
  setUp: { url: string; steps: string };
}

/** Tokens that people create themselves at a provider, such as personal access tokens. */
export interface OwnTokens {
  /**
   * The page where a person creates a token, as a template filled in from the place. Absent = the page is known only to
   * the program that the person uses.
   */
  url?: string;
  /** How to create a token on that page. */
  steps: string;
  /** Whether an instance supports these tokens. Absent = every instance does. */
  areAt?(baseUrl: string): boolean;
}

/**
 * A service where people have their own accounts. An account identifies a person at the service, and connectors can
 * read with the account: a source names its provider in `spec.auth`.
 */
export interface AccountProvider {
  providerId: string;
  name: string;
  /** The id of the source whose users the accounts belong to, if it differs from the provider's id. */
  usersOf?: string;
  /**
   * The public instance that everyone can use. Absent = the instance comes from the operator's settings or from an
   * admin.
   */
  usual?: AccountPlace;
  /** The API URL for any other base URL, unless the settings define it. A template filled in from `baseUrl`. */
  apiUrl: string;
  /**
   * Which URL equals the `baseUrlOf` of the provider's sources. It identifies the instance that an account's user
   * belongs to.
   */
  instance: "baseUrl" | "apiUrl";
  /**
   * Further origins that accept the provider's tokens, besides the API's origin. Templates filled in from the place.
   */
  origins?: readonly string[];
  /** How people connect with OAuth. Absent = people connect only with a token that they created. */
  oauth?: OAuthSpec;
  /** How people prove their identity with a token that they created. Absent = the provider has no such tokens. */
  ownTokens?: OwnTokens;
  /** Known rate limits. Absent = only `429` and `Retry-After` are recognized. */
  limits?: LimitSpec;
  /** Returns the account that is signed in. @throws ApiError the errors of `SourceHttp` */
  whoami(http: SourceHttp, place: AccountPlace): Promise<SourceAccount>;
}
