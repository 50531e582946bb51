import type { Kysely } from "kysely";
import type { Tables } from "./schema.ts";
import type { WriterClient } from "./writer/client.ts";

/**
 * What a part of the store works with. Outside a transaction `read` is a reader of this thread and `write` the writer;
 * inside one both are the transaction.
 */
export interface SqlHandles {
  read: Kysely<Tables>;
  write: Kysely<Tables>;
  /** Absent inside transactions and snapshots, where procedures can't be called. */
  writer: WriterClient | undefined;
}
