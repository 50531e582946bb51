import type { Kysely } from "kysely";
import type { Tables } from "./schema.ts";

/** Interactive requests run before batch slices. */
export type Priority = "interactive" | "batch";

/** Requests to the writer. Each is answered exactly once, in the order of priority. */
export type WriterRequest =
  | { type: "execute"; sql: string; parameters: readonly unknown[]; transaction?: number }
  | { type: "begin"; transaction: number }
  | { type: "commit"; transaction: number }
  | { type: "rollback"; transaction: number }
  | { type: "call"; name: string; args: unknown };

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

/** Runs a procedure of the writer behind the requests that wait for an answer. @throws Error inside a transaction */
export function callWriter<Result>({ writer }: SqlHandles, name: string, args: unknown): Promise<Result> {
  if (!writer) throw new Error(`${name} is a transaction of its own and can't be part of another one.`);
  return writer.call<Result>(name, args, "batch");
}
