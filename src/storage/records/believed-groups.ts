import type { Principal } from "#core/principals.ts";
import { type Believing, believedUntil } from "#storage/access/clocks.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { onSame, same } from "#storage/conditions.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { readInChunks } from "#storage/results.ts";
import { IDENTITIES, IDENTITY_JOINS, PEOPLE_FEEDS, SOURCE_GROUPS } from "#storage/tables/identities.ts";

/**
 * Returns the authority on a group's members, or on a user of a pusher's system: the connector that owns it, else kb
 * itself.
 * Source: S2.
 */
export function authorityOf(group: Principal): string {
  return /^(?:group|user:push):(con_[^:]+):/.exec(group)?.[1] ?? "kb";
}

/**
 * Returns which of a person's reported principals are valid, and until when. A group that a sync reported is valid by
 * its own clock or its feed's, where it expires. A user of a source is valid while a trusted connector reports them as
 * active and none reports otherwise; when an account linked the user, while that account confirms it. Pushed groups and
 * kb's own never expire. Without `at`, nothing that expires is valid.
 */
export async function believedOf(
  sql: SqlHandles,
  workspaceId: string,
  principals: readonly Principal[],
  at: Believing | undefined,
): Promise<Map<Principal, number>> {
  const believed = new Map<Principal, number>(principals.map((principal) => [principal, Infinity]));
  const note = (principal: Principal, until: number | undefined) => {
    if (until === undefined) believed.delete(principal);
    else believed.set(principal, until);
  };
  for (const row of await groupClocks(sql, workspaceId, principals.filter(isSourceGroup))) {
    note(row.principal, row.neverAges === 1 ? Infinity : at && untilOf(row, at));
  }
  const users = principals.filter(isSourceUser);
  const clocks = new Map<Principal, UserClock[]>(users.map((user) => [user, []]));
  for (const row of await userClocks(sql, workspaceId, users)) clocks.get(row.principal)?.push(row);
  for (const [user, rows] of clocks) note(user, at && activeUntil(rows, at));
  return believed;
}

interface Clock {
  principal: Principal;
  at: number;
  followsFeed: number;
  currentAt: number | null;
}

interface GroupClock extends Clock {
  neverAges: number;
}

interface UserClock extends Clock {
  state: string;
  /** The account by which the user was joined to a member; null if there is none. */
  account: string | null;
  reporter: string;
}

function untilOf({ at, followsFeed, currentAt }: Clock, believing: Believing): number | undefined {
  const own = believedUntil(at, believing);
  const feed = followsFeed === 1 ? believedUntil(currentAt, believing) : undefined;
  return own === undefined || feed === undefined ? (own ?? feed) : Math.max(own, feed);
}

function activeUntil(rows: readonly UserClock[], believing: Believing): number | undefined {
  if (rows.some(({ state }) => state !== "active")) return undefined;
  // A link made by an account is valid while the account itself confirms it, whichever connectors report the user.
  const counting = rows.filter(({ account, reporter }) => account === null || account === reporter);
  const untils = counting.flatMap((row) => untilOf(row, believing) ?? []);
  return untils.length === 0 ? undefined : Math.max(...untils);
}

function groupClocks(sql: SqlHandles, workspaceId: string, groups: readonly Principal[]): Promise<GroupClock[]> {
  return readInChunks(groups, (chunk) =>
    inWorkspace(sql, workspaceId, SOURCE_GROUPS)
      .select()
      .leftJoin("people_feeds", onSame(PEOPLE_FEEDS, SOURCE_GROUPS, "connectorId", "toldIn"))
      .select([
        "source_groups.groupPrincipal as principal",
        "source_groups.checkedAt as at",
        "source_groups.followsFeed",
        "source_groups.neverAges",
        "people_feeds.currentAt",
      ])
      .where("source_groups.groupPrincipal", "in", chunk)
      .execute(),
  );
}

/** Returns the reports of the connectors that are taken into account. */
function userClocks(sql: SqlHandles, workspaceId: string, users: readonly Principal[]): Promise<UserClock[]> {
  return readInChunks(users, (chunk) =>
    inWorkspace(sql, workspaceId, IDENTITIES)
      .select({ isTrusted: 1 })
      .leftJoin("people_feeds", onSame(PEOPLE_FEEDS, IDENTITIES, "connectorId", "toldIn"))
      .leftJoin("identity_joins", (on) =>
        on
          .on(same(IDENTITY_JOINS, IDENTITIES, "principal"))
          .on("identity_joins.endedAt", "is", null)
          .on("identity_joins.basis", "=", "account"),
      )
      .select([
        "identities.principal",
        "identities.state",
        "identities.toldAt as at",
        "identities.followsFeed",
        "people_feeds.currentAt",
      ])
      .select(["identities.connectorId as reporter", "identity_joins.connectorId as account"])
      .where("identities.principal", "in", chunk)
      .execute(),
  );
}

const isSourceGroup = (principal: Principal) => principal.startsWith("group:con_");
/** Whether this is a user of a provider's instance, not of a pusher's system. */
const isSourceUser = (principal: Principal) => /^user:[^:]+:[^:]+:/.test(principal) && authorityOf(principal) === "kb";
