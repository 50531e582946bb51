import type { Principal } from "#core/principals.ts";
import type { SqliteConnection } from "#storage/sqlite.ts";

/**
 * Numbers all principals of these lists for `access_list_principals`, new ones included, in the open transaction. A
 * number belongs to one principal of one workspace forever. A row with the number of another principal would open lists
 * to that principal, so numbers are never cached beyond the transaction and never reused.
 */
export function numberPrincipals(
  connection: SqliteConnection,
  workspaceId: string,
  lists: Iterable<{ principals: readonly Principal[] }>,
): (principal: Principal) => number {
  const named = new Set<Principal>();
  for (const { principals } of lists) for (const principal of principals) named.add(principal);
  const numbers = findNumbers(connection, workspaceId, [...named].sort());
  const fresh = [...named].filter((principal) => !numbers.has(principal)).sort();
  if (fresh.length > 0) {
    let next = takeNumbers(connection, fresh.length);
    for (const principal of fresh) numbers.set(principal, next++);
    connection
      .prepare(
        `insert into access_principals (workspaceId, principal, principalNo)
         select ?1, value ->> 0, value ->> 1 from json_each(?2)`,
      )
      .run(workspaceId, JSON.stringify(fresh.map((principal) => [principal, numbers.get(principal)])));
  }
  return (principal) => {
    const number = numbers.get(principal);
    if (number === undefined) throw new Error("A principal of none of the lists has no number here.");
    return number;
  };
}

function findNumbers(
  connection: SqliteConnection,
  workspaceId: string,
  principals: readonly Principal[],
): Map<Principal, number> {
  const query = `select principal, principalNo from json_each(?2) cross join access_principals
    on workspaceId = ?1 and principal = value`;
  const { rows } = connection.execute(query, [workspaceId, JSON.stringify(principals)]);
  return new Map(rows.map((row) => [String(row["principal"]), Number(row["principalNo"])]));
}

/** Reserves `count` numbers and returns the first one. The counter is for all workspaces and only grows. */
function takeNumbers(connection: SqliteConnection, count: number): number {
  const query = "update access_numbers set nextPrincipalNo = nextPrincipalNo + ? returning nextPrincipalNo as next";
  return Number(connection.execute(query, [count]).rows[0]?.["next"]) - count;
}
