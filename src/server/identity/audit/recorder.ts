import type { Actor, ConnectorCaller } from "#storage/access/actor.ts";
import type { AuditAct } from "#storage/audit-act.ts";
import type { NewAuditRecord } from "#storage/audit-chain.ts";
import type { Store } from "#storage/records/store.ts";

/** A person or process without an actor: the server itself, or a person who has just signed in or failed to. */
export interface AuditPerson {
  userId?: string;
  requestId?: string;
  clientIp?: string | null;
}

/** Writes the audit rows of a feature. Services get it as a dependency. Source: S53. */
export interface AuditRecorder {
  /** Records the actor's action in `tx`, the transaction of that action. */
  record(tx: Store, actor: Actor, act: AuditAct): Promise<void>;
  /** Records an action of the server itself, or of a person who has just signed in. */
  recordSystem(tx: Store, workspaceId: string, act: AuditAct, who?: AuditPerson): Promise<void>;
  /** Makes the audit row of a server action, for callers that append it in their own transaction. */
  makeSystemRow(act: AuditAct): NewAuditRecord;
}

/** The place where items were shown: a tool, or a REST route by its method and pattern. */
export interface ReadPlace {
  type: "tool" | "route";
  name: string;
}

/** Records which items were shown or read, as ids only, without queries and titles. Source: S53. */
export interface ReadRecorder {
  /**
   * Records the items of a response. New items are on disk within a second, in batches, so that searches don't wait for
   * the write. They are in the chain within a minute. Items that the credential already received that day are only
   * counted.
   *
   * @throws ApiError `unavailable` if 10,000 rows could not be written, since nothing is shown that can't be audited
   */
  recordReads(actor: Actor, place: ReadPlace, kbIds: readonly string[]): void;
}

/** Records the first use of each credential, and its first use from each network. */
export interface UseRecorder {
  recordUse(caller: { actor: Actor } | { connector: ConnectorCaller }): void;
}
