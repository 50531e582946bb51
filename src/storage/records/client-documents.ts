import type { SqlHandles } from "#storage/handles.ts";
import { CLIENT_DOCUMENTS } from "#storage/tables/credentials.ts";
import type { RecordOf } from "#storage/tables/table.ts";

/** The last good copy of a client's metadata document, fetched from its identifier. Instants are epoch milliseconds. */
export type ClientDocumentRecord = RecordOf<typeof CLIENT_DOCUMENTS>;

/** The copies of clients' documents; not bound to a workspace. */
// Raw: a document is of no workspace, and any of them may have let its client in.
export function makeClientDocumentStore(sql: SqlHandles) {
  return {
    async findDocument(clientId: string): Promise<ClientDocumentRecord | undefined> {
      const row = await sql.read
        .selectFrom("client_documents")
        .selectAll()
        .where("clientId", "=", clientId)
        .executeTakeFirst();
      return row && CLIENT_DOCUMENTS.read(row);
    },

    async findDocuments(clientIds: readonly string[]): Promise<ClientDocumentRecord[]> {
      if (clientIds.length === 0) return [];
      const rows = await sql.read
        .selectFrom("client_documents")
        .selectAll()
        .where("clientId", "in", clientIds)
        .execute();
      return rows.map(CLIENT_DOCUMENTS.read);
    },

    async saveDocument(document: ClientDocumentRecord): Promise<void> {
      const values = CLIENT_DOCUMENTS.write(document);
      await sql.write
        .insertInto("client_documents")
        .values(values)
        .onConflict((oc) => oc.column("clientId").doUpdateSet(values))
        .execute();
    },

    /** Whether a person lets this client in at the moment. */
    async hasGrant(clientId: string, now: number): Promise<boolean> {
      const row = await sql.read
        .selectFrom("grants")
        .select("grantId")
        .where("clientId", "=", clientId)
        .where("revokedAt", "is", null)
        .where("expiresAt", ">", now)
        .limit(1)
        .executeTakeFirst();
      return row !== undefined;
    },

    /** Deletes copies that were read before `readBefore`, of clients without a grant. @returns how many */
    async sweepDocuments({ readBefore, now }: { readBefore: number; now: number }): Promise<number> {
      const living = sql.write
        .selectFrom("grants")
        .select("clientId")
        .where("revokedAt", "is", null)
        .where("expiresAt", ">", now);
      const gone = await sql.write
        .deleteFrom("client_documents")
        .where("readAt", "<=", readBefore)
        .where("clientId", "not in", living)
        .executeTakeFirst();
      return Number(gone.numDeletedRows);
    },
  };
}
