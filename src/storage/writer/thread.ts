import { setImmediate } from "node:timers";
import { parentPort, workerData } from "node:worker_threads";
import { ApiError } from "#api/errors.ts";
import { makeSearchTally } from "#storage/search-tally.ts";
import { openWriter, type Durability } from "#storage/sqlite.ts";
import type { Priority, WriterRequest } from "#storage/handles.ts";
import { WriterEngine } from "./engine.ts";
import { makeWriterWork } from "./procedures.ts";
import { makeUpkeepPace } from "./upkeep-pace.ts";

/** Start values of the thread. */
export interface WriterThreadData {
  file: string;
  durability: Durability;
  /** The memory of the search tally. */
  searches: SharedArrayBuffer;
}

export type WriterMessage = { id: number; request: WriterRequest; priority: Priority } | { id: number; close: true };

export type WriterReply = { id: number; ok: true; value: unknown } | { id: number; ok: false; error: WriterFailure };

/** An error in the form in which it is sent between threads. */
export interface WriterFailure {
  message: string;
  code?: string;
  retryAfterMs?: number;
  stack?: string;
}

main();

function main(): void {
  const port = parentPort;
  if (!port) throw new Error("The writer runs as a worker thread only.");
  // The spawner passes exactly this shape; both sides are our own modules.
  const { file, durability, searches } = workerData as WriterThreadData;
  const connection = openWriter(file, durability);
  const engine = new WriterEngine({
    connection,
    ...makeWriterWork(connection),
    schedule: (run) => setImmediate(run),
    pace: makeUpkeepPace(makeSearchTally(searches)),
  });

  port.on("message", (message: WriterMessage) => {
    if ("close" in message) {
      engine.close();
      connection.raw.exec("PRAGMA wal_checkpoint(TRUNCATE)");
      connection.close();
      port.postMessage({ id: message.id, ok: true, value: undefined } satisfies WriterReply);
      port.close();
      return;
    }
    engine.request(message.request, message.priority).then(
      (value) => port.postMessage({ id: message.id, ok: true, value } satisfies WriterReply),
      (error: unknown) =>
        port.postMessage({ id: message.id, ok: false, error: toFailure(error) } satisfies WriterReply),
    );
  });
}

function toFailure(error: unknown): WriterFailure {
  if (!(error instanceof Error)) return { message: String(error) };
  const code = "code" in error && typeof error.code === "string" ? error.code : undefined;
  const retryAfterMs = error instanceof ApiError ? error.retryAfterMs : undefined;
  return {
    message: error.message,
    ...(code && { code }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
    ...(error.stack && { stack: error.stack }),
  };
}
