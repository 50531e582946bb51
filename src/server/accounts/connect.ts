import { defined } from "#core/defined.ts";
import type { MemberCall } from "#server/http/mount.ts";
import type { AccountProblem, accountRoutes } from "#api/accounts.ts";
import { cleanLine } from "#api/clean.ts";
import { ApiError, isApiError, noSuchThing } from "#api/errors.ts";
import { safeReturnTo } from "#api/return-to.ts";
import type { AccountProvider, AccountSecrets, SourceAccount } from "#sources/account-contract.ts";
import type { Actor } from "#storage/access/actor.ts";
import { makeAddress, readAnswer, withQuery } from "./address.ts";
import { type AccountDeps, requireProvider } from "./deps.ts";
import { type FoundFlow, foundOf, type Kept } from "./flows.ts";
import type { OpenedFlow } from "./one-time.ts";
import { principalOf } from "./principal.ts";
import { configured, type ConfiguredProvider, instanceUrlOf, tokenEndpointAt, urlAt } from "./providers.ts";
import { type ProvenAccount, saveAccount, reportRefusal } from "./save.ts";
import { GrantRefused, makeTokenEndpoint } from "./token-endpoint.ts";
import { toAccount } from "./view.ts";

/**
 * The settings page for a person's accounts. It shows which account will be connected, and the account that was found.
 * Source: S30.
 */
export const ACCOUNTS_PAGE = "/settings/accounts";

/** The page of this server that `authorize` redirects to. It asks the person before they go to the provider. */
export function pageBefore(providerId: string, returnTo: string | undefined): string {
  return withQuery(ACCOUNTS_PAGE, { connect: providerId, ...(returnTo !== undefined && { returnTo: safe(returnTo) }) });
}

/**
 * Redirects a person to the provider.
 *
 * @throws ApiError `not_found`, `account_provider_not_configured`
 */
export async function depart(
  deps: AccountDeps,
  { actor, params: { provider: providerId }, body: wish }: MemberCall<typeof accountRoutes.begin>,
) {
  const known = requireProvider(deps.book, providerId);
  const { name, oauth } = known.provider;
  const way = configured(known);
  if (!way) {
    throw new ApiError(
      "account_provider_not_configured",
      oauth
        ? { message: `The operator of this server has not registered it at ${name}.` }
        : { message: `Accounts at ${name} are connected with your own token.`, hint: tokenHint(providerId) },
    );
  }
  const { accountId } = wish;
  if (accountId !== undefined) {
    const account = await deps.store.in(actor.workspaceId).accounts.find(accountId);
    const isTheirs = account?.userId === actor.userId && account.providerId === providerId;
    if (!isTheirs || account.state === "ended") throw noSuchThing();
  }
  const content = { ...makeVerifier(deps, way), ...defined({ accountId }) };
  const state = await deps.flows.goAway(actor, { providerId, returnTo: safe(wish.returnTo), content });
  return { url: makeAddress(way, state, content.verifier) };
}

/**
 * Handles the callback. The page that it redirects to reports errors. The provider's own error text is never shown.
 *
 * @param query the callback's query, unchanged
 * @param actor the person whose session the browser has
 */
export async function arrive(
  deps: AccountDeps,
  actor: Actor | undefined,
  providerId: string,
  query: string,
): Promise<string> {
  const known = configured(requireProvider(deps.book, providerId));
  const answer = readAnswer(query);
  const flow = await deps.flows.comeBack(answer.state, actor);
  if (!flow || !actor || flow.providerId !== providerId || !known) return failed(undefined, "expired");
  const { returnTo, content } = flow;
  try {
    if (answer.isRefused) return failed(returnTo, "denied");
    if (answer.code === undefined || !isIssuer(known, answer.issuer)) return failed(returnTo, "failed");
    const proven = await findOut(deps, known, answer.code, content.verifier);
    return await judge(deps, actor, known, { returnTo, accountId: content.accountId, proven });
  } catch (error) {
    const problem = problemOf(error);
    if (problem === undefined) throw error;
    deps.log.warn({ providerId, problem, error: error instanceof Error ? error.message : "" }, "account");
    return failed(returnTo, problem);
  }
}

/** Returns the person found at the provider, for the confirmation page. @throws ApiError `link_invalid` */
export async function describeFound(
  deps: AccountDeps,
  { actor, body: { id } }: MemberCall<typeof accountRoutes.found>,
) {
  const flow = await deps.flows.readFound(id, actor);
  if (!flow) throw tooLate();
  const { provider } = requireProvider(deps.book, flow.providerId);
  const { label, login, scopes, instance } = flow.content;
  const { baseUrl } = deps.book.placeOf(provider, instance);
  const { providerId, returnTo } = flow;
  return { found: { providerId, providerName: provider.name, baseUrl, label, login, scopes, returnTo } };
}

/** Records whether the person confirms that the account is theirs. @throws ApiError `link_invalid`, `account_taken` */
export async function decideFound(
  deps: AccountDeps,
  { actor, body: { id, isAccepted } }: MemberCall<typeof accountRoutes.confirm>,
) {
  const flow = await deps.flows.takeFound(id, actor);
  if (!flow) throw tooLate();
  const proven = toProven(flow);
  if (!isAccepted) {
    await giveBack(deps, proven);
    return { account: null, returnTo: failed(flow.returnTo, "denied") };
  }
  const account = await saveOrGiveBack(deps, actor, proven);
  return { account: await toAccount(deps, actor, account), returnTo: connected(flow.returnTo) };
}

function makeVerifier({ randomBytes }: AccountDeps, { provider }: ConfiguredProvider): { verifier?: string } {
  return provider.oauth.hasPkce ? { verifier: Buffer.from(randomBytes(32)).toString("base64url") } : {};
}

/** If the provider identifies itself, it must be the provider to which the person was sent. Source: RFC 9207. */
function isIssuer({ provider, place }: ConfiguredProvider, issuer: string | undefined): boolean {
  const expected = provider.oauth.issuer;
  if (issuer === undefined || expected === undefined) return true;
  return urlAt(expected, place) === issuer.replace(/\/$/, "");
}

async function findOut(
  deps: AccountDeps,
  { provider, client, place, redirectUrl }: ConfiguredProvider,
  code: string,
  verifier: string | undefined,
): Promise<ProvenAccount> {
  const { keeper, clock } = deps;
  const at = tokenEndpointAt({ provider, client, place }, () => clock.now());
  const endpoint = makeTokenEndpoint(keeper.wayTo(provider, place), at);
  const granted = await endpoint.redeem(code, { verifier, redirectUrl });
  const { secrets, expiresAt } = granted;
  const instance = instanceUrlOf(provider, place);
  const { providerId } = provider;
  let identity: SourceAccount;
  try {
    identity = await provider.whoami(keeper.wayTo(provider, place, secrets.accessToken), place);
  } catch (error) {
    await giveBack(deps, { providerId, instance, secrets });
    throw error;
  }
  return {
    ...whoOf(provider, instance, identity),
    scopes: (identity.scopes ?? granted.scopes ?? provider.oauth.scopes).filter(isScope).slice(0, MAX_SCOPES),
    way: "oauth",
    secrets,
    expiresAt,
  };
}

const MAX_SCOPES = 200;
const MAX_NAME_CHARS = 200;

/** Whether the scope can be shown unchanged: it has only characters that OAuth allows. Source: RFC 6749 §3.3. */
function isScope(scope: string): boolean {
  return /^[\x21\x23-\x5b\x5d-\x7e]{1,200}$/.test(scope);
}

/** The account at a provider, with names that can be shown and stored. */
export function whoOf(
  provider: AccountProvider,
  instance: string,
  identity: SourceAccount,
): Pick<ProvenAccount, "providerId" | "instance" | "principal" | "label" | "login"> {
  const login = cleanLine(identity.login ?? "", MAX_NAME_CHARS) || null;
  const label = cleanLine(identity.label, MAX_NAME_CHARS) || login || provider.name;
  return {
    providerId: provider.providerId,
    instance,
    principal: principalOf(provider, instance, identity),
    label,
    login,
  };
}

/** Reconnects at once an account that the person already had. A new account waits until the person has confirmed it. */
async function judge(
  deps: AccountDeps,
  actor: Actor,
  { provider }: ConfiguredProvider,
  { returnTo, accountId, proven }: { returnTo: string; accountId: string | undefined; proven: ProvenAccount },
): Promise<string> {
  const { accounts } = deps.store.in(actor.workspaceId);
  const other = await deps.links.otherHolder(deps.store, actor.workspaceId, proven.principal, actor.userId);
  if (other !== undefined) {
    await giveBack(deps, proven);
    await reportRefusal(deps, actor, proven, other);
    return failed(returnTo, "taken");
  }
  const same = await accounts.findByPrincipal(proven.principal);
  if (accountId !== undefined && same?.accountId !== accountId) {
    await giveBack(deps, proven);
    return failed(returnTo, "other_account");
  }
  if (same) {
    await saveOrGiveBack(deps, actor, proven);
    return connected(returnTo);
  }
  const { secrets, way: _way, providerId: _providerId, scopes, ...who } = proven;
  const content: FoundFlow = { ...secrets, ...who, scopes: [...scopes] };
  const id = await deps.flows.keepFound(actor, { providerId: provider.providerId, returnTo, content });
  return `${ACCOUNTS_PAGE}#found=${id}`;
}

function toProven({ providerId, content }: Kept<FoundFlow>): ProvenAccount {
  const { accessToken, refreshToken, ...who } = content;
  const secrets: AccountSecrets = { accessToken, ...defined({ refreshToken }) };
  return { providerId, way: "oauth", secrets, ...who };
}

/** @throws ApiError `account_taken` */
async function saveOrGiveBack(deps: AccountDeps, actor: Actor, proven: ProvenAccount) {
  try {
    return await saveAccount(deps, actor, proven);
  } catch (error) {
    await giveBack(deps, proven);
    throw error;
  }
}

/** Revokes the tokens of an account that the person didn't confirm in time. */
export async function endLapsedFound(deps: AccountDeps, flow: OpenedFlow): Promise<void> {
  await giveBack(deps, toProven(foundOf(flow)));
}

/** Revokes tokens that won't be used. */
async function giveBack(
  { book, keeper, log }: AccountDeps,
  { providerId, instance, secrets }: Pick<ProvenAccount, "providerId" | "instance" | "secrets">,
): Promise<void> {
  const known = book.find(providerId);
  const { provider, client } = known ?? {};
  if (!provider?.oauth?.revoke || !client) return;
  const place = book.placeOf(provider, instance);
  const http = keeper.wayTo(provider, place);
  await provider.oauth.revoke(http, { place, client, secrets }).catch((error: unknown) => {
    log.warn({ providerId, error: String(error) }, "unneeded tokens could not be revoked");
  });
}

function problemOf(error: unknown): AccountProblem | undefined {
  if (error instanceof GrantRefused) return "failed";
  if (!isApiError(error)) return undefined;
  if (error.code === "account_taken") return "taken";
  if (error.code === "source_unauthorized" || error.code === "source_forbidden") return "failed";
  if (error.class === "source_unavailable" || UNUSABLE.has(error.code)) return "unavailable";
  return error.class === "unprocessable" ? "failed" : undefined;
}

/** A bad redirect or an endless response is the provider's fault, not the browser's. */
const UNUSABLE: ReadonlySet<string> = new Set(["address_not_allowed", "payload_too_large"]);

const tokenHint = (providerId: string) => `kb accounts connect ${providerId} --token`;

function tooLate(): ApiError {
  return new ApiError("link_invalid", {
    message: "This request is more than 10 minutes old or was already answered. Connect the account again.",
  });
}

const connected = (returnTo: string) => withQuery(returnTo, { account: "connected" });

function failed(returnTo: string | undefined, reason: AccountProblem): string {
  return withQuery(returnTo ?? ACCOUNTS_PAGE, { account: "failed", reason });
}

/** Returns `returnTo` if it is a page of this server, otherwise the accounts page. */
function safe(returnTo: string | undefined): string {
  return returnTo === undefined ? ACCOUNTS_PAGE : safeReturnTo(returnTo);
}
