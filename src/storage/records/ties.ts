import type { Principal } from "#core/principals.ts";
import type { SqlHandles } from "#storage/handles.ts";

/** A user of a source whom an admin made a member by hand; the tie may have ended since. */
export interface Tie {
  principal: Principal;
  userId: string;
  connectorId: string;
  joinedBy: string | null;
  joinedAt: number;
  /** What the source calls the user; null once no connector tells of them. */
  name: string | null;
  login: string | null;
}

/** Ties by hand, the latest first. */
export function makeTieStore(sql: SqlHandles, workspaceId: string) {
  const ties = (since: number) =>
    sql.read
      .selectFrom("identity_joins as j")
      .leftJoin("identities as i", (on) =>
        on
          .onRef("i.workspaceId", "=", "j.workspaceId")
          .onRef("i.connectorId", "=", "j.connectorId")
          .onRef("i.principal", "=", "j.principal"),
      )
      .select(["j.principal", "j.userId", "j.connectorId", "j.joinedBy", "j.joinedAt", "i.name", "i.login"])
      .where("j.workspaceId", "=", workspaceId)
      .where("j.basis", "=", "admin")
      .where("j.joinedAt", ">=", since)
      .orderBy("j.joinedAt", "desc")
      .orderBy("j.principal");

  return {
    /** All of the workspace. */
    list: (since: number): Promise<Tie[]> => ties(since).execute(),

    /** Those to this member. */
    listOf: (userId: string, since: number): Promise<Tie[]> => ties(since).where("j.userId", "=", userId).execute(),

    /** Those of users of sources to somebody else, where this member was the last one who stood for the user before. */
    listAfter: (userId: string, since: number): Promise<Tie[]> =>
      ties(since)
        .innerJoin("identity_joins as f", (on) =>
          on
            .onRef("f.workspaceId", "=", "j.workspaceId")
            .onRef("f.principal", "=", "j.principal")
            .onRef("f.userId", "!=", "j.userId")
            .onRef("f.endedAt", "<=", "j.joinedAt"),
        )
        .where("f.userId", "=", userId)
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
        .execute(),
  };
}
