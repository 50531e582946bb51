import type { Actor } from "#server/ports/actor.ts";
import type { Store } from "#server/ports/store.ts";

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

/** What somebody did. Ids, numbers and words of our own only: no titles, no secrets, no query text. */
export interface AuditAct {
  /** `<noun>.<past participle>`: `connector.created`, `member.removed`. */
  action: string;
  target: { type: string; id: string };
  outcome?: "done" | "refused";
  details?: Record<string, unknown>;
}

/** Writes the audit rows of a feature; a service takes it as an argument. */
export interface AuditRecorder {
  /** Records an act of this actor in the transaction `tx`. */
  record(tx: Store, actor: Actor, act: AuditAct): Promise<void>;
  /** Records an act of the server itself or of somebody without a credential. */
  recordSystem(
    tx: Store,
    workspaceId: string,
    act: AuditAct,
    who?: { userId?: string; requestId?: string; clientIp?: string | null },
  ): Promise<void>;
}
