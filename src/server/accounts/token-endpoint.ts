import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { AccountSecrets, OAuthClient } from "#sources/account-contract.ts";
import type { SourceHttp } from "#sources/http-contract.ts";

/** Tokens as a provider gave them. */
export interface GrantedTokens {
  secrets: AccountSecrets;
  /** Epoch milliseconds; null = the access token does not end, or nobody said. */
  expiresAt: number | null;
  /** What was granted, where the provider says so. */
  scopes: readonly string[] | undefined;
  /** Who signed in, where the provider says so in a token; not judged yet. */
  idToken?: string | undefined;
}

/** The provider says no to a code or to a refresh token: it opens nothing any more. */
export class GrantRefused extends Error {}

/** Where tokens are, and as whom they are asked for. */
export interface TokenEndpoint {
  /** What people call the provider. */
  name: string;
  tokenUrl: string;
  client: OAuthClient;
  /** The client's secret goes into a header. Source: RFC 6749 §2.3.1. */
  usesBasic?: boolean;
  /** What goes with every request. */
  parameters?: Readonly<Record<string, string>>;
  /** The field of the answer that holds the tokens, where it isn't the answer itself. */
  tokensIn?: string | undefined;
  now(): number;
}

/** The token endpoint of a provider; its own words are never shown. Source: RFC 6749 §4.1.3, §5.2, §6. */
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
    const said = answer.json(Answer);
    // GitHub and Slack say no with 200.
    if (said.error !== undefined || said.ok === false || answer.status >= 400) throw refusal(said.error, name);
    const below = tokensIn === undefined ? undefined : Answer.safeParse(said[tokensIn]).data;
    const tokens = Tokens.safeParse(below?.access_token === undefined ? said : below);
    if (!tokens.success) throw unusable(name);
    const { access_token: accessToken, refresh_token, expires_in, scope, id_token: idToken } = tokens.data;
    // Who gives none has kept the one that there was.
    const refreshToken = refresh_token ?? before?.refreshToken;
    return {
      secrets: { accessToken, ...(refreshToken !== undefined && { refreshToken }) },
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
        ...(verifier !== undefined && { code_verifier: verifier }),
      });
    },
    /** @throws GrantRefused; ApiError `source_unavailable` */
    refresh(secrets: AccountSecrets & { refreshToken: string }) {
      return ask({ grant_type: "refresh_token", refresh_token: secrets.refreshToken }, secrets);
    },
  };
}

/** What tells the provider which client asks. */
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

/** Words that say nothing about the person's grant: this server, or the provider, is not as it should be. */
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
