export interface AuditRecord {
  /** Counts up per workspace, without gaps. */
  seq: number;
  at: Date;
  actorUserId: string | null;
  credential: string;
  action: string;
  targetType: string;
  targetId: string;
  outcome: "done" | "refused";
  ip: string | null;
  requestId: string | null;
  details: Record<string, unknown>;
}

/** A row with its place in the chain. Both hashes are null in rows from before there was one. */
export interface AuditRow extends AuditRecord {
  workspaceId: string;
  /** The `hash` of the row before; null in the first row of the chain. */
  previousHash: string | null;
  /** SHA-256 of `chainText`, hex. */
  hash: string | null;
}

/** What a row says before it has its place. */
export type NewAuditRecord = Omit<AuditRecord, "seq">;

/** The action of rows that say what was shown or read. */
export const READ_ACTION = "items.read";

interface AuditListOptions {
  limit: number;
  /** A `seq`. */
  before?: number;
  /** Exactly this action; without it all but reads, which are far more than all the others. */
  action?: string | undefined;
  userId?: string | undefined;
  credential?: string;
  /** From then on. */
  since?: Date;
  /** Before then. */
  until?: Date;
}

export interface AuditStore {
  /** Appends a row to the chain; call it in the transaction of the act. */
  append(record: NewAuditRecord): Promise<void>;
  /** Appends rows in a transaction of their own, behind whoever waits for an answer. Not inside a transaction. */
  appendMany(records: readonly NewAuditRecord[]): Promise<void>;
  /** Newest first. */
  list(options: AuditListOptions): Promise<AuditRecord[]>;
  /** Acts of these kinds on any of these things, newest first. */
  listByTarget(
    targetIds: readonly string[],
    options: { actions: readonly string[]; since: Date; before?: number; limit: number },
  ): Promise<AuditRecord[]>;
  /** Rows of the chain, the oldest first, after this `seq`. */
  readChain(options: { after: number; limit: number; since?: Date }): Promise<AuditRow[]>;
  /**
   * Deletes rows from before this moment, at most `limit`, from the beginning of the chain only; the newest row stays,
   * since the next one goes on from it.
   *
   * @returns how many were deleted; fewer than `limit` = nothing is left to delete
   */
  sweep(before: Date, limit: number): Promise<number>;
}
