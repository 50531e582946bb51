/**
 * People's own accounts at other services, which identify them there and which connectors read with. Source:
 * docs/accounts.md.
 */
import { idSchema, Timestamp } from "./common.ts";
import { answer, body, createRoute, problemAnswer, problems, z } from "./route.ts";

/** Where `callback` leads: `<returnTo>?account=connected`, or `?account=failed&reason=` with one of these. */
export const AccountProblem = z.enum([
  /** The person, or the provider, refused. */
  "denied",
  /** The flow took over 10 minutes, was already used, or began in another session. */
  "expired",
  /** The provider's answer is invalid. */
  "failed",
  /** The provider can't be reached, or doesn't accept this server's client. */
  "unavailable",
  /** Someone else in the workspace is this user of the provider. */
  "taken",
  /** Another account than the one to be reconnected. */
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
  /** The name by which the person recognizes it. */
  label: z.string(),
  scopes: z.array(z.string()),
  /** `needs_reauth`: the provider no longer accepts it, and its person must reconnect it. */
  state: z.enum(["active", "needs_reauth"]),
  /** When its access token expires; null = it doesn't, or the provider doesn't say. It is renewed before. */
  expiresAt: Timestamp.nullable(),
});

export const Account = AccountSummary.extend({
  providerId: ProviderId,
  providerName: z.string(),
  /** The instance of the account. */
  baseUrl: z.string(),
  login: z.string().nullable(),
  /** Their principal in access lists. */
  principal: z.string(),
  stateReason: z.string().nullable(),
  /** Connected at the provider, or with a token that the person made there. */
  way: z.enum(["oauth", "token"]),
  /** When the provider last confirmed the person's identity. */
  confirmedAt: Timestamp,
  /** Whether it gives them access to items that this user may read there. */
  isLinked: z.boolean(),
  /** Connectors that read with it. */
  connectors: z.array(z.object({ id: idSchema("connector"), name: z.string() })),
  createdAt: Timestamp,
}).openapi("Account");
export type Account = z.infer<typeof Account>;

export const AccountProviderInfo = z
  .object({
    providerId: ProviderId,
    name: z.string(),
    /** Whether the operator has registered this server there, so that people can connect. */
    configured: z.boolean(),
    /** Where people are sent; null until an instance was named. */
    baseUrl: z.string().nullable(),
    /** The scopes that this server requests there. */
    scopes: z.array(z.string()),
    /** How to create a token of one's own there, at which instances, and on which page of each; null = it takes none. */
    ownTokens: z
      .object({
        steps: z.string(),
        instances: z.array(z.object({ baseUrl: z.string(), url: z.string().nullable() })),
      })
      .nullable(),
    /** The operator's steps there, with the address for the redirect URL; null = it takes only tokens. */
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
    /** The redirect URL that the operator enters at the provider; null where people connect only with tokens. */
    redirectUrl: z.string().nullable(),
  })
  .openapi("AccountStatus");
export type AccountStatus = z.infer<typeof AccountStatus>;

/** The person found at the provider, before the account is stored. */
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
export type FoundAccount = z.infer<typeof FoundAccount>;

const ReturnTo = z.string().max(2_000);

export const AddAccountBody = z.strictObject({
  providerId: ProviderId,
  /** A registered instance; default: the one of the settings, or the only one. */
  baseUrl: z.string().max(2_000).optional(),
  /** The account to reconnect, at its own instance: a token of another one is refused. */
  accountId: AccountId.optional(),
  credentials: z.strictObject({ token: z.string().min(1).max(8_192) }),
});
export type AddAccountBody = z.infer<typeof AddAccountBody>;

export const AuthorizeAccountBody = z.strictObject({
  returnTo: ReturnTo.optional(),
  /** The account to reconnect: another one is refused. */
  accountId: AccountId.optional(),
});
export type AuthorizeAccountBody = z.infer<typeof AuthorizeAccountBody>;

const Found = z.strictObject({ id: z.string().min(1).max(200) });

const authorizing = {
  request: { query: z.object({ returnTo: ReturnTo.optional() }) },
  responses: { 302: { description: "Redirect to the page that says what will be connected, and asks" } },
} as const;

const callingBack = {
  request: { query: z.looseObject({ state: z.string().max(500).optional(), code: z.string().max(4_000).optional() }) },
  responses: { 302: { description: "Redirect to `returnTo` with `account=connected` or `account=failed`" } },
} as const;

const status = answer("Whether it is set up, and your accounts there; never a token", AccountStatus);

export const accountRoutes = {
  fixedAuthorize: createRoute({
    method: "get",
    path: "/api/oauth/{provider}/authorize",
    summary: "Connect an account at GitHub, Google or Slack",
    request: { ...authorizing.request, params: z.object({ provider: FixedProvider }) },
    responses: { ...authorizing.responses, default: problemAnswer },
  }),
  fixedCallback: createRoute({
    method: "get",
    path: "/api/oauth/{provider}/callback",
    summary: "Return from GitHub, Google or Slack",
    request: { ...callingBack.request, params: z.object({ provider: FixedProvider }) },
    responses: { ...callingBack.responses, default: problemAnswer },
  }),
  fixedStatus: createRoute({
    method: "get",
    path: "/api/oauth/{provider}/status",
    summary: "Get your accounts at GitHub, Google or Slack",
    request: { params: z.object({ provider: FixedProvider }) },
    responses: { 200: status, default: problemAnswer },
  }),
  authorize: createRoute({
    method: "get",
    path: "/api/accounts/{provider}/authorize",
    summary: "Connect an account at another provider",
    request: { ...authorizing.request, params: z.object({ provider: ProviderId }) },
    responses: { ...authorizing.responses, default: problemAnswer },
  }),
  callback: createRoute({
    method: "get",
    path: "/api/accounts/{provider}/callback",
    summary: "Return from another provider",
    request: { ...callingBack.request, params: z.object({ provider: ProviderId }) },
    responses: { ...callingBack.responses, default: problemAnswer },
  }),
  status: createRoute({
    method: "get",
    path: "/api/accounts/{provider}/status",
    summary: "Get your accounts at another provider",
    request: { params: z.object({ provider: ProviderId }) },
    responses: { 200: status, default: problemAnswer },
  }),
  begin: createRoute({
    method: "post",
    path: "/api/accounts/{provider}/authorize",
    summary: "Connect an account; returns the provider's address to open",
    request: { params: z.object({ provider: ProviderId }), body: body(AuthorizeAccountBody) },
    responses: {
      200: answer("The address to open", z.object({ url: z.string() })),
      default: problems("account_provider_not_configured"),
    },
  }),
  list: createRoute({
    method: "get",
    path: "/api/accounts",
    summary: "List your accounts, and where you can connect one",
    responses: {
      200: answer("All of them", z.object({ accounts: z.array(Account), providers: z.array(AccountProviderInfo) })),
      default: problemAnswer,
    },
  }),
  add: createRoute({
    method: "post",
    path: "/api/accounts",
    summary: "Connect an account with a token that you created at the provider",
    request: { body: body(AddAccountBody) },
    responses: {
      201: answer("The account", z.object({ account: Account })),
      default: problems(
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
      ),
    },
  }),
  found: createRoute({
    method: "post",
    path: "/api/accounts/found",
    summary: "Get the person found at the provider, before you connect",
    request: { body: body(Found) },
    responses: {
      200: answer("The person found at the provider", z.object({ found: FoundAccount })),
      default: problems("link_invalid"),
    },
  }),
  confirm: createRoute({
    method: "post",
    path: "/api/accounts/confirm",
    summary: "Confirm or reject the person found at the provider",
    request: { body: body(Found.extend({ isAccepted: z.boolean() })) },
    responses: {
      200: answer(
        "The account, and where to go on",
        z.object({ account: z.union([Account, z.null()]), returnTo: z.string() }),
      ),
      default: problems("link_invalid", "account_taken"),
    },
  }),
  disconnect: createRoute({
    method: "delete",
    path: "/api/accounts/{id}",
    summary: "Disconnect one of your accounts: its tokens are revoked, and connectors on it stop",
    request: { params: z.object({ id: AccountId }) },
    responses: { 204: { description: "Disconnected" }, default: problemAnswer },
  }),
};
