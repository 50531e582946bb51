import type { Kysely } from "kysely";
import type { Tables } from "./schema.ts";
import type { Priority, WriterRequest } from "./writer/engine.ts";

/** Access to the only writing connection, in its own thread or in this one. */
export interface WriterClient {
  request(request: WriterRequest, priority?: Priority): Promise<unknown>;
  /** Runs a procedure of `storage/writer/procedures.ts`. The result's type is the procedure's; callers state it. */
  call<Result>(name: string, args: unknown, priority?: Priority): Promise<Result>;
  /** Finishes the queue, checkpoints and closes. */
  close(): Promise<void>;
}

/**
 * The handles for records. Outside a transaction `read` is a reader of this thread and `write` the writer; inside one
 * both are the transaction.
 */
export interface SqlHandles {
  read: Kysely<Tables>;
  write: Kysely<Tables>;
  /** Absent inside transactions and snapshots, where procedures can't be called. */
  writer: WriterClient | undefined;
}
