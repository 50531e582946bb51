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

export interface AuditStore {
  /** Appends a row; call it in the transaction of the act. */
  append(record: Omit<AuditRecord, "seq">): Promise<void>;
  /** Newest first; `before` is a `seq`. */
  list(options: { limit: number; before?: number; action?: string; userId?: string }): Promise<AuditRecord[]>;
}
