import { instanceOf, type Principal } from "#core/principals.ts";
import { emailKeyOf } from "#storage/records/people.ts";
import type { EndedJoin, PeopleEvent } from "#storage/people-batch.ts";
import { isPast, type PeopleWork } from "./people-work.ts";

export function setIdentity(work: PeopleWork, event: Extract<PeopleEvent, { t: "identity" }>): void {
  work.counts.identities++;
  const instance = instanceOf(event.principal);
  const aliases = event.sameAs.filter((alias) => alias !== event.principal && instanceOf(alias) === instance);
  writeIdentity(work, event, event.principal, null);
  for (const alias of aliases) {
    const [own] = work.all(
      "select aliasOf from identities where workspaceId = ? and principal = ? and connectorId = ?",
      alias,
      work.reporter.connectorId,
    );
    if (!own || own["aliasOf"] !== null) writeIdentity(work, event, alias, event.principal);
  }
  const { state } = event;
  const { isTrusted } = work.reporter;
  const before = setAliases(work, event.principal, state === "active" && isTrusted ? aliases : []);
  if (state === "active" || !isTrusted) return;
  for (const principal of new Set([event.principal, ...aliases, ...before])) endJoin(work, principal, state);
}

/** Ends the join of this user of a source, if there is one. */
export function endJoin(work: PeopleWork, principal: Principal, reason: EndedJoin["reason"]): void {
  const rows = work.all(
    `update identity_joins set endedAt = ?2, endReason = ?3
     where workspaceId = ?1 and principal = ?4 and endedAt is null returning userId`,
    work.reporter.now,
    reason,
    principal,
  );
  for (const row of rows) {
    const userId = String(row["userId"]);
    work.change(
      `delete from memberships where workspaceId = ? and groupPrincipal = ? and memberPrincipal = ? and reportedBy = 'kb'`,
      principal,
      `user:${userId}`,
    );
    work.endedJoins.push({ principal, userId, reason });
    work.isChanged = true;
  }
}

/**
 * Sets the other ids of a user according to this connector and removes all that aren't among them.
 *
 * @returns the earlier ids
 */
export function setAliases(work: PeopleWork, principal: Principal, aliases: readonly Principal[]): Set<Principal> {
  const { connectorId } = work.reporter;
  const rows = work.all(
    "select alias from identity_aliases where workspaceId = ? and principal = ? and connectorId = ?",
    principal,
    connectorId,
  );
  const before = new Set(rows.map((row) => String(row["alias"])));
  const after = new Set(aliases);
  for (const alias of before) if (!after.has(alias)) dropAlias(work, principal, alias);
  for (const alias of after) {
    if (before.has(alias)) continue;
    work.change(
      "insert into identity_aliases (workspaceId, principal, alias, connectorId) values (?, ?, ?, ?)",
      principal,
      alias,
      connectorId,
    );
    for (const pair of [
      [principal, alias],
      [alias, principal],
    ] as const) {
      work.change(
        `insert or ignore into memberships (workspaceId, groupPrincipal, memberPrincipal, reportedBy)
         values (?, ?, ?, 'kb')`,
        ...pair,
      );
    }
    work.isChanged = true;
  }
  return before;
}

function writeIdentity(
  work: PeopleWork,
  event: Extract<PeopleEvent, { t: "identity" }>,
  principal: Principal,
  aliasOf: Principal | null,
): void {
  const { connectorId, toldIn, isTrusted } = work.reporter;
  const instance = instanceOf(principal);
  if (instance === undefined) throw new Error("An identity without a user at the source.");
  const [known] = work.all(
    `select state, isTrusted, toldAt, followsFeed, login, emailKey
     from identities where workspaceId = ? and principal = ? and connectorId = ?`,
    principal,
    connectorId,
  );
  if (isTrusted && isAnother(work, principal, event, known)) endJoin(work, principal, "another_person");
  const clock = known && { at: Number(known["toldAt"]), followsFeed: known["followsFeed"] === 1 };
  const wasCounted = clock && known["state"] === "active" && known["isTrusted"] === 1 && !isPast(work, clock);
  const counts = event.state === "active" && isTrusted;
  if ((wasCounted ?? false) !== counts && isJoined(work, principal)) work.isChanged = true;
  work.change(
    `insert into identities (workspaceId, principal, connectorId, toldIn, instance, state, name, login, email, emailKey,
       isEmailVerified, isTrusted, aliasOf, toldAt, followsFeed, seenBy)
     values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 1, ?)
     on conflict do update set toldIn = excluded.toldIn, state = excluded.state, name = excluded.name,
       login = excluded.login, email = excluded.email, emailKey = excluded.emailKey,
       isEmailVerified = excluded.isEmailVerified, isTrusted = excluded.isTrusted, aliasOf = excluded.aliasOf,
       toldAt = excluded.toldAt, followsFeed = 1,
       seenBy = excluded.seenBy`,
    principal,
    connectorId,
    toldIn,
    instance,
    event.state,
    event.name,
    event.login,
    event.email,
    event.email === null ? null : emailKeyOf(event.email),
    event.isEmailVerified ? 1 : 0,
    isTrusted ? 1 : 0,
    aliasOf,
    event.at,
    work.feed.runId,
  );
}

/** Whether a member is joined to the user or to one of the user's other ids. */
export function isJoined(work: PeopleWork, principal: Principal): boolean {
  const query = "select 1 from memberships where workspaceId = ? and groupPrincipal = ? limit 1";
  return work.all(query, principal).length > 0;
}

/**
 * Whether the source reports another person than the linked member, because a reinstalled server gives the same ids to
 * other people. A link by address is valid for that address only. An admin's link ends only when login and address both
 * change at once. A link by an account is proved by the account itself. A source without addresses can't show another
 * person. Source: S3.
 */
function isAnother(
  work: PeopleWork,
  principal: Principal,
  event: Extract<PeopleEvent, { t: "identity" }>,
  known: Record<string, unknown> | undefined,
): boolean {
  const emailKey = event.email === null ? null : emailKeyOf(event.email);
  if (emailKey === null || known?.["emailKey"] === emailKey) return false;
  const [join] = work.all(
    `select j.basis, u.emailKey from identity_joins as j join users as u on u.userId = j.userId
     where j.workspaceId = ? and j.principal = ? and j.endedAt is null`,
    principal,
  );
  if (!join || join["emailKey"] === emailKey) return false;
  if (join["basis"] === "email") return true;
  const [before, after] = [known?.["login"] ?? null, event.login];
  const isOtherLogin = before !== null && after !== null && before !== after;
  return join["basis"] === "admin" && isOtherLogin && (known?.["emailKey"] ?? null) !== null;
}

function dropAlias(work: PeopleWork, principal: Principal, alias: Principal): void {
  work.change(
    "delete from identity_aliases where workspaceId = ? and principal = ? and alias = ? and connectorId = ?",
    principal,
    alias,
    work.reporter.connectorId,
  );
  const [other] = work.all(
    `select 1 from identity_aliases where workspaceId = ?1
     and ((principal = ?2 and alias = ?3) or (principal = ?3 and alias = ?2))`,
    principal,
    alias,
  );
  work.change(
    "delete from identities where workspaceId = ? and principal = ? and connectorId = ? and aliasOf = ?",
    alias,
    work.reporter.connectorId,
    principal,
  );
  work.isChanged = true;
  if (other) return;
  work.change(
    `delete from memberships where workspaceId = ?1 and reportedBy = 'kb' and ((groupPrincipal = ?2 and memberPrincipal = ?3)
       or (groupPrincipal = ?3 and memberPrincipal = ?2))`,
    principal,
    alias,
  );
}
