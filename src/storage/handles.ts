import type { Kysely } from "kysely";
import type { Tables } from "./schema.ts";

/** The priority of a request. Interactive requests run before slices of batches. */
export type Priority = "interactive" | "batch";

/** Requests to the writer. Each gets exactly one answer, in the order of priority. */
export type WriterRequest =
  | { type: "execute"; sql: string; parameters: readonly unknown[]; transaction?: number }
  | { type: "begin"; transaction: number }
  | { type: "commit"; transaction: number }
  | { type: "rollback"; transaction: number }
  | { type: "call"; name: string; args: unknown };

/** Access to the only writing connection, in its own thread or in this one. */
export interface WriterClient {
  request(request: WriterRequest, priority?: Priority): Promise<unknown>;
  /** Runs a procedure of `storage/writer/procedures.ts`. The caller states the type of the procedure's result. */
  call<Result>(name: string, args: unknown, priority?: Priority): Promise<Result>;
  /** Finishes the queue, checkpoints and closes. */
  close(): Promise<void>;
}

/**
 * The handles for records. Outside a transaction, `read` is a reader of this thread and `write` is the writer; inside
 * one, both are the transaction.
 */
export interface SqlHandles {
  read: Kysely<Tables>;
  write: Kysely<Tables>;
  /** Absent inside transactions and snapshots, where procedures can't be called. */
  writer: WriterClient | undefined;
}

/** Runs a procedure of the writer, after the requests that wait for an answer. @throws Error inside a transaction */
export function callWriter<Result>({ writer }: SqlHandles, name: string, args: unknown): Promise<Result> {
  if (!writer) throw new Error(`${name} is a transaction of its own and can't be part of another one.`);
  return writer.call<Result>(name, args, "batch");
}
