import { Scope } from "#api/common.ts";
import { USERS, WORKSPACES } from "./people.ts";
import { table, words } from "./table.ts";

const { text, integer, instant, flag, json, words: wordsOf, oneOf, nullable, hidden } = words;

/** Personal access tokens. */
export const API_TOKENS = table(
  "api_tokens",
  ["workspaceId", "tokenId"],
  {
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
    /** The stored value. After expiry, `expiresAt` is shown instead. */
    revokedAt: nullable(instant),
    /** The OAuth grant with which the token ends; null when a session made or adopted it. Source: S28. */
    grantId: nullable(text),
  },
  {
    deletedWith: [WORKSPACES],
    references: [USERS],
    unique: [["hash"]],
    indexes: {
      api_tokens_by_user: ["workspaceId", "userId", "createdAt"],
      api_tokens_by_grant: ["workspaceId", "grantId"],
    },
  },
);

/** OAuth clients that people allowed in a workspace. */
export const GRANTS = table(
  "grants",
  ["workspaceId", "grantId"],
  {
    workspaceId: text,
    /** Unique across workspaces, because the authorization server knows a grant only by this id. */
    grantId: text,
    userId: text,
    clientId: text,
    clientName: text,
    /** Where the client's redirect leads: a host, or "this computer". */
    place: text,
    scopes: wordsOf(Scope.options),
    isDevice: flag,
    /** When the person last authenticated before deciding. */
    authenticatedAt: instant,
    createdAt: instant,
    lastUsedAt: nullable(instant),
    /** When its last token expires; each refresh extends it. */
    expiresAt: instant,
    revokedAt: nullable(instant),
  },
  {
    deletedWith: [WORKSPACES],
    references: [USERS],
    unique: [["grantId"]],
    indexes: {
      grants_by_user: ["workspaceId", "userId", "createdAt"],
      grants_by_client: { columns: ["clientId"], where: '"revokedAt" is null' },
    },
  },
);

/** Web sessions; each is bound to one workspace. */
export const SESSIONS = table(
  "sessions",
  ["sessionId"],
  {
    sessionId: text,
    tokenHash: hidden(text),
    userId: text,
    workspaceId: text,
    createdAt: instant,
    /** When the person last authenticated. Switching workspaces isn't an authentication. */
    authenticatedAt: instant,
    lastSeenAt: instant,
    /** The absolute end. The end by inactivity follows from `lastSeenAt`. */
    expiresAt: instant,
    revokedAt: nullable(instant),
    userAgent: nullable(text),
    ip: nullable(text),
  },
  {
    references: [WORKSPACES, USERS],
    unique: [["tokenHash"]],
    indexes: { sessions_by_user: ["userId"] },
  },
);

/** Links that were mailed or handed over, for single use. Only their holders know their secrets. */
export const EMAIL_LINKS = table(
  "email_links",
  ["tokenHash"],
  {
    /** SHA-256 of the link's secret, hex. */
    tokenHash: hidden(text),
    purpose: oneOf(["sign_up", "verification", "email_change", "password_reset"]),
    /** Null for a sign-up, because the user doesn't exist yet. */
    userId: nullable(text),
    /** The address that the link verifies, or the address of the account. */
    email: text,
    /** True when this server sent the link to `email`. Only then does it verify the address. Source: S3. */
    isMailed: flag,
    /** Data for the purpose. */
    details: json<Record<string, unknown>>(),
    createdAt: instant,
    expiresAt: instant,
    usedAt: hidden(nullable(instant)),
  },
  {
    references: [USERS],
    indexes: { email_links_by_user: ["userId", "purpose"], email_links_due: ["expiresAt"] },
  },
);

/** OAuth clients that registered themselves. */
export const OAUTH_CLIENTS = table("oauth_clients", ["clientId"], {
  clientId: text,
  metadata: json<Record<string, unknown>>(),
  /** The address from which the client registered. */
  ip: nullable(text),
  createdAt: instant,
  lastUsedAt: nullable(instant),
});

/** The last valid copies of clients' metadata documents, which were fetched from their identifiers. */
export const CLIENT_DOCUMENTS = table("client_documents", ["clientId"], {
  /** The client's identifier, which is an https address. */
  clientId: text,
  metadata: json<Record<string, unknown>>(),
  /** When the document was last read. */
  readAt: instant,
  /** The time at which the client's address first responded that it isn't a client; null = it hasn't. */
  deniedSince: nullable(instant),
  /** The time at which the address had responded so twice; null = the client may be used. */
  endedAt: nullable(instant),
});

/** Records of the authorization server: codes, tokens, grants, interactions, device codes. */
export const OAUTH_RECORDS = table(
  "oauth_records",
  ["model", "idHash"],
  {
    model: text,
    /** SHA-256 of the identifier. For codes and tokens, the identifier is the secret itself. */
    idHash: text,
    /** JSON, sealed by the vault. */
    sealed: text,
    grantId: nullable(text),
    userCodeHash: nullable(text),
    consumedAt: nullable(instant),
    expiresAt: nullable(instant),
  },
  {
    indexes: {
      oauth_records_by_grantId: { columns: ["grantId"], where: '"grantId" is not null' },
      oauth_records_by_userCodeHash: { columns: ["userCodeHash"], where: '"userCodeHash" is not null' },
      oauth_records_by_expiresAt: { columns: ["expiresAt"], where: '"expiresAt" is not null' },
    },
  },
);

/** A person's identity at the single sign-on provider, by (issuer, subject), never by address. */
export const SSO_IDENTITIES = table(
  "sso_identities",
  ["issuer", "subject"],
  {
    issuer: text,
    subject: text,
    userId: text,
    /** A text by which the person recognizes the identity. */
    label: text,
    createdAt: instant,
  },
  { references: [USERS], indexes: { sso_identities_by_user: ["userId"] } },
);

/** Redirects to the single sign-on provider. */
export const SSO_FLOWS = table("sso_flows", ["stateHash"], {
  stateHash: text,
  /** SHA-256 of the cookie that binds the flow to a browser. */
  browserHash: text,
  /** The session to which the identity is linked; null for a sign-in. */
  sessionId: nullable(text),
  /** Verifier and nonce, sealed by the vault. */
  sealed: text,
  returnTo: text,
  createdAt: instant,
  expiresAt: instant,
});

/** Answers to requests that create something, kept for retries. */
export const IDEMPOTENCY_RECORDS = table(
  "idempotency_records",
  ["keyHash"],
  {
    /** SHA-256 over workspace, actor, credential, route and header. */
    keyHash: text,
    bodyHash: text,
    /** Null while the first request runs, or permanently if the server died during it. */
    status: nullable(integer),
    /** JSON; null for an answer that contained a secret. */
    answer: nullable(text),
    /** Id of the created object. */
    targetId: nullable(text),
    createdAt: instant,
    expiresAt: instant,
  },
  { indexes: { idempotency_records_due: ["expiresAt"] } },
);
