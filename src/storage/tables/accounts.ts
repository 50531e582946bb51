import { table, words } from "./table.ts";

const { text, integer, instant, json, oneOf, nullable, hidden } = words;

/** People's own accounts at other services. */
export const PROVIDER_ACCOUNTS = table(
  "provider_accounts",
  ["workspaceId", "accountId"],
  {
    accountId: text,
    userId: text,
    providerId: text,
    /** The instance, as `normalizeBaseUrl` writes it. */
    baseUrl: text,
    /** Who they are there. */
    principal: text,
    label: text,
    login: nullable(text),
    scopes: json<readonly string[]>(),
    /** Connected at the provider, or by a token that the person made there. */
    way: oneOf(["oauth", "token"]),
    /** The tokens, sealed by the vault. */
    sealed: text,
    /** Counts the tokens it has had. */
    version: integer,
    /** When the access token ends; null = it does not, or the provider didn't say. */
    expiresAt: nullable(instant),
    /** Who is renewing the tokens, and until when they hold the lock. */
    lockedBy: hidden(nullable(text)),
    lockedUntil: hidden(nullable(instant)),
    /** `ended`: no longer anyone's account; its tokens are still to be revoked at the provider. */
    state: oneOf(["active", "needs_reauth", "ended"]),
    stateReason: nullable(text),
    /** When the provider last said who it is. */
    confirmedAt: instant,
    /** When the provider is asked next; null = not until someone connects it again. */
    dueAt: nullable(instant),
    /** Failed tries to ask since. */
    tries: integer,
    createdAt: instant,
  },
  {
    indexes: {
      // A user of a source is one person in a workspace.
      provider_accounts_by_principal: {
        columns: ["workspaceId", "principal"],
        where: `"state" != 'ended'`,
        isUnique: true,
      },
      provider_accounts_by_user: ["workspaceId", "userId"],
      provider_accounts_due: ["dueAt"],
    },
  },
);

/** A redirect to a provider, and the account found there until the person confirms it. */
export const ACCOUNT_FLOWS = table(
  "account_flows",
  ["flowHash"],
  {
    /** SHA-256 of the state, or of the id that the page has. */
    flowHash: text,
    workspaceId: text,
    userId: text,
    sessionId: text,
    /** Of a connection's, its ID. */
    providerId: text,
    /** Of an account; of a connection. */
    stage: oneOf(["away", "found", "intent", "intent_away", "intent_found", "elicitation"]),
    /** An envelope of the vault. */
    sealed: text,
    returnTo: text,
    createdAt: instant,
    expiresAt: instant,
  },
  { indexes: { account_flows_due: ["expiresAt"] } },
);
