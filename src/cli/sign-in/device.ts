/** Signs in with another machine's browser: this machine shows a code and polls until the person has entered it. Source: RFC 8628. */
import type { ServerUrl } from "#api/server-url.ts";
import { CliFailure, failure } from "#cli/host/failure.ts";
import { textOf } from "#cli/host/state-file.ts";
import { isOfOrigin, type AuthorizationServer } from "./metadata.ts";
import { CLIENT_ID, postForm, requestTokens, type TokenAnswer, type TokenDeps } from "#cli/login/tokens.ts";

export interface DeviceCode {
  deviceCode: string;
  /** The code that the person types. */
  userCode: string;
  /** The page where the person types the code. */
  verificationUri: string;
  /** Milliseconds since the epoch. */
  expiresAt: number;
  intervalMs: number;
}

/** Requests a code. `resources` are the audiences of the tokens. */
export async function startDevice(
  deps: TokenDeps,
  server: ServerUrl,
  endpoints: AuthorizationServer,
  request: { scope: string; resources: readonly string[] },
): Promise<DeviceCode> {
  const answer = await postForm(deps, endpoints.deviceAuthorizationEndpoint, {
    client_id: CLIENT_ID,
    scope: request.scope,
    resource: request.resources,
  });
  const deviceCode = textOf(answer["device_code"]);
  const userCode = textOf(answer["user_code"]);
  const verificationUri = textOf(answer["verification_uri"]);
  const { expires_in: life, interval } = answer;
  if (deviceCode === undefined || userCode === undefined || verificationUri === undefined) throw strange(server);
  if (!isOfOrigin(verificationUri, server.origin)) throw strange(server);
  return {
    deviceCode,
    userCode,
    verificationUri,
    expiresAt: deps.clock.now() + (typeof life === "number" && life > 0 ? life : 300) * 1_000,
    intervalMs: (typeof interval === "number" && interval > 0 ? interval : 5) * 1_000,
  };
}

/** Polls until the person has decided. Throws CliFailure 4 when the person refuses, 9 when the code has expired. */
export async function waitForDevice(
  deps: TokenDeps,
  endpoints: AuthorizationServer,
  device: DeviceCode,
  resource: string,
): Promise<TokenAnswer> {
  let pauseMs = device.intervalMs;
  while (deps.clock.now() < device.expiresAt) {
    await deps.clock.sleep(pauseMs, deps.signal);
    try {
      return await requestTokens(deps, endpoints.tokenEndpoint, {
        grant_type: "urn:ietf:params:oauth:grant-type:device_code",
        device_code: device.deviceCode,
        resource,
      });
    } catch (error) {
      pauseMs = nextPause(error, pauseMs);
    }
  }
  throw over();
}

/** Returns the pause before the next poll; throws errors that end the polling. */
function nextPause(error: unknown, pauseMs: number): number {
  const code = error instanceof CliFailure ? error.code : "";
  if (code === "authorization_pending") return pauseMs;
  // RFC 8628, 3.5: five more seconds for slow_down. Polling is also slowed down while the network fails.
  if (code === "slow_down" || code === "unreachable" || code === "unexpected_answer") return pauseMs + 5_000;
  if (code === "rate_limited")
    return Math.max(pauseMs + 5_000, error instanceof CliFailure ? (error.retryAfterMs ?? 0) : 0);
  if (code === "expired_token") throw over();
  if (code !== "access_denied") throw error;
  throw failure(
    "notSignedIn",
    code,
    "The sign-in was refused in the browser; nothing was changed.",
    "Start again with kb login --device.",
  );
}

function over(): CliFailure {
  return failure(
    "timedOut",
    "timed_out",
    "The code expired before anyone entered it.",
    "Get a new one with kb login --device.",
  );
}

function strange(server: ServerUrl): CliFailure {
  return failure(
    "unreachable",
    "unexpected_answer",
    `${server.baseUrl} returned no usable code.`,
    `Sign in with email and password: kb login ${server.baseUrl} --email YOU@EXAMPLE.COM`,
  );
}
