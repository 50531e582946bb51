import { actOn } from "#storage/audit-act.ts";
import { makeId } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import type { AccountSecrets } from "#sources/account-contract.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { AccountRecord, AccountWay } from "#storage/records/accounts.ts";
import type { AccountDeps } from "./deps.ts";
import { regainAccess } from "./reauth.ts";

/** The account found at a provider, with the tokens granted for it. */
export interface ProvenAccount {
  providerId: string;
  /** The name of the instance in principals. */
  instance: string;
  principal: string;
  label: string;
  login: string | null;
  scopes: readonly string[];
  way: AccountWay;
  secrets: AccountSecrets;
  expiresAt: number | null;
}

/**
 * Stores an account that its provider has just confirmed, in place of the person's earlier record of it. From then on
 * the person is linked to that user of the source. Connectors that wait for the account resume.
 *
 * @throws ApiError `account_taken` if another member is linked to that user in this workspace; both members are
 *   notified
 */
export async function saveAccount(deps: AccountDeps, actor: Actor, proven: ProvenAccount): Promise<AccountRecord> {
  const { store, clock, keeper, audit, book, links } = deps;
  const { workspaceId, userId } = actor;
  const newId = makeId("account", deps.randomBytes);
  const saved = await store.transaction(async (tx) => {
    const workspace = tx.in(workspaceId);
    const now = clock.now();
    const other = await links.otherHolder(tx, workspaceId, proven.principal, userId);
    if (other !== undefined) return { other };
    const before = await workspace.accounts.findByPrincipal(proven.principal);
    const accountId = before?.accountId ?? newId;
    const { secrets, instance, ...rest } = proven;
    const account: AccountRecord = {
      accountId,
      userId,
      createdAt: before?.createdAt ?? now,
      ...rest,
      baseUrl: instance,
      sealed: keeper.seal(workspaceId, accountId, secrets),
      version: (before?.version ?? 0) + 1,
      state: "active",
      stateReason: null,
      confirmedAt: now,
      dueAt: now + (await workspace.access.maxAclAgeMs()) / 2,
      tries: 0,
    };
    if (before) await workspace.accounts.update(accountId, withoutKeys(account));
    else await workspace.accounts.insert(account);
    if (await book.isRegistered(tx, workspaceId, rest.providerId, instance)) {
      await links.confirm(tx, workspaceId, account, before?.confirmedAt ?? null);
    }
    await regainAccess(tx, deps.request, { workspaceId, accountId });
    const details = { providerId: rest.providerId, principal: rest.principal, way: rest.way };
    const action = before ? "account.reconnected" : "account.connected";
    await audit.record(tx, actor, actOn(accountId, action, details));
    return { account };
  });
  deps.wake();
  if ("account" in saved) return saved.account;
  await reportRefusal(deps, actor, proven, saved.other);
  throw taken();
}

/**
 * Notifies both members that a second person tried to connect the account. In a workspace, a user of a source can be
 * linked to only one person. Source: S30.
 */
export async function reportRefusal(
  { store, audit, clock }: AccountDeps,
  actor: Actor,
  { providerId, principal }: Pick<ProvenAccount, "providerId" | "principal">,
  otherUserId: string,
): Promise<void> {
  await store.transaction(async (tx) => {
    const { accounts, members } = tx.in(actor.workspaceId);
    await audit.record(tx, actor, {
      action: "account.refused",
      target: { type: "user", id: otherUserId },
      outcome: "refused",
      details: { providerId, principal },
    });
    const theirs = await accounts.findByPrincipal(principal);
    if (theirs?.state !== "active") return;
    const name = (await members.find(actor.userId))?.name ?? "Someone";
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    await accounts.update(theirs.accountId, { stateReason: `${name} tried to connect this account too, on ${day}.` });
  });
}

export function taken(): ApiError {
  return new ApiError("account_taken", {
    message: "Someone else in this workspace is already linked to this user.",
    hint: "Ask an admin who it is linked to, or connect another account.",
  });
}

function withoutKeys({
  accountId: _accountId,
  userId: _userId,
  providerId: _providerId,
  createdAt: _createdAt,
  ...patch
}: AccountRecord) {
  return { ...patch, lockedBy: null, lockedUntil: null };
}
