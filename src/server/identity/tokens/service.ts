import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import { wireForm } from "#server/http/wire-form.ts";
import type { Parts } from "#storage/records/parts.ts";
import type { MemberHandlers } from "#server/http/mount.ts";
import { makeId, type Scope } from "#api/common.ts";
import { ApiError, noSuchThing, forbidden } from "#api/errors.ts";
import { Token, type tokenRoutes } from "#api/tokens.ts";
import { hashSecret, isWellFormedSecret, mintSecret } from "#core/secrets.ts";
import type { Actor, ConnectorCaller } from "#storage/access/actor.ts";
import { actOn } from "#storage/audit-act.ts";
import type { QuotaKeeper } from "#server/identity/workspaces/quotas.ts";
import { isoOf } from "#core/instant.ts";
import type { TokenRecord } from "#storage/records/tokens.ts";
import { unlessUnwritable } from "#storage/unless-unwritable.ts";
import type { Store } from "#storage/records/store.ts";

const MAX_ACTIVE_TOKENS = 50;
const DAY_MS = 86_400_000;
/** How recent a sign-in must be to create a token, in milliseconds. Source: S26. */
const RECENT_SIGN_IN_MS = 12 * 3_600_000;
/** `lastUsedAt` is written on the first use, and then at most once in this many milliseconds. */
const LAST_USED_STEP_MS = 5 * 60_000;

/** Maximum lifetime of a token made by an OAuth client. Source: S28. */
const MAX_CHILD_DAYS = 30;

/** The limits that a credential sets for the tokens that it makes. */
interface TokenLimits {
  grantId: string | null;
  scopes: readonly Scope[];
  authenticatedAt: number | undefined;
  maxDays: number | undefined;
}

/** Makes the service for personal access tokens. Source: requirements `pat:*`, `pat-state:*`, `pat-route:*`. */
export function makeTokenService(
  options: Pick<Parts, "store" | "clock" | "randomBytes"> & {
    audit: AuditRecorder;
    quotas: QuotaKeeper;
    baseUrl: string;
  },
) {
  const { store, clock, randomBytes, audit, quotas } = options;
  const mcpUrl = `${options.baseUrl}/mcp`;

  /** The limits that the creating credential sets for a token. Source: S26, S28. */
  async function limitsOf(actor: Actor): Promise<TokenLimits> {
    const { credential } = actor;
    if (credential.type === "session") {
      const session = await store.sessions.find(credential.id);
      return { grantId: null, scopes: actor.scopes, authenticatedAt: session?.authenticatedAt, maxDays: undefined };
    }
    const grant =
      credential.type === "oauth" ? await store.in(actor.workspaceId).grants.find(credential.id) : undefined;
    if (!grant || grant.isDevice) {
      throw forbidden(
        "A login with a device code can't create tokens. Sign in with a browser, or create one in Settings.",
      );
    }
    return {
      grantId: grant.grantId,
      scopes: grant.scopes.filter((scope) => scope !== "kb:admin"),
      authenticatedAt: grant.authenticatedAt,
      maxDays: MAX_CHILD_DAYS,
    };
  }

  function requireRecentSignIn({ authenticatedAt }: TokenLimits): void {
    if (authenticatedAt !== undefined && clock.now() - authenticatedAt <= RECENT_SIGN_IN_MS) return;
    throw new ApiError("recent_sign_in_required", {
      message: "You can create a token within 12 hours of signing in.",
      hint: "Sign in again: kb login",
    });
  }

  /** Finds the person's own active token. The error is the same for every other token. */
  async function findOwn(tx: Store, actor: Actor, tokenId: string): Promise<TokenRecord> {
    const record = await tx.in(actor.workspaceId).tokens.find(tokenId);
    if (!record || record.userId !== actor.userId) throw noSuchThing();
    return record;
  }

  const handlers: MemberHandlers<typeof tokenRoutes> = {
    /** Lists the person's active tokens, the newest first, at most 50. */
    async list({ actor }) {
      const records = await store.in(actor.workspaceId).tokens.listActive(actor.userId, clock.now());
      return { tokens: records.map((record) => toToken(record, clock.now())), mcpUrl };
    },

    /**
     * Creates a token within 12 hours of signing in. It can be made in a session, or by the command line's sign-in as a
     * child of that sign-in. A child token has at most the scopes of its grant, never `kb:admin`, and ends after 30
     * days or with the grant.
     *
     * @throws ApiError `insufficient_scope`, `forbidden`, `recent_sign_in_required`, `token_limit_reached`
     */
    async create({ actor, body }) {
      const scopes = [...new Set(body.scopes ?? (["mcp:read"] satisfies Scope[]))];
      const standing = await limitsOf(actor);
      requireHeldScopes(standing, scopes);
      requireRecentSignIn(standing);
      const days = daysOf(standing, body.expiresInDays);
      const { plaintext, hash, shown } = mintSecret("kb_pat_", randomBytes);
      const createdAt = clock.now();
      const record: TokenRecord = {
        tokenId: makeId("token", randomBytes),
        workspaceId: actor.workspaceId,
        userId: actor.userId,
        name: body.name,
        prefix: shown,
        scopes,
        createdAt,
        lastUsedAt: null,
        expiresAt: days === undefined ? null : addDays(createdAt, days),
        revokedAt: null,
        grantId: standing.grantId,
      };
      await store.transaction(async (tx) => {
        const { tokens } = tx.in(actor.workspaceId);
        if ((await tokens.listActive(actor.userId, createdAt)).length >= MAX_ACTIVE_TOKENS) throw limitReached();
        await quotas.requireRoom(tx, actor.workspaceId, "tokens");
        await tokens.insert({ ...record, hash });
        const details = { scopes, ...(standing.grantId !== null && { grantId: standing.grantId }) };
        await audit.record(tx, actor, actOn(record.tokenId, "token.created", details));
      });
      return { token: toToken(record, clock.now()), plaintext, mcpUrl };
    },

    /**
     * Revokes a token. Repeating it has the same result.
     *
     * @throws ApiError `not_found`, also for another person's token
     */
    async revoke({ actor, params: { id: tokenId } }) {
      return store.transaction(async (tx) => {
        const shown = toToken(await findOwn(tx, actor, tokenId), clock.now());
        if (shown.revokedAt !== null) return { token: shown };
        const revokedAt = clock.now();
        await tx.in(actor.workspaceId).tokens.revoke(tokenId, revokedAt);
        await audit.record(tx, actor, actOn(tokenId, "token.revoked"));
        return { token: { ...shown, revokedAt: isoOf(revokedAt) } };
      });
    },

    /** Detaches a token from the client that made it. @throws ApiError `not_found`, also for another person's token */
    async adopt({ actor, params: { id: tokenId } }) {
      return store.transaction(async (tx) => {
        const record = await findOwn(tx, actor, tokenId);
        const shown = toToken(record, clock.now());
        if (shown.revokedAt !== null) throw noSuchThing();
        if (record.grantId === null) return { token: shown };
        await tx.in(actor.workspaceId).tokens.adopt(tokenId);
        const details = { grantId: record.grantId };
        await audit.record(tx, actor, actOn(tokenId, "token.adopted", details));
        return { token: { ...shown, grantId: null } };
      });
    },
  };

  return {
    ...handlers,
    /**
     * Returns the current actor of a token. Undefined if the token is unknown, expired or revoked. Writes `lastUsedAt`.
     */
    async findActor(secret: string): Promise<Actor | undefined> {
      if (!isWellFormedSecret("kb_pat_", secret)) return undefined;
      const found = await store.tokenLookup.findToken(hashSecret(secret), clock.now());
      if (!found || toToken(found, clock.now()).revokedAt !== null) return undefined;
      const staleAt = clock.now() - LAST_USED_STEP_MS;
      if (found.lastUsedAt === null || found.lastUsedAt <= staleAt) {
        await unlessUnwritable(store.in(found.workspaceId).tokens.markUsed(found.tokenId, clock.now(), staleAt));
      }
      const { workspaceId, userId, role, scopes, timeZone } = found;
      return { workspaceId, userId, role, scopes, timeZone, credential: { type: "pat", id: found.tokenId } };
    },

    /** Finds the connector to which a key currently gives access. */
    async findConnector(secret: string): Promise<ConnectorCaller | undefined> {
      if (!isWellFormedSecret("kb_con_", secret)) return undefined;
      return store.tokenLookup.findConnectorKey(hashSecret(secret), clock.now());
    },
  };
}

/**
 * Returns the token as its owner sees it. An expired token is shown as revoked at its expiry, so that two states are
 * enough.
 */
function toToken(record: TokenRecord, now: number): Token {
  const isExpired = record.expiresAt !== null && record.expiresAt <= now;
  const revokedAt = record.revokedAt ?? (isExpired ? record.expiresAt : null);
  return wireForm(Token, { ...record, revokedAt }, { id: record.tokenId });
}

function requireHeldScopes(standing: Pick<TokenLimits, "scopes">, scopes: readonly Scope[]): void {
  const missing = scopes.find((scope) => !standing.scopes.includes(scope));
  if (missing === undefined) return;
  throw new ApiError("insufficient_scope", {
    message: `You don't have the scope ${missing}, so your tokens can't have it.`,
    field: "scopes",
    details: { scope: missing },
  });
}

/** Days until the token expires. Undefined if it never does. */
function daysOf({ maxDays }: TokenLimits, wanted: number | undefined): number | undefined {
  if (maxDays === undefined || (wanted !== undefined && wanted <= maxDays)) return wanted;
  if (wanted === undefined) return maxDays;
  throw new ApiError("invalid_request", {
    message: `A token that a client creates lasts at most ${maxDays} days. Create a longer one in Settings.`,
    field: "expiresInDays",
  });
}

function addDays(at: number, days: number): number {
  return at + days * DAY_MS;
}

function limitReached(): ApiError {
  return new ApiError("token_limit_reached", {
    message: `You have ${MAX_ACTIVE_TOKENS} active tokens, which is the limit. Revoke one that you no longer use.`,
    hint: "kb tokens list",
  });
}
