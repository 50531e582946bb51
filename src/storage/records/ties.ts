import { sql as rawSql } from "kysely";
import type { Principal } from "#core/principals.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { IDENTITIES } from "#storage/tables/identities.ts";

/** A link between a user of a source and a member that an admin made by hand. It may have ended since. */
export interface Tie {
  principal: Principal;
  userId: string;
  connectorId: string;
  joinedBy: string | null;
  joinedAt: number;
  /** Null = the link hasn't ended. */
  endedAt: number | null;
  /** The user's name at the source; null when no connector reports the user any more. */
  name: string | null;
  login: string | null;
}

/** Worded like the condition of the partial index: SQLite can't recognize a bound value as the same condition. */
const IS_BY_HAND = rawSql<boolean>`j."basis" = ${rawSql.lit("admin")}`;
const COLUMNS = ["j.principal", "j.userId", "j.connectorId", "j.joinedBy", "j.joinedAt", "j.endedAt"] as const;

/** Reads links made by hand, the latest first. */
export function makeTieStore(sql: SqlHandles, workspaceId: string) {
  // Raw: the condition of the partial index names the table in the way that a later step of its query does.
  const byHand = (since: number) =>
    sql.read
      .selectFrom("identity_joins as j")
      .where("j.workspaceId", "=", workspaceId)
      .where(IS_BY_HAND)
      .where("j.joinedAt", ">=", since);

  async function withNames<Row extends Omit<Tie, "name" | "login">>(rows: readonly Row[]): Promise<(Row & Tie)[]> {
    const named: (Row & Tie)[] = [];
    for (const row of rows) {
      const user = await inWorkspace(sql, workspaceId, IDENTITIES)
        .select({ principal: row.principal, connectorId: row.connectorId })
        .select(["name", "login"])
        .executeTakeFirst();
      named.push({ ...row, name: user?.name ?? null, login: user?.login ?? null });
    }
    return named.sort((a, b) => b.joinedAt - a.joinedAt || (a.principal < b.principal ? -1 : 1));
  }

  return {
    /** Returns the latest link of each admin and connector to members other than this one, and how many there are. */
    async listLatest(exceptUserId: string, since: number): Promise<(Tie & { count: number })[]> {
      const rows = await sql.read
        .with("t", () =>
          byHand(since)
            .where("j.userId", "!=", exceptUserId)
            .select(COLUMNS)
            .select(({ fn }) => [
              fn
                .countAll<number>()
                .over((by) => by.partitionBy(["j.connectorId", "j.joinedBy"]))
                .as("count"),
              fn
                .agg<number>("row_number")
                .over((by) =>
                  by.partitionBy(["j.connectorId", "j.joinedBy"]).orderBy("j.joinedAt", "desc").orderBy("j.principal"),
                )
                .as("place"),
            ]),
        )
        .selectFrom("t as j")
        .select([...COLUMNS, "j.count"])
        .where("j.place", "=", 1)
        .execute();
      return withNames(rows);
    },

    /** Returns the links to this member. */
    async listOf(userId: string, since: number): Promise<Tie[]> {
      return withNames(await byHand(since).where("j.userId", "=", userId).select(COLUMNS).execute());
    },

    /**
     * Returns links of users of sources to another member, if this member was the last one to whom the user was linked
     * before.
     */
    async listAfter(userId: string, since: number): Promise<Tie[]> {
      // Raw: joins two rows of the same table, by two names.
      const rows = await sql.read
        .selectFrom("identity_joins as f")
        // In this order, because a member was linked to few users of sources, and there may be many links made by hand.
        .crossJoin("identity_joins as j")
        .where("f.workspaceId", "=", workspaceId)
        .where("f.userId", "=", userId)
        .whereRef("j.workspaceId", "=", "f.workspaceId")
        .whereRef("j.principal", "=", "f.principal")
        .whereRef("j.userId", "!=", "f.userId")
        .whereRef("j.joinedAt", ">=", "f.endedAt")
        // The plus makes SQLite use the key. Otherwise it walks the partial index for each user to whom the member was
        // linked.
        .where(rawSql<boolean>`+j."basis" = ${rawSql.lit("admin")}`)
        .where("j.joinedAt", ">=", since)
        .where(({ not, exists, selectFrom, ref }) =>
          not(
            exists(
              selectFrom("identity_joins as o")
                .select("o.userId")
                .whereRef("o.workspaceId", "=", ref("j.workspaceId"))
                .whereRef("o.principal", "=", ref("j.principal"))
                .whereRef("o.userId", "!=", ref("j.userId"))
                .whereRef("o.endedAt", "<=", ref("j.joinedAt"))
                .whereRef("o.endedAt", ">", ref("f.endedAt")),
            ),
          ),
        )
        .select(COLUMNS)
        .execute();
      return withNames(rows);
    },
  };
}
