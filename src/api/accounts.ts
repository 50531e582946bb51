/**
 * People's own accounts at other services, which identify them there and which connectors read with. Source:
 * docs/accounts.md.
 */
import { byId, idSchema, ProviderReturn, ReturnTo, Timestamp } from "./common.ts";
import { answer, del, get, post, z } from "./route.ts";

/**
 * The reason in `<returnTo>?account=failed&reason=`, the address that `callback` redirects to after a failure. After a success, it redirects to
 * `<returnTo>?account=connected`.
 */
export const AccountProblem = z.enum([
  /** The person or the provider refused. */
  "denied",
  /** The flow took over 10 minutes, was already used, or began in another session. */
  "expired",
  /** The provider's answer is invalid. */
  "failed",
  /** The provider can't be reached, or doesn't accept this server's client. */
  "unavailable",
  /** Another member of the workspace is already linked to this user of the provider. */
  "taken",
  /** The account isn't the one that was to be reconnected. */
  "other_account",
]);
export type AccountProblem = z.infer<typeof AccountProblem>;

const AccountId = idSchema("account");
const ProviderId = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/, "Expected a provider such as gitea")
  .openapi({ example: "gitea" });
const FixedProvider = z.enum(["github", "google", "slack"]);

const AccountSummary = z.object({
  id: AccountId,
  /** The name by which the person recognizes the account. */
  label: z.string(),
  scopes: z.array(z.string()),
  /** `needs_reauth`: the provider no longer accepts the account's token, and the person must reconnect the account. */
  state: z.enum(["active", "needs_reauth"]),
  /** When its access token expires; null = it doesn't expire, or the provider doesn't report it. The server renews the token before that. */
  expiresAt: Timestamp.nullable(),
});

export const Account = AccountSummary.extend({
  providerId: ProviderId,
  providerName: z.string(),
  /** The base URL of the account's instance. */
  baseUrl: z.string(),
  login: z.string().nullable(),
  /** The account's principal in access lists. */
  principal: z.string(),
  stateReason: z.string().nullable(),
  /** How it was connected: by signing in at the provider, or with a token that the person created there. */
  way: z.enum(["oauth", "token"]),
  /** When the provider last confirmed the person's identity. */
  confirmedAt: Timestamp,
  /** Whether the account gives its person access to items that this user may read at the provider. */
  isLinked: z.boolean(),
  /** Connectors that read with this account. */
  connectors: z.array(z.object({ id: idSchema("connector"), name: z.string() })),
  createdAt: Timestamp,
}).openapi("Account");
export type Account = z.infer<typeof Account>;

export const AccountProviderInfo = z
  .object({
    providerId: ProviderId,
    name: z.string(),
    /** Whether the operator has registered this server at the provider, so that people can connect. */
    configured: z.boolean(),
    /** Where people are sent to sign in; null until an instance has been named. */
    baseUrl: z.string().nullable(),
    /** The scopes that this server requests at the provider. */
    scopes: z.array(z.string()),
    /**
     * How a person creates a personal token at the provider: at which instances, and on which page of each. Null if the provider doesn't accept
     * personal tokens.
     */
    ownTokens: z
      .object({
        steps: z.string(),
        instances: z.array(z.object({ baseUrl: z.string(), url: z.string().nullable() })),
      })
      .nullable(),
    /** The operator's steps at the provider, with the page where the redirect URL is entered; null if people connect only with tokens. */
    setUp: z
      .object({
        url: z.string().nullable(),
        steps: z.string(),
        redirectUrl: z.string(),
        env: z.array(z.string()),
      })
      .nullable(),
  })
  .openapi("AccountProvider");
export type AccountProviderInfo = z.infer<typeof AccountProviderInfo>;

export const AccountStatus = z
  .object({
    provider: ProviderId,
    configured: z.boolean(),
    connected: z.boolean(),
    accounts: z.array(AccountSummary),
    /** The redirect URL that the operator enters at the provider; null if people connect only with tokens. */
    redirectUrl: z.string().nullable(),
  })
  .openapi("AccountStatus");
export type AccountStatus = z.infer<typeof AccountStatus>;

/** The person found at the provider, shown before the account is stored. */
export const FoundAccount = z
  .object({
    providerId: ProviderId,
    providerName: z.string(),
    baseUrl: z.string(),
    label: z.string(),
    login: z.string().nullable(),
    scopes: z.array(z.string()),
    returnTo: z.string(),
  })
  .openapi("FoundAccount");

const Found = z.strictObject({ id: z.string().min(1).max(200) });

const authorizing = {
  query: { returnTo: ReturnTo.optional() },
  302: { description: "Redirect to the page that shows what will be connected and asks for confirmation" },
};

const callingBack = {
  query: ProviderReturn,
  302: { description: "Redirect to `returnTo` with `account=connected` or `account=failed`" },
};

const status = answer("Whether the provider is set up, and your accounts there, without tokens", AccountStatus);

export const accountRoutes = {
  fixedAuthorize: get("/api/oauth/{provider}/authorize", "Connect an account at GitHub, Google or Slack", {
    ...authorizing,
    params: { provider: FixedProvider },
  }),
  fixedCallback: get("/api/oauth/{provider}/callback", "Return from GitHub, Google or Slack", {
    ...callingBack,
    params: { provider: FixedProvider },
  }),
  fixedStatus: get("/api/oauth/{provider}/status", "Get your accounts at GitHub, Google or Slack", {
    params: { provider: FixedProvider },
    200: status,
  }),
  authorize: get("/api/accounts/{provider}/authorize", "Connect an account at another provider", {
    ...authorizing,
    params: { provider: ProviderId },
  }),
  callback: get("/api/accounts/{provider}/callback", "Return from another provider", {
    ...callingBack,
    params: { provider: ProviderId },
  }),
  status: get("/api/accounts/{provider}/status", "Get your accounts at another provider", {
    params: { provider: ProviderId },
    200: status,
  }),
  begin: post("/api/accounts/{provider}/authorize", "Connect an account; returns the provider's address to open", {
    params: { provider: ProviderId },
    body: z.strictObject({
      returnTo: ReturnTo.optional(),
      /** The account to reconnect. Signing in with another account is refused. */
      accountId: AccountId.optional(),
    }),
    200: answer("The address to open", { url: z.string() }),
    problems: ["account_provider_not_configured"],
  }),
  list: get("/api/accounts", "List your accounts, and where you can connect one", {
    200: answer("All of your accounts", { accounts: z.array(Account), providers: z.array(AccountProviderInfo) }),
  }),
  add: post("/api/accounts", "Connect an account with a token that you created at the provider", {
    body: z.strictObject({
      providerId: ProviderId,
      /** A registered instance; by default the one in the settings, or the only one. */
      baseUrl: z.string().max(2_000).optional(),
      /** The account to reconnect, at its own instance. A token of another account is refused. */
      accountId: AccountId.optional(),
      credentials: z.strictObject({ token: z.string().min(1).max(8_192) }),
    }),
    201: answer("The account", { account: Account }),
    problems: [
      "not_found",
      "provider_unknown",
      "provider_unavailable",
      "instance_not_trusted",
      "account_taken",
      "account_differs",
      "source_unauthorized",
      "source_forbidden",
      "source_not_found",
      "source_gone",
      "source_rate_limited",
      "source_unavailable",
      "address_not_allowed",
    ],
  }),
  found: post("/api/accounts/found", "Get the person found at the provider, before you connect", {
    body: Found,
    200: answer("The person found at the provider", { found: FoundAccount }),
    problems: ["link_invalid"],
  }),
  confirm: post("/api/accounts/confirm", "Confirm or reject the person found at the provider", {
    body: Found.extend({ isAccepted: z.boolean() }),
    200: answer("The account, and the address to continue at", {
      account: z.union([Account, z.null()]),
      returnTo: z.string(),
    }),
    problems: ["link_invalid", "account_taken"],
  }),
  disconnect: del(
    "/api/accounts/{id}",
    "Disconnect one of your accounts: its tokens are revoked, and connectors that use it stop",
    {
      params: byId("account"),
      204: { description: "Disconnected" },
    },
  ),
};
