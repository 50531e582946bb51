/**
 * The one SQL form of `meets`: the numbers of the lists above a number that name one of so many principals. Its
 * parameters are the workspace, the principals and the number. It gives a list once for each of the principals it names.
 * Principals have numbers, each of one workspace: a list's rows are a sixth as long as with names.
 *
 * SQL decides no more than this: whether an access is open is `isOpen` over its lists.
 */
export function listsMet(principals: number): string {
  const names = Array.from({ length: principals }, () => "?").join(", ");
  return `SELECT named.principal AS principal, lists.listId AS listId
    FROM access_principals AS named CROSS JOIN access_list_principals AS lists
    WHERE named.workspaceId = ? AND named.principal IN (${names})
    AND lists.principalNo = named.principalNo AND lists.listId > ?`;
}

/**
 * The accesses above a number, at most `limit`, as one text for `AccessCodes`; `aclId:` alone is an access without lists. The
 * inner order is the order of the text. Its parameters are the workspace and the number.
 */
export function newAccesses(limit: number): string {
  return `SELECT group_concat(access, ';') AS text FROM (
    SELECT aclId || ':' || listIds AS access FROM accesses
    WHERE workspaceId = ? AND aclId > ? ORDER BY aclId LIMIT ${limit})`;
}
