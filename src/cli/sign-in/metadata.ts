import { canParseUrl } from "#api/parse-url.ts";
import type { ServerUrl } from "#api/server-url.ts";
import { makeApi } from "#cli/calls/api.ts";
import type { Deps } from "#cli/host/deps.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { type CliFailure, failure, isFailure } from "#cli/host/failure.ts";
import { settingsOf } from "#cli/login/settings.ts";
import { textOf } from "#cli/host/state-file.ts";

/** The sign-in endpoints of a server, all at its own origin. */
export interface AuthorizationServer {
  issuer: string;
  authorizationEndpoint: string;
  tokenEndpoint: string;
  revocationEndpoint: string;
  deviceAuthorizationEndpoint: string;
}

/**
 * Fetches the server's sign-in endpoints.
 *
 * @throws CliFailure when it has none, or one of them is at another origin, from which no token may be requested and to which none may be sent
 *
 * Source: RFC 8414.
 */
export async function discover(
  deps: Pick<Deps, "fetch" | "platform" | "signal">,
  server: ServerUrl,
): Promise<AuthorizationServer> {
  const origin: ServerUrl = { ...server, baseUrl: server.origin };
  const api = makeApi(deps, settingsOf(origin));
  const path = "/.well-known/oauth-authorization-server";
  const metadata = await api.get(path, { timeoutMs: 15_000 }).catch((error: unknown) => {
    throw isFailure(error) && error.exit !== EXIT.unreachable ? noSignIn(server, error) : error;
  });
  const address = (name: string): string => addressIn(metadata, name, server);
  return {
    issuer: address("issuer"),
    authorizationEndpoint: address("authorization_endpoint"),
    tokenEndpoint: address("token_endpoint"),
    revocationEndpoint: address("revocation_endpoint"),
    // A server may omit the endpoint, because only this client uses it.
    deviceAuthorizationEndpoint:
      metadata["device_authorization_endpoint"] === undefined
        ? `${server.origin}/oauth/device_authorization`
        : address("device_authorization_endpoint"),
  };
}

/** Whether the address has this origin. */
export function isOfOrigin(address: string, origin: string): boolean {
  return canParseUrl(address) && new URL(address).origin === origin;
}

function addressIn(metadata: Record<string, unknown>, name: string, server: ServerUrl): string {
  const address = textOf(metadata[name]);
  if (address !== undefined && isOfOrigin(address, server.origin)) return address;
  if (address === undefined || !canParseUrl(address)) throw noSignIn(server);
  const { origin } = new URL(address);
  throw failure(
    "unreachable",
    "other_origin",
    `${server.baseUrl} names a sign-in address on ${origin}, but a login is sent only to its own server.`,
    `If that is the server's real address: kb login ${origin}. Otherwise its KB_PUBLIC_URL is wrong.`,
  );
}

function noSignIn(server: ServerUrl, cause?: unknown): CliFailure {
  return failure(
    "unreachable",
    "sign_in_unsupported",
    `${server.baseUrl} offers no browser sign-in.`,
    `Sign in with email and password: kb login ${server.baseUrl} --email YOU@EXAMPLE.COM`,
    { cause },
  );
}
