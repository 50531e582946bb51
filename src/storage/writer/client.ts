import { Worker } from "node:worker_threads";
import { ApiError, ERROR_CODES, type ErrorCode } from "#api/errors.ts";
import { awaitThreadEnd } from "#storage/end-thread.ts";
import type { WriterClient, Priority, WriterRequest } from "#storage/handles.ts";
import { THREAD_MEMORY } from "#storage/thread-memory.ts";
import { openWriter, type Durability, type SqliteConnection } from "#storage/sqlite.ts";
import { WriterEngine } from "./engine.ts";
import { makeWriterWork, type WriterTuning } from "./procedures.ts";
import type { WriterFailure, WriterMessage, WriterReply, WriterThreadData } from "./thread.ts";

/** Starts the writer in its own thread. `entry` is the built `writer.js`. */
export function startWriterThread(entry: string, data: WriterThreadData): WriterClient {
  const worker = new Worker(entry, { workerData: data, name: "kb-writer", resourceLimits: THREAD_MEMORY });
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: unknown): void }>();
  let nextId = 1;
  let failure: Error | undefined;

  worker.on("message", (reply: WriterReply) => {
    const entryOf = waiting.get(reply.id);
    waiting.delete(reply.id);
    if (reply.ok) entryOf?.resolve(reply.value);
    else entryOf?.reject(fromFailure(reply.error));
  });
  const end = (error: Error) => {
    failure = error;
    for (const entryOf of waiting.values()) entryOf.reject(error);
    waiting.clear();
  };
  worker.on("error", end);
  worker.on("exit", () => end(new ApiError("unavailable", { message: "The database writer has stopped." })));

  function post(message: { request: WriterRequest; priority: Priority } | { close: true }): Promise<unknown> {
    if (failure) return Promise.reject(failure);
    const id = nextId++;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, ...message } satisfies WriterMessage);
    });
  }

  return makeClient(
    (request, priority) => post({ request, priority }),
    async () => {
      if (failure) return;
      const ended = awaitThreadEnd(worker);
      await post({ close: true });
      await ended;
    },
  );
}

export interface InlineWriterOptions extends WriterTuning {
  /** False = the caller runs maintenance through the procedures. */
  hasUpkeep?: boolean;
}

/** Runs the writer in this thread, for tests and short commands on the host, where nothing else runs. */
export function startInlineWriter(
  file: string,
  durability: Durability,
  { hasUpkeep = true, ...tuning }: InlineWriterOptions = {},
): WriterClient & { connection: SqliteConnection } {
  const connection = openWriter(file, durability);
  const { procedures, ...upkeep } = makeWriterWork(connection, tuning);
  const engine = new WriterEngine({
    connection,
    procedures,
    ...(hasUpkeep && upkeep),
    schedule: (run) => queueMicrotask(run),
  });
  const client = makeClient(
    (request, priority) => engine.request(request, priority),
    async () => {
      engine.close();
      connection.close();
    },
  );
  return { ...client, connection };
}

function makeClient(
  request: (request: WriterRequest, priority: Priority) => Promise<unknown>,
  close: () => Promise<void>,
): WriterClient {
  return {
    request: (what, priority = "interactive") => request(what, priority),
    async call<Result>(name: string, args: unknown, priority: Priority = "interactive") {
      // The procedure's own signature proves the type; names and types are side by side in `procedures.ts`.
      return (await request({ type: "call", name, args }, priority)) as Result;
    },
    close,
  };
}

function fromFailure(failure: WriterFailure): Error {
  if (failure.code && failure.code in ERROR_CODES) {
    // The code was just checked to be a key of the table.
    const { message, retryAfterMs } = failure;
    return new ApiError(failure.code as ErrorCode, { message, ...(retryAfterMs !== undefined && { retryAfterMs }) });
  }
  const error = new Error(failure.message);
  if (failure.stack) error.stack = failure.stack;
  return failure.code ? Object.assign(error, { code: failure.code }) : error;
}
