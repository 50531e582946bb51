import { isApiError } from "#api/errors.ts";
import type { Clock } from "#core/clock.ts";
import type { Log } from "#core/log.ts";
import { believedUntil } from "#storage/access/clocks.ts";
import type { AccountRecord } from "#storage/records/accounts.ts";
import type { Store } from "#storage/records/store.ts";
import type { AccountLinks } from "./links.ts";
import type { ProviderBook } from "./providers.ts";
import { loseAccess } from "./reauth.ts";
import type { AccountKeeper } from "./tokens.ts";
import { principalOf } from "./principal.ts";

/**
 * Regular upkeep of an account. The provider confirms the account's identity again, or the tokens of an ended account
 * are revoked there.
 */
export type AccountUpkeep = (workspaceId: string, accountId: string) => Promise<void>;

/** Milliseconds before the first retry. */
const FIRST_RETRY_MS = 5 * 60_000;
/** How often kb tries to revoke the tokens of an ended account. After that the tokens are deleted here without it. */
const REVOKE_TRIES = 5;

/**
 * Handles tokens that now belong to another account. kb no longer uses them to read the person's data. Call it in a
 * transaction.
 */
export async function loseToOther(
  { tx, links, clock }: { tx: Store; links: AccountLinks; clock: Clock },
  workspaceId: string,
  accountId: string,
): Promise<void> {
  const account = await tx.in(workspaceId).accounts.find(accountId);
  if (account?.state !== "active") return;
  await links.end(tx, workspaceId, account, "account_unconfirmed");
  await loseAccess(tx, clock, { workspaceId, accountId, isGone: false });
}

export function makeAccountUpkeep(options: {
  store: Store;
  clock: Clock;
  log: Log;
  book: ProviderBook;
  keeper: AccountKeeper;
  links: AccountLinks;
}): AccountUpkeep {
  const { store, clock, log, book, keeper, links } = options;

  async function confirm(workspaceId: string, account: AccountRecord): Promise<void> {
    const { accountId, providerId, baseUrl, principal, confirmedAt } = account;
    const provider = book.find(providerId)?.provider;
    if (!provider) return void (await store.in(workspaceId).accounts.update(accountId, { dueAt: null }));
    const place = book.placeOf(provider, baseUrl);
    const current = await provider.whoami(keeper.wayAs(workspaceId, account, { provider, place }), place);
    const isSame = principalOf(provider, baseUrl, current) === principal;
    await store.transaction(async (tx) => {
      const { accounts, access } = tx.in(workspaceId);
      const today = await accounts.find(accountId);
      if (today?.state !== "active") return;
      if (!isSame) {
        return loseToOther({ tx, links, clock }, workspaceId, accountId);
      }
      const now = clock.now();
      const { label, login = null, scopes } = current;
      const patch = { confirmedAt: now, dueAt: now + (await access.maxAclAgeMs()) / 2, tries: 0, label, login };
      await accounts.update(accountId, { ...patch, ...(scopes && { scopes }) });
      if (!(await book.isRegistered(tx, workspaceId, providerId, baseUrl))) return;
      await links.confirm(tx, workspaceId, { ...today, ...patch }, confirmedAt);
    });
  }

  /** Until the provider can be reached again, its last response stays valid for the maximum age of an access list. */
  async function postpone(workspaceId: string, account: AccountRecord, error: unknown): Promise<void> {
    await store.transaction(async (tx) => {
      const { accounts, access } = tx.in(workspaceId);
      const today = await accounts.find(account.accountId);
      if (!today || today.state === "ended") return;
      const maxAclAgeMs = await access.maxAclAgeMs();
      const now = clock.now();
      const until = believedUntil(today.confirmedAt, { now, maxAclAgeMs });
      if (until === undefined) await links.end(tx, workspaceId, today, "account_unconfirmed");
      const isLost = isApiError(error, "source_unauthorized");
      const wait = Math.min(FIRST_RETRY_MS * 2 ** today.tries, maxAclAgeMs / 4);
      // A lost account is due only when the provider's last response expires.
      const dueAt = isLost || today.state !== "active" ? (until ?? null) : Math.min(now + wait, until ?? Infinity);
      await accounts.update(today.accountId, { dueAt, tries: today.tries + 1 });
    });
  }

  async function revoke(workspaceId: string, account: AccountRecord): Promise<void> {
    const { accountId, providerId, baseUrl, way, tries } = account;
    const { accounts } = store.in(workspaceId);
    const known = book.find(providerId);
    try {
      // If a person entered the token themselves, they also revoke it themselves.
      if (way === "oauth" && known?.client && known.provider.oauth?.revoke) {
        const place = book.placeOf(known.provider, baseUrl);
        const secrets = await keeper.open(workspaceId, account);
        await known.provider.oauth.revoke(keeper.wayTo(known.provider, place), {
          place,
          client: known.client,
          secrets,
        });
      }
    } catch (error) {
      log.warn({ providerId, accountId, error: String(error) }, "the tokens of an account could not be revoked");
      const isOver = tries + 1 >= REVOKE_TRIES;
      if (!isOver) {
        await accounts.update(accountId, { tries: tries + 1, dueAt: clock.now() + FIRST_RETRY_MS * 2 ** tries });
        return;
      }
    }
    await accounts.remove(accountId);
  }

  return async (workspaceId, accountId) => {
    const account = await store.in(workspaceId).accounts.find(accountId);
    if (!account || account.dueAt === null || account.dueAt > clock.now()) return;
    if (account.state === "ended") return revoke(workspaceId, account);
    try {
      await confirm(workspaceId, account);
    } catch (error) {
      await postpone(workspaceId, account, error);
    }
  };
}
