import type { Actor } from "./actor.ts";
import type { Store } from "./store.ts";

/** What somebody did. Ids, numbers and words of our own only: no titles, no secrets, no query text. */
export interface AuditAct {
  /** `<noun>.<past participle>`: `connector.created`, `member.removed`. */
  action: string;
  target: { type: string; id: string };
  /** `done` unless told. */
  outcome?: "done" | "refused";
  details?: Record<string, unknown>;
}

/** Writes the audit rows of a feature; a service takes it as an argument. Source: S53. */
export interface AuditRecorder {
  /** Records an act of this actor in the transaction `tx` of the act. */
  record(tx: Store, actor: Actor, act: AuditAct): Promise<void>;
  /** Records an act of the server itself, or of somebody who just signed in. */
  recordSystem(
    tx: Store,
    workspaceId: string,
    act: AuditAct,
    who?: { userId?: string; requestId?: string; clientIp?: string | null },
  ): Promise<void>;
}
