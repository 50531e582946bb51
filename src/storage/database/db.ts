import { open } from "node:fs/promises";
import { Kysely } from "kysely";
import type { SqlHandles, WriterClient } from "#storage/handles.ts";
import { makeLocalDialect, makeWriterDialect } from "#storage/dialect.ts";
import { explainOpening } from "#storage/failure.ts";
import { makeStorageHealth, type StorageHealth } from "./health.ts";
import { migrate, requireCurrent } from "./migrate.ts";
import type { Tables } from "#storage/schema.ts";
import { makeSearchTally, type SearchTally } from "#storage/search-tally.ts";
import { openReader, openWriter, type Durability } from "#storage/sqlite.ts";
import { type InlineWriterOptions, startInlineWriter, startWriterThread } from "#storage/writer/client.ts";

/** Readers per thread. This is enough for one snapshot per concurrent request without opening files all the time. */
const MAX_READERS = 8;

export interface Database extends SqlHandles {
  writer: WriterClient;
  health: StorageHealth;
  /** The number of running searches. The writer's maintenance pauses for them. */
  searches: SearchTally;
  file: string;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  file: string;
  durability?: Durability;
  /** The built `writer.js`. Without it, the writer runs in this thread (tests, short commands on the host). */
  writerEntry?: string;
  /**
   * `server`: another process also writes. The schema then stays unchanged, and this process doesn't maintain the
   * index.
   */
  otherWriter?: "none" | "server";
  /** Options of a writer in this thread, for tests. */
  inline?: InlineWriterOptions;
}

/**
 * Migrates and opens the database file, with one writer and the readers of this thread.
 *
 * @throws ApiError `schema_too_new`, `database_unusable`, `storage_full`
 */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { file, durability = "normal", otherWriter = "none" } = options;
  // The file is created as private: SQLite makes its files readable by everyone, and gives its other files the mode of
  // this one.
  await makePrivate(file).catch((error: unknown) => {
    throw explainOpening(error, file);
  });
  await prepare(file, durability, otherWriter).catch((error: unknown) => {
    throw explainOpening(error, file);
  });
  const searches = makeSearchTally();
  const plain = options.writerEntry
    ? startWriterThread(options.writerEntry, { file, durability, searches: searches.memory })
    : startInlineWriter(file, durability, { hasUpkeep: otherWriter === "none", ...options.inline });
  const writer: WriterClient = watched(plain, (error) => health.note(error));
  const health: StorageHealth = makeStorageHealth(
    () => writer.call("probeStorage", {}),
    () => performance.now(),
  );
  const read = new Kysely<Tables>({ dialect: makeLocalDialect(() => openReader(file), MAX_READERS, health.note) });
  const write = new Kysely<Tables>({ dialect: makeWriterDialect(writer) });
  return {
    file,
    read,
    write,
    writer,
    health,
    searches,
    async close() {
      await read.destroy();
      await writer.close();
    },
  };
}

/** Returns the writer with `note` called for its failures. */
function watched(writer: WriterClient, note: (error: unknown) => void): WriterClient {
  const noteAndThrow = (error: unknown): never => {
    note(error);
    throw error;
  };
  return {
    ...writer,
    request: (...args) => writer.request(...args).catch(noteAndThrow),
    call: <Result>(...args: Parameters<WriterClient["call"]>) => writer.call<Result>(...args).catch(noteAndThrow),
  };
}

async function makePrivate(file: string): Promise<void> {
  await (await open(file, "a", 0o600)).close();
}

async function prepare(file: string, durability: Durability, otherWriter: "none" | "server"): Promise<void> {
  const first = openWriter(file, durability);
  try {
    await (otherWriter === "server" ? requireCurrent(first) : migrate(first));
  } finally {
    first.close();
  }
}
