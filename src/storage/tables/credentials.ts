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
    /** As stored; at expiry what is shown is `expiresAt`. */
    revokedAt: nullable(instant),
    /** The OAuth grant it dies with; null when a session made or adopted it. Source: S28. */
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

/** OAuth clients that people let into a workspace. */
export const GRANTS = table(
  "grants",
  ["workspaceId", "grantId"],
  {
    workspaceId: text,
    /** Unique across workspaces: the authorization server knows a grant by it alone. */
    grantId: text,
    userId: text,
    clientId: text,
    clientName: text,
    /** Where the client's redirect goes: a host, or "this computer". */
    place: text,
    scopes: wordsOf(Scope.options),
    isDevice: flag,
    /** When the person last authenticated before deciding. */
    authenticatedAt: instant,
    createdAt: instant,
    lastUsedAt: nullable(instant),
    /** When its last token ends; each refresh moves it. */
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
    /** When the person last proved who they are; switching workspaces does not count. */
    authenticatedAt: instant,
    lastSeenAt: instant,
    /** The absolute end; the idle end follows from `lastSeenAt`. */
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

/** Links that were mailed or handed over; single use. Their secrets are known to their holders only. */
export const EMAIL_LINKS = table(
  "email_links",
  ["tokenHash"],
  {
    /** SHA-256 of the link's secret, hex. */
    tokenHash: hidden(text),
    purpose: oneOf(["sign_up", "verification", "email_change", "password_reset"]),
    /** Null for a sign-up: the user doesn't exist yet. */
    userId: nullable(text),
    /** The address that the link verifies, or the account's address. */
    email: text,
    /** True when this server sent it to `email`: only then does it verify the address. Source: S3. */
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

/** Clients that registered themselves. */
export const OAUTH_CLIENTS = table("oauth_clients", ["clientId"], {
  clientId: text,
  metadata: json<Record<string, unknown>>(),
  /** Where it registered from. */
  ip: nullable(text),
  createdAt: instant,
  lastUsedAt: nullable(instant),
});

/** The last good copies of clients' metadata documents, fetched from their identifiers. */
export const CLIENT_DOCUMENTS = table("client_documents", ["clientId"], {
  /** An https address. */
  clientId: text,
  metadata: json<Record<string, unknown>>(),
  /** When the document was last read. */
  readAt: instant,
  /** Since when the client's address has denied being one; null = it doesn't. */
  deniedSince: nullable(instant),
  /** When it had denied it twice; null = it may be used. */
  endedAt: nullable(instant),
});

/** Records of the authorization server: codes, tokens, grants, interactions, device codes. */
export const OAUTH_RECORDS = table(
  "oauth_records",
  ["model", "idHash"],
  {
    model: text,
    /** SHA-256 of the identifier, which for codes and tokens is the secret itself. */
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

/** A person's identity at the single sign-on provider: by (issuer, subject), never by address. */
export const SSO_IDENTITIES = table(
  "sso_identities",
  ["issuer", "subject"],
  {
    issuer: text,
    subject: text,
    userId: text,
    /** By which the person recognises it. */
    label: text,
    createdAt: instant,
  },
  { references: [USERS], indexes: { sso_identities_by_user: ["userId"] } },
);

/** One redirect to the single sign-on provider. */
export const SSO_FLOWS = table("sso_flows", ["stateHash"], {
  stateHash: text,
  /** SHA-256 of the cookie that binds the flow to a browser. */
  browserHash: text,
  /** The session to link; null for a sign-in. */
  sessionId: nullable(text),
  /** Verifier and nonce, sealed by the vault. */
  sealed: text,
  returnTo: text,
  createdAt: instant,
  expiresAt: instant,
});

/** Answers to creates, kept for retries. */
export const IDEMPOTENCY_RECORDS = table(
  "idempotency_records",
  ["keyHash"],
  {
    /** SHA-256 over workspace, actor, credential, route and header. */
    keyHash: text,
    bodyHash: text,
    /** Null while the first request runs, or for ever when the server died over it. */
    status: nullable(integer),
    /** JSON; null for an answer that held a secret. */
    answer: nullable(text),
    /** Id of the created object. */
    targetId: nullable(text),
    createdAt: instant,
    expiresAt: instant,
  },
  { indexes: { idempotency_records_due: ["expiresAt"] } },
);
