import type { Actor, ConnectorCaller } from "#storage/access/actor.ts";
import type { NewAuditRecord } from "#storage/audit-chain.ts";
import type { Store } from "#storage/store.ts";

/** What somebody did. Ids, numbers and words of our own only: no titles, no secrets, no query text. */
export interface AuditAct {
  /** `<noun>.<past participle>`: `connector.created`, `member.removed`. */
  action: string;
  target: { type: string; id: string };
  /** `done` unless told. */
  outcome?: "done" | "refused";
  details?: Record<string, unknown>;
}

/** Somebody without an actor: the server itself, or a person who just signed in or failed to. */
export interface AuditPerson {
  userId?: string;
  requestId?: string;
  clientIp?: string | null;
}

/** Writes the audit rows of a feature; a service takes it as an argument. Source: S53. */
export interface AuditRecorder {
  /** Records an act of this actor in the transaction `tx` of the act. */
  record(tx: Store, actor: Actor, act: AuditAct): Promise<void>;
  /** Records an act of the server itself, or of somebody who just signed in. */
  recordSystem(tx: Store, workspaceId: string, act: AuditAct, who?: AuditPerson): Promise<void>;
  /** The row of an act of the server, for who appends it in a transaction of their own. */
  makeSystemRow(act: AuditAct): NewAuditRecord;
}

/** Where items were shown: one of the tools, or a route of the REST API by its method and pattern. */
export interface ReadPlace {
  type: "tool" | "route";
  name: string;
}

/** Writes down which items were shown or read: ids only, no query and no title. Source: S53. */
export interface ReadRecorder {
  /**
   * Notes the items of one answer. New ones are on the disk within a second, some together, so that no search waits for it,
   * and in the chain within a minute; what the credential received that day before is counted.
   *
   * @throws ApiError `unavailable` when 10,000 rows could not be written: nothing is shown that nobody could trace
   */
  recordReads(actor: Actor, place: ReadPlace, kbIds: readonly string[]): void;
}

/** Notes the use of credentials: the first one, and each from a network it was not used from before. */
export interface UseRecorder {
  recordUse(caller: { actor: Actor } | { connector: ConnectorCaller }): void;
}
