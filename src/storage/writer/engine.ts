import { explainFailure } from "#storage/failure.ts";
import type { Priority, WriterRequest } from "#storage/handles.ts";
import type { SqliteConnection, SqlResult } from "#storage/sqlite.ts";
import type { UpkeepPace } from "./upkeep-pace.ts";

/** A named task that runs inside the writer, in one transaction, without yielding the thread. */
export type Procedure = (connection: SqliteConnection, args: unknown) => Promise<unknown> | unknown;

/** Milliseconds that a transaction of the main thread may be idle before it is rolled back. */
const TRANSACTION_IDLE_MS = 10_000;

interface Waiting {
  request: WriterRequest;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

/**
 * The only writing connection and the order in which it is used.
 *
 * While a transaction of the main thread is open, everything that isn't part of it waits, because another caller's
 * statement would otherwise become part of it. A `call` runs its procedure in a separate transaction.
 */
export class WriterEngine {
  readonly #connection: SqliteConnection;
  readonly #procedures: ReadonlyMap<string, Procedure>;
  readonly #queues: Record<Priority, Waiting[]> = { interactive: [], batch: [] };
  readonly #schedule: (run: () => void) => void;
  readonly #upkeep: () => boolean;
  readonly #tidy: () => boolean;
  readonly #pace: UpkeepPace | undefined;
  #paceTimer: NodeJS.Timeout | undefined;
  /** Whether maintenance may be due. Batches cause maintenance. */
  #hasUpkeep = true;
  /** The error that stopped maintenance. The next batch fails with it, because a batch would only add more work. */
  #upkeepFailure: unknown;
  #transaction: number | undefined;
  #transactionTimer: NodeJS.Timeout | undefined;
  readonly #expired = new Set<number>();
  #isRunning = false;
  #isUpkeepTurn = false;
  #isClosed = false;

  constructor(options: {
    connection: SqliteConnection;
    procedures: ReadonlyMap<string, Procedure>;
    /** Called between two requests, so that new interactive requests can go first. */
    schedule: (run: () => void) => void;
    /** Runs one slice of maintenance; false = nothing is due. Called after each batch and while nothing else waits. */
    upkeep?: () => boolean;
    /** Like `upkeep`, for maintenance that can wait. Called only when `upkeep` has nothing to do. */
    tidy?: () => boolean;
    /** Decides when `tidy` continues while no batch adds work for it. Default: at once. */
    pace?: UpkeepPace;
  }) {
    this.#connection = options.connection;
    this.#procedures = options.procedures;
    this.#schedule = options.schedule;
    this.#upkeep = options.upkeep ?? (() => false);
    this.#tidy = options.tidy ?? (() => false);
    this.#pace = options.pace;
  }

  /** Starts nothing more, maintenance included, because the connection is about to be closed. */
  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#paceTimer);
  }

  /** Queues a request and resolves with its result. */
  request(request: WriterRequest, priority: Priority): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const waiting = { request, resolve, reject };
      if (this.#belongsToOpenTransaction(request)) void this.#perform(waiting);
      else {
        this.#queues[priority].push(waiting);
        this.#pump();
      }
    });
  }

  #belongsToOpenTransaction(request: WriterRequest): boolean {
    if (request.type === "call" || request.type === "begin") return false;
    return request.transaction !== undefined;
  }

  #pump(): void {
    if (this.#isClosed || this.#isRunning || this.#transaction !== undefined) return;
    const interactive = this.#queues.interactive.shift();
    // Maintenance alternates with batches, so that a steady stream of batches doesn't starve it.
    if (!interactive && this.#hasUpkeep && (this.#isUpkeepTurn || this.#queues.batch.length === 0)) {
      const waitMs = this.#isUpkeepTurn ? 0 : (this.#pace?.wait() ?? 0);
      this.#isUpkeepTurn = false;
      if (this.#runUpkeep(waitMs === 0)) this.#schedule(() => this.#pump());
      else this.#pumpIn(waitMs);
      return;
    }
    const batch = interactive ? undefined : this.#queues.batch.shift();
    const next = interactive ?? batch;
    if (!next) return;
    this.#isRunning = true;
    void this.#perform(next).finally(() => {
      this.#isRunning = false;
      if (batch) this.#hasUpkeep = this.#isUpkeepTurn = true;
      if (this.#transaction === undefined) this.#schedule(() => this.#pump());
    });
  }

  /** Continues after a delay. A request that arrives before then is processed first, as always. */
  #pumpIn(ms: number): void {
    this.#paceTimer ??= setTimeout(() => {
      this.#paceTimer = undefined;
      this.#pump();
    }, ms).unref();
  }

  /** Runs one slice of maintenance. @returns false when the next slice must wait for searches */
  #runUpkeep(mayTidy: boolean): boolean {
    try {
      if (this.#upkeep()) return true;
      if (!mayTidy) return false;
      this.#hasUpkeep = this.#tidy();
      this.#pace?.rest();
    } catch (error) {
      this.#hasUpkeep = false;
      this.#upkeepFailure = error;
      if (this.#connection.raw.isTransaction) this.#connection.raw.exec("ROLLBACK");
    }
    return true;
  }

  async #perform({ request, resolve, reject }: Waiting): Promise<void> {
    try {
      resolve(await this.#run(request));
    } catch (error) {
      reject(explainFailure(error));
    }
  }

  async #run(request: WriterRequest): Promise<unknown> {
    switch (request.type) {
      case "execute":
        if (request.transaction !== undefined) this.#touchTransaction(request.transaction);
        return this.#connection.execute(request.sql, request.parameters) satisfies SqlResult;
      case "begin":
        this.#connection.raw.exec("BEGIN IMMEDIATE");
        this.#transaction = request.transaction;
        this.#touchTransaction(request.transaction);
        return undefined;
      case "commit":
      case "rollback":
        return this.#endTransaction(request.transaction, request.type);
      case "call":
        return this.#call(request.name, request.args);
    }
  }

  async #call(name: string, args: unknown): Promise<unknown> {
    const procedure = this.#procedures.get(name);
    if (!procedure) throw new Error(`The writer has no procedure "${name}".`);
    if (this.#upkeepFailure !== undefined) {
      const cause = this.#upkeepFailure;
      this.#upkeepFailure = undefined;
      const explained = explainFailure(cause);
      throw explained === cause ? new Error("The upkeep of the index failed.", { cause }) : explained;
    }
    return procedure(this.#connection, args);
  }

  #touchTransaction(transaction: number): void {
    if (this.#expired.has(transaction) || this.#transaction !== transaction) {
      throw new Error("The transaction was rolled back: it sat idle for too long.");
    }
    clearTimeout(this.#transactionTimer);
    this.#transactionTimer = setTimeout(() => {
      this.#expired.add(transaction);
      this.#endTransaction(transaction, "rollback");
    }, TRANSACTION_IDLE_MS);
    this.#transactionTimer.unref?.();
  }

  #endTransaction(transaction: number, outcome: "commit" | "rollback"): void {
    if (this.#transaction !== transaction) {
      if (outcome === "rollback") return;
      throw new Error("The transaction was rolled back: it sat idle for too long.");
    }
    clearTimeout(this.#transactionTimer);
    try {
      // After an error such as a full disk, SQLite has already rolled back. The caller must see the original error.
      const isOver = outcome === "rollback" && !this.#connection.raw.isTransaction;
      if (!isOver) this.#connection.raw.exec(outcome === "commit" ? "COMMIT" : "ROLLBACK");
    } finally {
      if (outcome === "commit" && this.#connection.raw.isTransaction) this.#connection.raw.exec("ROLLBACK");
      this.#transaction = undefined;
      this.#schedule(() => this.#pump());
    }
  }
}
