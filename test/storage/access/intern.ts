import type { Principal, SourceAccess } from "#core/principals.ts";
import { makeInterner } from "#storage/batch/intern.ts";
import { openWriter } from "#storage/sqlite.ts";
import { inTransaction } from "#storage/transaction.ts";

/** Gives an access its number in the database of a test, beside the connections that the test's store holds. */
export function internIn(
  { file }: { file: string },
  workspaceId: string,
  access: SourceAccess,
  always: readonly Principal[] = [],
): number {
  const [aclId] = internAll({ file }, workspaceId, [access], always);
  return aclId ?? 0;
}

export function internAll(
  { file }: { file: string },
  workspaceId: string,
  accesses: readonly SourceAccess[],
  always: readonly Principal[] = [],
): number[] {
  const connection = openWriter(file, "normal");
  try {
    return inTransaction(connection.raw, () => {
      const interner = makeInterner(connection, workspaceId);
      const aclIds = accesses.map((access) => interner.access(access, always));
      interner.save();
      return aclIds;
    });
  } finally {
    connection.close();
  }
}
