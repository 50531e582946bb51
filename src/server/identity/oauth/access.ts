import type { Parts } from "#storage/records/parts.ts";
import { Scope } from "#api/common.ts";
import { hashSecret } from "#core/secrets.ts";
import type { Actor } from "#storage/access/actor.ts";
import { unlessUnwritable } from "#storage/unless-unwritable.ts";
import { resourcesOf, type Audience } from "./policy.ts";
import { openPayload } from "./records.ts";

/** Returns the person whom an access token identifies for an audience, by the current state. */
export type AccessLookup = (token: string, audience: Audience) => Promise<Actor | "other_audience" | undefined>;

/** `lastUsedAt` is written on the first use, and then at most once in this many milliseconds. */
const LAST_USED_STEP_MS = 5 * 60_000;
/** The form of the OAuth library's tokens: 256 bits in base64url. For any other text the database isn't read. */
const TOKEN_FORM = /^[A-Za-z0-9_-]{43}$/;

/**
 * Makes the lookup of access tokens. It reads only the records, so that a tool call never loads the library. A token is
 * valid while it hasn't expired, its grant exists and its person is a member. Nothing is cached (S6).
 */
export function makeAccessLookup(
  options: Pick<Parts, "store" | "clock" | "log" | "vault"> & {
    baseUrl: string;
  },
): AccessLookup {
  const { store, clock } = options;
  const resources = resourcesOf(options.baseUrl);
  return async (token, audience) => {
    if (!TOKEN_FORM.test(token)) return undefined;
    const idHash = hashSecret(token);
    const found = await store.oauth.findAccess(idHash);
    if (!found || found.expiresAt === null || found.expiresAt <= clock.now()) return undefined;
    const { grant, role, timeZone, sealed } = found;
    if (grant.revokedAt !== null) return undefined;
    const payload = openPayload(options, { model: "AccessToken", idHash, sealed });
    if (payload === undefined) return undefined;
    if (payload["aud"] !== resources[audience]) return "other_audience";
    const staleAt = clock.now() - LAST_USED_STEP_MS;
    if (grant.lastUsedAt === null || grant.lastUsedAt <= staleAt) {
      await unlessUnwritable(store.oauth.markGrantUsed(grant.grantId, clock.now(), staleAt));
    }
    const { workspaceId, userId, grantId, clientId } = grant;
    const scopes = heldScopes(readScopes(payload["scope"]), grant.scopes);
    return { workspaceId, userId, role, scopes, timeZone, credential: { type: "oauth", id: grantId, clientId } };
  };
}

/**
 * The scopes that a token still has. If its person stops being an admin, the grant loses a scope, and the token loses
 * it too. Source: S63.
 */
function heldScopes(ofToken: readonly Scope[], ofGrant: readonly Scope[]): Scope[] {
  const held = ofToken.map((scope) => (scope === "kb:admin" && !ofGrant.includes(scope) ? "kb:api" : scope));
  return [...new Set(held)].filter((scope) => ofGrant.includes(scope));
}

function readScopes(text: unknown): Scope[] {
  return typeof text === "string" && text !== "" ? text.split(" ").map((scope) => Scope.parse(scope)) : [];
}
