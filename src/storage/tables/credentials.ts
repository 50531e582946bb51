import { Scope } from "#api/common.ts";
import { table, words } from "./table.ts";

const { text, instant, flag, words: wordsOf, nullable, hidden } = words;

/** Personal access tokens. */
export const API_TOKENS = table("api_tokens", ["workspaceId", "tokenId"], {
  workspaceId: text,
  tokenId: text,
  userId: text,
  name: text,
  prefix: text,
  /** SHA-256 of the plaintext, hex. */
  hash: hidden(text),
  scopes: wordsOf(Scope.options),
  createdAt: instant,
  lastUsedAt: nullable(instant),
  expiresAt: nullable(instant),
  /** As stored; at expiry what is shown is `expiresAt`. */
  revokedAt: nullable(instant),
  /** The OAuth grant it dies with; null when a session made or adopted it. Source: S28. */
  grantId: nullable(text),
});

/** OAuth clients that people let into a workspace. */
export const GRANTS = table("grants", ["workspaceId", "grantId"], {
  workspaceId: text,
  /** Unique across workspaces: the authorization server knows a grant by it alone. */
  grantId: text,
  userId: text,
  clientId: text,
  clientName: text,
  /** Where the client is sent back to: a host, or "this computer". */
  place: text,
  scopes: wordsOf(Scope.options),
  isDevice: flag,
  /** When the person last proved themselves before deciding. */
  authenticatedAt: instant,
  createdAt: instant,
  lastUsedAt: nullable(instant),
  /** When its last token ends; each refresh moves it. */
  expiresAt: instant,
  revokedAt: nullable(instant),
});
