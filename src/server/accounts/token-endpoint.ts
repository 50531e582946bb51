import { defined } from "#core/defined.ts";
import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { AccountSecrets, OAuthClient } from "#sources/account-contract.ts";
import type { SourceHttp } from "#sources/http-contract.ts";

/** The tokens that a provider granted. */
export interface GrantedTokens {
  secrets: AccountSecrets;
  /** Epoch milliseconds. Null if the access token doesn't expire, or the provider didn't report its expiry. */
  expiresAt: number | null;
  /** The granted scopes; undefined if the provider doesn't report them. */
  scopes: readonly string[] | undefined;
  /** The ID token of the person who signed in, if the provider returns it. It isn't validated yet. */
  idToken?: string | undefined;
}

/** The provider rejected a code or a refresh token, which no longer works. */
export class GrantRefused extends Error {}

/** A token endpoint, and the OAuth client that requests tokens from it. */
export interface TokenEndpoint {
  /** The display name of the provider. */
  name: string;
  tokenUrl: string;
  client: OAuthClient;
  /** Sends the client secret in the `Authorization` header. Source: RFC 6749 §2.3.1. */
  usesBasic?: boolean;
  /** Parameters that are sent with every request. */
  parameters?: Readonly<Record<string, string>>;
  /** The field of the response that contains the tokens. Absent if they are at the top level. */
  tokensIn?: string | undefined;
  now(): number;
}

/**
 * Makes the client for a provider's token endpoint. The provider's own error text is never shown. Source: RFC 6749
 * §4.1.3, §5.2, §6.
 */
export function makeTokenEndpoint(http: SourceHttp, at: TokenEndpoint) {
  const { name, tokenUrl, tokensIn, now } = at;

  async function ask(grant: Record<string, string>, before?: AccountSecrets): Promise<GrantedTokens> {
    const { form, headers } = asClient(at);
    const answer = await http.request({
      method: "POST",
      url: tokenUrl,
      headers: { ...headers, accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
      body: new URLSearchParams({ ...grant, ...at.parameters, ...form }).toString(),
      redirect: "none",
      allow: [400, 401, 403],
    });
    const body = answer.json(Answer);
    // GitHub and Slack report errors with status 200.
    if (body.error !== undefined || body.ok === false || answer.status >= 400) throw refusal(body.error, name);
    const below = tokensIn === undefined ? undefined : Answer.safeParse(body[tokensIn]).data;
    const tokens = Tokens.safeParse(below?.access_token === undefined ? body : below);
    if (!tokens.success) throw unusable(name);
    const { access_token: accessToken, refresh_token, expires_in, scope, id_token: idToken } = tokens.data;
    // If the response has no new refresh token, the previous one stays valid.
    const refreshToken = refresh_token ?? before?.refreshToken;
    return {
      secrets: { accessToken, ...defined({ refreshToken }) },
      expiresAt: expires_in === undefined ? null : now() + expires_in * 1_000,
      scopes: scope?.split(/[\s,]+/).filter((each) => each !== ""),
      idToken,
    };
  }

  return {
    /** @throws GrantRefused; ApiError `source_unavailable` */
    redeem(code: string, { verifier, redirectUrl }: { verifier: string | undefined; redirectUrl: string }) {
      return ask({
        grant_type: "authorization_code",
        code,
        redirect_uri: redirectUrl,
        ...defined({ code_verifier: verifier }),
      });
    },
    /** @throws GrantRefused; ApiError `source_unavailable` */
    refresh(secrets: AccountSecrets & { refreshToken: string }) {
      return ask({ grant_type: "refresh_token", refresh_token: secrets.refreshToken }, secrets);
    },
  };
}

/** The fields that identify the client to the provider. */
export function asClient({ client, usesBasic = false }: Pick<TokenEndpoint, "client" | "usesBasic">): {
  form: Record<string, string>;
  headers: Record<string, string>;
} {
  const { clientId, clientSecret } = client;
  if (clientSecret === undefined) return { form: { client_id: clientId }, headers: {} };
  if (!usesBasic) return { form: { client_id: clientId, client_secret: clientSecret }, headers: {} };
  const basic = Buffer.from(`${encodeURIComponent(clientId)}:${encodeURIComponent(clientSecret)}`).toString("base64");
  return { form: {}, headers: { authorization: `Basic ${basic}` } };
}

/** Errors that aren't about the person's grant. They mean that this server or the provider is misconfigured. */
const NOT_THE_GRANT =
  /^(?:invalid_client|incorrect_client_credentials|invalid_client_id|bad_client_secret|invalid_request|unsupported_grant_type|redirect_uri_mismatch|bad_redirect_uri|server_error|temporarily_unavailable|slow_down|ratelimited|internal_error|fatal_error|service_unavailable)$/;

const Answer = z.looseObject({
  ok: z.boolean().optional(),
  error: z.string().optional(),
  access_token: z.string().optional(),
});

const Tokens = z.object({
  access_token: z.string().min(1).max(8_192),
  refresh_token: z.string().min(1).max(8_192).optional(),
  expires_in: z.coerce.number().positive().max(1e9).optional(),
  scope: z.string().optional(),
  id_token: z.string().max(16_384).optional().catch(undefined),
});

function refusal(error: string | undefined, name: string): Error {
  if (error !== undefined && !NOT_THE_GRANT.test(error)) return new GrantRefused();
  if (error === undefined) return unusable(name);
  return new ApiError("source_unavailable", {
    message: `${name} does not accept this server's OAuth client now.`,
    hint: "The operator of this server can check the client ID and secret in its settings.",
  });
}

function unusable(name: string): ApiError {
  return new ApiError("source_unavailable", { message: `The response from ${name} isn't valid.` });
}
