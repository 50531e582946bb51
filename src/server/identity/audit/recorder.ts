import type { Actor, ConnectorCaller } from "#storage/access/actor.ts";
import type { AuditAct } from "#storage/audit-act.ts";
import type { NewAuditRecord } from "#storage/audit-chain.ts";
import type { Store } from "#storage/records/store.ts";

/** A person or process without an actor: the server itself, or someone who just signed in or failed to. */
export interface AuditPerson {
  userId?: string;
  requestId?: string;
  clientIp?: string | null;
}

/** Writes the audit rows of a feature; a service takes it as an argument. Source: S53. */
export interface AuditRecorder {
  /** Records the actor's act in `tx`, the transaction of the act. */
  record(tx: Store, actor: Actor, act: AuditAct): Promise<void>;
  /** Records an act of the server itself, or of someone who just signed in. */
  recordSystem(tx: Store, workspaceId: string, act: AuditAct, who?: AuditPerson): Promise<void>;
  /** Makes the row of a server act for callers that append it in their own transaction. */
  makeSystemRow(act: AuditAct): NewAuditRecord;
}

/** Where items were shown: one of the tools, or a REST API route by its method and pattern. */
export interface ReadPlace {
  type: "tool" | "route";
  name: string;
}

/** Records which items were shown or read: ids only, no query and no title. Source: S53. */
export interface ReadRecorder {
  /**
   * Records the items of one answer. New ones are on disk within a second, in batches, so that searches don't wait for
   * the write, and in the chain within a minute; items that the credential already received that day are counted.
   *
   * @throws ApiError `unavailable` when 10,000 rows could not be written: nothing is shown that can't be traced
   */
  recordReads(actor: Actor, place: ReadPlace, kbIds: readonly string[]): void;
}

/** Records the use of credentials: the first use, and the first from each network. */
export interface UseRecorder {
  recordUse(caller: { actor: Actor } | { connector: ConnectorCaller }): void;
}
