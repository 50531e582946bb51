import { makeId, type Scope } from "#api/common.ts";
import { ApiError, noSuchThing } from "#api/errors.ts";
import type { CreatedToken, CreateTokenBody, Token, TokenList } from "#api/tokens.ts";
import { hashSecret, isWellFormedSecret, mintSecret } from "#server/http/secrets.ts";
import type { Actor, ConnectorCaller } from "#server/ports/actor.ts";
import type { AuditRecorder } from "#server/ports/audit.ts";
import type { Clock, RandomBytes } from "#server/ports/clock.ts";
import type { Store } from "#server/ports/store.ts";
import type { TokenRecord } from "#server/ports/store/tokens.ts";

export interface TokenService {
  /** The person's active tokens, newest first, at most 50. */
  list(actor: Actor): Promise<TokenList>;
  /**
   * A new token. Only a session that was signed in within 12 hours makes one.
   *
   * @throws ApiError `insufficient_scope`, `recent_sign_in_required`, `token_limit_reached`
   */
  create(actor: Actor, body: CreateTokenBody): Promise<CreatedToken>;
  /** Revokes; again gives the same answer. @throws ApiError `not_found`, also for another person's token */
  revoke(actor: Actor, tokenId: string): Promise<{ token: Token }>;
  /** Who a token is for now; undefined for an unknown, expired or revoked one. Writes `lastUsedAt`. */
  findActor(secret: string): Promise<Actor | undefined>;
  /** Whose connector a key opens now. */
  findConnector(secret: string): Promise<ConnectorCaller | undefined>;
}

const MAX_ACTIVE_TOKENS = 50;
const DAY_MS = 86_400_000;
/** How fresh a sign-in must be to mint. Source: S26. */
const RECENT_SIGN_IN_MS = 12 * 3_600_000;
/** `lastUsedAt` is written on the first use, then at most this often. */
const LAST_USED_STEP_MS = 5 * 60_000;

/** Personal access tokens. Source: contract §§2.1, 3, 4.3; design page "api", Personal access tokens. */
export function makeTokenService(options: {
  store: Store;
  clock: Clock;
  randomBytes: RandomBytes;
  audit: AuditRecorder;
  baseUrl: string;
}): TokenService {
  const { store, clock, randomBytes, audit } = options;
  const mcpUrl = `${options.baseUrl}/mcp`;
  const now = () => new Date(clock.now());

  async function requireRecentSignIn(actor: Actor): Promise<void> {
    const session = actor.credential.type === "session" ? await store.sessions.find(actor.credential.id) : undefined;
    if (session && clock.now() - session.authenticatedAt.getTime() <= RECENT_SIGN_IN_MS) return;
    throw new ApiError("recent_sign_in_required", {
      message: "A token can be made within 12 hours of signing in.",
      hint: "Sign in again: kb login",
    });
  }

  return {
    async list(actor) {
      const records = await store.in(actor.workspaceId).tokens.listActive(actor.userId, now());
      return { tokens: records.map((record) => toToken(record, clock.now())), mcpUrl };
    },

    async create(actor, body) {
      const scopes = [...new Set(body.scopes ?? (["mcp:read"] satisfies Scope[]))];
      requireHeldScopes(actor, scopes);
      await requireRecentSignIn(actor);
      const { plaintext, hash, shown } = mintSecret("kb_pat_", randomBytes);
      const createdAt = now();
      const record: TokenRecord = {
        tokenId: makeId("token", randomBytes),
        workspaceId: actor.workspaceId,
        userId: actor.userId,
        name: body.name,
        prefix: shown,
        scopes,
        createdAt,
        lastUsedAt: null,
        expiresAt: body.expiresInDays === undefined ? null : addDays(createdAt, body.expiresInDays),
        revokedAt: null,
        grantId: null,
      };
      await store.transaction(async (tx) => {
        const { tokens } = tx.in(actor.workspaceId);
        if ((await tokens.listActive(actor.userId, createdAt)).length >= MAX_ACTIVE_TOKENS) throw limitReached();
        await tokens.insert({ ...record, hash });
        const target = { type: "token", id: record.tokenId };
        await audit.record(tx, actor, { action: "token.created", target, details: { scopes } });
      });
      return { token: toToken(record, clock.now()), plaintext, mcpUrl };
    },

    async revoke(actor, tokenId) {
      return store.transaction(async (tx) => {
        const { tokens } = tx.in(actor.workspaceId);
        const record = await tokens.find(tokenId);
        if (!record || record.userId !== actor.userId) throw noSuchThing();
        const shown = toToken(record, clock.now());
        if (shown.revokedAt !== null) return { token: shown };
        const revokedAt = now();
        await tokens.revoke(tokenId, revokedAt);
        await audit.record(tx, actor, { action: "token.revoked", target: { type: "token", id: tokenId } });
        return { token: { ...shown, revokedAt: revokedAt.toISOString() } };
      });
    },

    async findActor(secret) {
      if (!isWellFormedSecret("kb_pat_", secret)) return undefined;
      const found = await store.tokenLookup.findToken(hashSecret(secret), now());
      if (!found || toToken(found, clock.now()).revokedAt !== null) return undefined;
      const staleAt = clock.now() - LAST_USED_STEP_MS;
      if (found.lastUsedAt === null || found.lastUsedAt.getTime() <= staleAt) {
        await store.in(found.workspaceId).tokens.markUsed(found.tokenId, now(), new Date(staleAt));
      }
      const { workspaceId, userId, role, scopes, timeZone } = found;
      return { workspaceId, userId, role, scopes, timeZone, credential: { type: "pat", id: found.tokenId } };
    },

    async findConnector(secret) {
      if (!isWellFormedSecret("kb_con_", secret)) return undefined;
      return store.tokenLookup.findConnectorKey(hashSecret(secret), now());
    },
  };
}

/** The token as its owner sees it: at expiry it counts as revoked at that moment, so that two states suffice. */
function toToken(record: TokenRecord, now: number): Token {
  const isExpired = record.expiresAt !== null && record.expiresAt.getTime() <= now;
  const revokedAt = record.revokedAt ?? (isExpired ? record.expiresAt : null);
  return {
    id: record.tokenId,
    name: record.name,
    prefix: record.prefix,
    createdAt: record.createdAt.toISOString(),
    lastUsedAt: record.lastUsedAt?.toISOString() ?? null,
    revokedAt: revokedAt?.toISOString() ?? null,
    scopes: record.scopes,
    expiresAt: record.expiresAt?.toISOString() ?? null,
  };
}

function requireHeldScopes(actor: Actor, scopes: readonly Scope[]): void {
  const missing = scopes.find((scope) => !actor.scopes.includes(scope));
  if (missing === undefined) return;
  throw new ApiError("insufficient_scope", {
    message: `You do not hold the scope ${missing} yourself, so a token of yours can't have it.`,
    field: "scopes",
    details: { scope: missing },
  });
}

function addDays(date: Date, days: number): Date {
  return new Date(date.getTime() + days * DAY_MS);
}

function limitReached(): ApiError {
  return new ApiError("token_limit_reached", {
    message: `You have ${MAX_ACTIVE_TOKENS} active tokens, which is the limit. Revoke one you no longer use.`,
    hint: "kb tokens list",
  });
}
