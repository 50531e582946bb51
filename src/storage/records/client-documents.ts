import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces } from "#storage/in-workspace.ts";
import { changesOf, recordsOf } from "#storage/results.ts";
import { CLIENT_DOCUMENTS } from "#storage/tables/credentials.ts";
import type { RecordOf } from "#storage/tables/table.ts";

/**
 * The last valid copy of a client's metadata document, which was fetched from the client's identifier. Instants are
 * epoch milliseconds.
 */
export type ClientDocumentRecord = RecordOf<typeof CLIENT_DOCUMENTS>;

/** Reads and writes the copies of clients' documents, which aren't bound to a workspace. */
// Raw: a document is of no workspace, and any of them may have let its client in.
export function makeClientDocumentStore(sql: SqlHandles) {
  const documents = acrossWorkspaces(sql, CLIENT_DOCUMENTS);
  return {
    findDocument: (clientId: string) => documents.find({ clientId }),

    async findDocuments(clientIds: readonly string[]): Promise<ClientDocumentRecord[]> {
      if (clientIds.length === 0) return [];
      return recordsOf(CLIENT_DOCUMENTS, documents.select().selectAll().where("clientId", "in", clientIds));
    },

    saveDocument: (document: ClientDocumentRecord) => documents.insert(document, document),

    /** Whether some person currently allows this client. */
    async hasGrant(clientId: string, now: number): Promise<boolean> {
      const living = livingClients(sql.read, now).where("clientId", "=", clientId).limit(1);
      return (await living.executeTakeFirst()) !== undefined;
    },

    /** Deletes copies that were read before `readBefore`, of clients without a grant. @returns how many */
    sweepDocuments: ({ readBefore, now }: { readBefore: number; now: number }): Promise<number> =>
      changesOf(
        documents
          .deleting()
          .where("readAt", "<=", readBefore)
          .where("clientId", "not in", livingClients(sql.write, now)),
      ),
  };
}

/** Selects clients with a living grant. */
// Raw: of any workspace.
export function livingClients(db: SqlHandles["read"], now: number) {
  return db.selectFrom("grants").select("clientId").where("revokedAt", "is", null).where("expiresAt", ">", now);
}
