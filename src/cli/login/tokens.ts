/** Requests to the token and revocation endpoints, form-encoded as RFC 6749 requires. */
import { readNetworkFailure } from "#api/network-failure.ts";
import type { Deps } from "#cli/host/deps.ts";
import { failure, interrupted, type CliFailure } from "#cli/host/failure.ts";
import type { Answer } from "#cli/host/http.ts";
import { parseObject, textOf } from "#cli/host/state-file.ts";

/** The public client id of every `kb` installation. */
export const CLIENT_ID = "kb-cli";

export interface TokenAnswer {
  accessToken: string;
  /** Milliseconds since the epoch, by this machine's clock. */
  expiresAt: number;
  refreshToken: string | undefined;
  /** Undefined when the server granted exactly the requested scopes. */
  scopes: string[] | undefined;
}

export type TokenDeps = Pick<Deps, "fetch" | "clock" | "signal">;

/** Timeout of one request in milliseconds; shorter than the time for which a refresh holds the lock. */
const REQUEST_MS = 15_000;
const DEFAULT_LIFE_S = 300;

/**
 * Calls the token endpoint with `kb-cli` as the client.
 *
 * @throws CliFailure whose `code` is the OAuth error (`invalid_grant`, `authorization_pending`, …), or `unreachable`
 */
export async function requestTokens(
  deps: TokenDeps,
  endpoint: string,
  form: Readonly<Record<string, string>>,
): Promise<TokenAnswer> {
  const askedAt = deps.clock.now();
  const answer = await postForm(deps, endpoint, { ...form, client_id: CLIENT_ID });
  const accessToken = tokenIn(answer["access_token"]);
  const type = textOf(answer["token_type"]) ?? "";
  if (accessToken === undefined || type.toLowerCase() !== "bearer") throw strangeAnswer(endpoint);
  const life = answer["expires_in"];
  const seconds = typeof life === "number" && life > 0 ? life : DEFAULT_LIFE_S;
  return {
    accessToken,
    expiresAt: askedAt + seconds * 1_000,
    refreshToken: tokenIn(answer["refresh_token"]),
    scopes: textOf(answer["scope"])?.split(" ").filter(Boolean),
  };
}

/** Revokes a token. Revoking a refresh token also revokes everything derived from it. Source: RFC 7009. */
export async function revokeToken(deps: TokenDeps, endpoint: string, token: string): Promise<void> {
  await postForm(deps, endpoint, { token, client_id: CLIENT_ID });
}

/** Posts a form and reads the answer's JSON; a failure's message contains nothing from the form. */
export async function postForm(
  deps: TokenDeps,
  endpoint: string,
  form: Readonly<Record<string, string | readonly string[]>>,
): Promise<Record<string, unknown>> {
  const body = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) {
    for (const one of typeof value === "string" ? [value] : value) body.append(name, one);
  }
  let response: Answer;
  let text: string;
  try {
    response = await deps.fetch(endpoint, {
      method: "POST",
      headers: { accept: "application/json", "content-type": "application/x-www-form-urlencoded" },
      body: body.toString(),
      // Following a redirect would send a secret to an address that no one chose.
      redirect: "manual",
      signal: AbortSignal.any([deps.signal, AbortSignal.timeout(REQUEST_MS)]),
    });
    text = await response.text();
  } catch (error) {
    if (deps.signal.aborted) throw interrupted();
    throw unreachable(endpoint, error);
  }
  const answer = parseObject(text);
  if (response.status >= 200 && response.status < 300) return answer ?? {};
  throw failureOf(endpoint, response, answer);
}

function tokenIn(value: unknown): string | undefined {
  // A token is one word of visible ASCII; anything else could inject a header.
  return typeof value === "string" && /^[\x21-\x7e]{8,4096}$/.test(value) ? value : undefined;
}

function failureOf(endpoint: string, response: Answer, answer: Record<string, unknown> | undefined): CliFailure {
  const { status } = response;
  const { origin } = new URL(endpoint);
  const seconds = Number(response.headers.get("retry-after") ?? Number.NaN);
  const retryAfterMs = Number.isFinite(seconds) ? seconds * 1_000 : undefined;
  const requestId = response.headers.get("x-request-id") ?? undefined;
  if (status >= 300 && status < 400) {
    const message = `${origin} redirects (HTTP ${status}). kb doesn't follow redirects, because your login would go with them.`;
    const hint = "Name the server's final address with --url or KB_URL.";
    return failure("unreachable", "redirect_refused", message, hint, { requestId });
  }
  if (status === 429) {
    const message = `${origin} received too many requests.`;
    const hint = "Wait a minute, then repeat the command.";
    return failure("rateLimited", "rate_limited", message, hint, { requestId, retryAfterMs });
  }
  const code = textOf(answer?.["error"]);
  if (code === undefined || status >= 500) return strangeAnswer(endpoint, status, requestId);
  // The server's description without anything that could be a token, because a careless server may quote it.
  const detail = (textOf(answer?.["error_description"]) ?? code).replace(/[\w.~+/-]{20,}/g, "…");
  return failure("notSignedIn", code, `${origin} refuses: ${detail}.`, undefined, { requestId });
}

function unreachable(endpoint: string, error: unknown): CliFailure {
  const isTimeout = error instanceof Error && error.name === "TimeoutError";
  const why = isTimeout ? `no answer within ${REQUEST_MS / 1000} s` : readNetworkFailure(error).why;
  const message = `No answer from ${new URL(endpoint).origin}: ${why}.`;
  return failure("unreachable", "unreachable", message, "Check that the server runs, then repeat the command.", {
    cause: error,
  });
}

function strangeAnswer(endpoint: string, status?: number, requestId?: string): CliFailure {
  const what = status === undefined ? "returned no usable token" : `answers HTTP ${status}`;
  return failure(
    "unreachable",
    "unexpected_answer",
    `${new URL(endpoint).origin} ${what} when asked for a login.`,
    "Repeat the command in a moment.",
    { requestId, status },
  );
}
