import type { Parts } from "#storage/records/parts.ts";
import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import type { Sleep } from "#core/clock.ts";
import { randomSecret } from "#core/secrets.ts";
import type { AccountPlace, AccountProvider, AccountSecrets, SourceAccount } from "#sources/account-contract.ts";
import type { AccountTokens, SourceHttp } from "#sources/http-contract.ts";
import type { SourceHttpPool } from "#sources/http/pool.ts";
import type { AccountRecord } from "#storage/records/accounts.ts";
import { sealedIn } from "#storage/vault.ts";
import { configured, type ConfiguredProvider, originsAt, type ProviderBook, tokenEndpointAt } from "./providers.ts";
import { principalOf } from "./principal.ts";
import { EARLY_MS, makeRenewer } from "./renewal.ts";
import { timeLimit } from "./time-limit.ts";
import { GrantRefused, makeTokenEndpoint } from "./token-endpoint.ts";

export type AccountKeeper = ReturnType<typeof makeAccountKeeper>;

export interface KeeperOptions extends Pick<Parts, "store" | "clock" | "randomBytes" | "log" | "vault"> {
  http: Pick<SourceHttpPool, "for">;
  book: ProviderBook;
  sleep: Sleep;
  /** Called when the provider requires the person to sign in again. */
  onRefused(workspaceId: string, accountId: string): Promise<void>;
  /** Called when the provider returns tokens of another account. */
  onOther(workspaceId: string, accountId: string): Promise<void>;
  /** Time limit for concurrent requests to a provider; 30 s by default. */
  askMs?: number;
}

/**
 * Keeps the tokens of accounts. They are sealed in the store, and decrypted only for requests to the account's own
 * instance. If several callers need new tokens at once, in this process and others, the provider gets one request.
 */
export function makeAccountKeeper(options: KeeperOptions) {
  const { store, clock, randomBytes, vault, http, book, log, askMs = ASK_MS } = options;

  function seal(workspaceId: string, accountId: string, secrets: AccountSecrets): string {
    return vault.seal(placeOf(workspaceId, accountId), JSON.stringify(secrets));
  }

  async function open(workspaceId: string, { accountId, sealed }: AccountRecord): Promise<AccountSecrets> {
    const place = placeOf(workspaceId, accountId);
    const text = vault.open(place, sealed);
    if (vault.isOutdated(sealed)) {
      await store.in(workspaceId).accounts.reseal(accountId, sealed, vault.seal(place, text));
    }
    const { accessToken, refreshToken } = Secrets.parse(JSON.parse(text));
    return { accessToken, ...(refreshToken !== undefined && { refreshToken }) };
  }

  async function read(workspaceId: string, accountId: string): Promise<AccountRecord> {
    const account = await store.in(workspaceId).accounts.find(accountId);
    if (account?.state === "active") return account;
    throw new ApiError("source_unauthorized", {
      message:
        account?.state === "needs_reauth" ? "The account must be connected again." : "The account is disconnected.",
      hint: "Connect it again on the page Accounts.",
    });
  }

  const renewAlone = makeRenewer({ clock, randomBytes, sleep: options.sleep });

  function renew(workspaceId: string, accountId: string, stale: string): Promise<string> {
    let account: AccountRecord;
    let secrets: AccountSecrets;
    return renewAlone(accountId, stale, {
      async read() {
        account = await read(workspaceId, accountId);
        secrets = await open(workspaceId, account);
        return { accessToken: secrets.accessToken, version: account.version };
      },
      lock: (version, lock) => store.in(workspaceId).accounts.lock(accountId, version, lock),
      renew: (by) => renewLocked(workspaceId, account, secrets, by),
    });
  }

  async function renewLocked(
    workspaceId: string,
    account: AccountRecord,
    secrets: AccountSecrets,
    by: string,
  ): Promise<string> {
    const { accountId, providerId } = account;
    const { accounts } = store.in(workspaceId);
    try {
      const { refreshToken } = secrets;
      const found = book.find(providerId);
      const known = found && configured({ ...found, place: book.placeOf(found.provider, account.baseUrl) });
      if (refreshToken === undefined || !known) throw new GrantRefused();
      const at = tokenEndpointAt(known, () => clock.now());
      const endpoint = makeTokenEndpoint(openWay(known.provider, known.place), at);
      const granted = await endpoint.refresh({ ...secrets, refreshToken });
      const who = await whoIs(known, granted.secrets.accessToken);
      if (who !== undefined && principalOf(known.provider, account.baseUrl, who) !== account.principal) {
        await giveBack(known, granted.secrets);
        throw new OtherAccount();
      }
      const sealed = seal(workspaceId, accountId, granted.secrets);
      if (!(await accounts.putLocked(accountId, by, { sealed, expiresAt: granted.expiresAt }))) {
        log.warn({ accountId, providerId }, "an account received tokens that couldn't be stored");
      } else if (who === undefined) await accounts.update(accountId, { dueAt: clock.now() });
      return granted.secrets.accessToken;
    } catch (error) {
      await accounts.unlock(accountId, by);
      const isOfOther = error instanceof OtherAccount;
      if (!isOfOther && !(error instanceof GrantRefused)) throw error;
      await (isOfOther ? options.onOther(workspaceId, accountId) : options.onRefused(workspaceId, accountId));
      throw new ApiError("source_unauthorized", {
        message: "The account must be connected again.",
        hint: "Connect it again on the page Accounts.",
        cause: error,
      });
    }
  }

  /**
   * The account to which new tokens belong. Undefined if the provider can't report it now; then the new tokens are
   * kept, since the old ones may no longer work.
   */
  async function whoIs(
    { provider, place }: ConfiguredProvider,
    accessToken: string,
  ): Promise<SourceAccount | undefined> {
    try {
      return await provider.whoami(wayTo(provider, place, accessToken), place);
    } catch (error) {
      log.warn(
        { providerId: provider.providerId, error: String(error) },
        "a provider didn't say whose account the new tokens belong to",
      );
      return undefined;
    }
  }

  /** Revokes tokens that won't be used. */
  async function giveBack({ provider, place, client }: ConfiguredProvider, secrets: AccountSecrets): Promise<void> {
    try {
      await provider.oauth.revoke?.(wayTo(provider, place), { place, client, secrets });
    } catch (error) {
      log.warn({ providerId: provider.providerId, error: String(error) }, "tokens could not be given back");
    }
  }

  /** Returns an HTTP client for a provider, without an account or with these tokens. */
  function wayTo(provider: AccountProvider, place: AccountPlace, accessToken?: string): SourceHttp {
    if (accessToken === undefined) return openWay(provider, place);
    return openWay(provider, place, {
      key: randomSecret(randomBytes),
      origins: originsAt(provider, place),
      accessToken: async () => accessToken,
      refresh: async () => {
        throw new ApiError("source_unauthorized", { message: `${provider.name} does not accept this token.` });
      },
    });
  }

  function openWay(provider: AccountProvider, place: AccountPlace, account?: AccountTokens): SourceHttp {
    return http.for({
      source: {
        originOf: () => new URL(place.apiUrl).origin,
        spec: {
          auth: [{ type: "account" }, { type: "none" }],
          origins: originsAt(provider, place),
          ...(provider.limits && { limits: provider.limits }),
        },
      },
      config: {},
      credentials: {},
      ...(account && { account }),
      signal: timeLimit(provider.name, askMs),
    }).http;
  }

  return {
    seal,
    open,
    wayTo,
    /** Returns an HTTP client for a provider, signed in as a stored account. */
    wayAs(
      workspaceId: string,
      account: AccountRecord,
      { provider, place }: { provider: AccountProvider; place: AccountPlace },
    ) {
      return openWay(provider, place, this.tokensOf(workspaceId, account));
    },
    /** The tokens that sign requests of the account's connectors. */
    tokensOf(workspaceId: string, { accountId, providerId, baseUrl, login }: AccountRecord): AccountTokens {
      const provider = book.find(providerId)?.provider;
      const place = provider && book.placeOf(provider, baseUrl);
      return {
        key: accountId,
        origins: provider && place ? originsAt(provider, place) : [],
        ...(place && { place }),
        ...(login !== null && { login }),
        async accessToken() {
          const account = await read(workspaceId, accountId);
          const { accessToken, refreshToken } = await open(workspaceId, account);
          const isOver = account.expiresAt !== null && account.expiresAt - EARLY_MS <= clock.now();
          return isOver && refreshToken !== undefined ? renew(workspaceId, accountId, accessToken) : accessToken;
        },
        refresh: (stale) => renew(workspaceId, accountId, stale),
      };
    },
  };
}

/** Thrown when the provider returns tokens of another account for a refresh token. */
class OtherAccount extends Error {}

/** The longest time that a person waits for a provider's response, in milliseconds. */
const ASK_MS = 30_000;

const Secrets = z.object({ accessToken: z.string(), refreshToken: z.string().optional() });

const placeOf = sealedIn("provider_accounts");
