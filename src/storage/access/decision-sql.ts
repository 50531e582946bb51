/**
 * The only SQL form of `meets`: selects the numbers of the lists above a given number that name one of the principals.
 * `principals` is how many there are. The parameters are the workspace, the principals and the number. A list is
 * returned once for each principal that it names. Principals are stored as numbers, each of one workspace, so that rows
 * are a sixth as long as with names.
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
 * Selects the accesses above a number, at most `limit`, as one text for `AccessCodes`. An access without lists is
 * written as `aclId:`. The order of the inner query is the order of the text. The parameters are the workspace and the
 * number.
 */
export function newAccesses(limit: number): string {
  return `SELECT group_concat(access, ';') AS text FROM (
    SELECT aclId || ':' || listIds AS access FROM accesses
    WHERE workspaceId = ? AND aclId > ? ORDER BY aclId LIMIT ${limit})`;
}
