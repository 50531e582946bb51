import type { SqliteConnection } from "#storage/sqlite.ts";

/** Most lists of one access: what would have more is nobody's. A pushed line has at most 17. */
const MAX_LISTS = 64;

/**
 * Gives the number of the access that lets in whom both of two accesses let in: the lists of both, each once. An access is
 * an AND of lists, so nothing else is needed, and equal conjunctions have equal numbers in whatever order they were made.
 * Nobody AND anybody is nobody.
 */
export function makeConjoin(connection: SqliteConnection, workspaceId: string): (a: number, b: number) => number {
  const one = (sql: string, ...values: (string | number)[]) =>
    connection.execute(sql, [workspaceId, ...values]).rows[0];
  const known = new Map<string, number>();

  function listsOf(aclId: number): number[] {
    const row = one("select listIds from accesses where workspaceId = ? and aclId = ?", aclId);
    return row === undefined ? [] : String(row["listIds"]).split(",").map(Number);
  }

  function intern(listIds: string): number {
    const found = one("select aclId from accesses where workspaceId = ? and listIds = ?", listIds);
    if (found !== undefined) return Number(found["aclId"]);
    const next = one("update access_state set nextAclId = nextAclId + 1 where workspaceId = ? returning nextAclId");
    if (next === undefined) throw new Error("Accesses without a counter of their numbers.");
    const aclId = Number(next["nextAclId"]) - 1;
    one("insert into accesses (workspaceId, aclId, listIds) values (?, ?, ?)", aclId, listIds);
    return aclId;
  }

  function conjoined(a: number, b: number): number {
    const [first, second] = [listsOf(a), listsOf(b)];
    // An access without lists can't exist; if one did, it must be nobody's.
    if (first.length === 0 || second.length === 0) return 0;
    const lists = [...new Set([...first, ...second])].sort((x, y) => x - y);
    return lists.length > MAX_LISTS ? 0 : intern(lists.join(","));
  }

  return (a, b) => {
    if (a <= 0 || b <= 0) return 0;
    if (a === b) return a;
    const key = a < b ? `${a},${b}` : `${b},${a}`;
    const found = known.get(key) ?? conjoined(a, b);
    known.set(key, found);
    return found;
  };
}
