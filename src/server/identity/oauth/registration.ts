import type { Parts } from "#storage/records/parts.ts";
import { isRecord } from "#core/json-record.ts";
import type { Provider } from "oidc-provider";
import { OPEN_JSON } from "#server/http/body-bounds.ts";
import { parseJson } from "#server/http/request.ts";
import type { RequestOrigin } from "#storage/access/actor.ts";
import { readClientMetadata } from "./clients.ts";
import { oauthFailure } from "./failures.ts";
import type { RedirectRules } from "./policy.ts";
import { toOurTerms } from "./registration-terms.ts";

/** The response to a client's registration: the metadata that was stored. Source: RFC 7591 §3.2.1. */
export type RegisteredClient = Record<string, unknown>;

export interface RegistrationService {
  /** Registers a client. @throws ApiError with a code of RFC 7591 */
  register(text: string, origin: RequestOrigin): Promise<RegisteredClient>;
}

export interface RegistrationOptions extends Pick<Parts, "store" | "clock" | "randomBytes" | "log"> {
  provider(): Promise<Provider>;
  rules: RedirectRules;
}

/** Maximum size of a registration in bytes. Source: docs/decisions/0015. */
export const MAX_REGISTRATION_BYTES = 16 * 1024;

/**
 * Clients register themselves (`http/limits.ts` limits how often), so nothing they report is trusted: their names are
 * shown as unverified, and they get `mcp:read` only. The library's own endpoint isn't used, because it accepts values
 * that kb refuses (docs/decisions/0015).
 */
export function makeRegistrationService(options: RegistrationOptions): RegistrationService {
  const { store, clock, randomBytes, log, rules } = options;
  return {
    async register(text, origin) {
      const metadata = readClientMetadata(toOurTerms(parseObject(text), rules), "Unnamed app", rules);
      const clientId = `cli_${Buffer.from(randomBytes(16)).toString("base64url")}`;
      await requireTakenByLibrary(await options.provider(), { ...metadata, client_id: clientId });
      const createdAt = clock.now();
      await store.oauth.insertClient({
        clientId,
        metadata: { ...metadata },
        ip: origin.clientIp,
        createdAt,
        lastUsedAt: null,
      });
      // No workspace is known yet, so the registration isn't in any audit log. The consent that follows is.
      log.info({ requestId: origin.requestId, clientId, ip: origin.clientIp }, "oauth client registered");
      const { response_modes: _modes, id_token_signed_response_alg: _alg, ...shown } = metadata;
      return {
        ...shown,
        client_id: clientId,
        client_id_issued_at: Math.floor(createdAt / 1000),
        scope: "mcp:read",
      };
    },
  };
}

function parseObject(text: string): Record<string, unknown> {
  const value = parseJson(text, OPEN_JSON, { oauthError: "invalid_client_metadata" });
  if (isRecord(value)) return value;
  throw oauthFailure("invalid_client_metadata", "Send the client's metadata as one JSON object.");
}

/** The library must also accept the clients that kb accepts, or they would fail at their first use. */
async function requireTakenByLibrary(provider: Provider, metadata: Record<string, unknown>): Promise<void> {
  try {
    await provider.Client.validate(metadata as Parameters<Provider["Client"]["validate"]>[0]);
  } catch (error) {
    if (!(error instanceof Error) || !("error_description" in error)) throw error;
    throw oauthFailure("invalid_client_metadata", String(error.error_description));
  }
}
