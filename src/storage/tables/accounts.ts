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
    /** The base URL of the instance, in the form of `normalizeBaseUrl`. */
    baseUrl: text,
    /** The principal of the user at the service. */
    principal: text,
    label: text,
    login: nullable(text),
    scopes: json<readonly string[]>(),
    /** How the account was connected: at the provider, or by a token that the person made there. */
    way: oneOf(["oauth", "token"]),
    /** The tokens, sealed by the vault. */
    sealed: text,
    /** The version of the tokens, which rises with each new ones. */
    version: integer,
    /** When the access token expires; null = it doesn't, or the provider didn't report when. */
    expiresAt: nullable(instant),
    /** Who is renewing the tokens, and until when they hold the lock. */
    lockedBy: hidden(nullable(text)),
    lockedUntil: hidden(nullable(instant)),
    /** `ended`: the account no longer belongs to anyone, and its tokens must still be revoked at the provider. */
    state: oneOf(["active", "needs_reauth", "ended"]),
    stateReason: nullable(text),
    /** When the provider last confirmed which user it is. */
    confirmedAt: instant,
    /** When the provider is asked next; null = not until someone connects the account again. */
    dueAt: nullable(instant),
    /** Failed attempts to ask the provider since then. */
    tries: integer,
    createdAt: instant,
  },
  {
    indexes: {
      // A user of a source is linked to only one person in a workspace.
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

/** A redirect to a provider, and the account that was found there until the person confirms it. */
export const ACCOUNT_FLOWS = table(
  "account_flows",
  ["flowHash"],
  {
    /** SHA-256 of the state, or of the id that the page has. */
    flowHash: text,
    workspaceId: text,
    userId: text,
    sessionId: text,
    /** For a connection's flow, the connection's id. */
    providerId: text,
    /** `away` and `found` belong to an account's flow, the others to a connection's. */
    stage: oneOf(["away", "found", "intent", "intent_away", "intent_found", "elicitation"]),
    /** An envelope of the vault. */
    sealed: text,
    returnTo: text,
    createdAt: instant,
    expiresAt: instant,
  },
  { indexes: { account_flows_due: ["expiresAt"] } },
);
