/** What a run says, in order: what its source named, compared with what is stored. */
import type { OpenRequest, Permissions } from "#sources/session.ts";
import type { Failed, Outcome, What } from "#sources/outcomes.ts";

export type SyncEvent =
  | Exclude<Outcome, Failed>
  /**
   * Everything before is covered by it once it is stored. Between the pages of a group nothing is stored. `looks`: requests
   * that list, or folders, since the last one. A run whose source tells them may end here as `partial` when it has listed
   * too long, and the next one goes on from this cursor, as another attempt of it would; not where permissions are mirrored.
   * Source: docs/decisions/0070. `isLast`: the end follows. Who stops here has nothing to go on with, and begins again.
   */
  | { t: "checkpoint"; cursor: unknown; looks?: number; isLast?: true }
  | { t: "progress"; done: number; total?: number; note?: string }
  | SyncEnd;

/** The last thing a run says, when its source said all it had. */
export interface SyncEnd {
  t: "end";
  /** `complete` = every living id in scope was named in this run, except in what `notLookedAt` names. */
  listing: "complete" | "partial";
  /** What this run could not look at; it stays as it is, and its permissions grow old. */
  notLookedAt?: readonly What[];
  /** Why the listing is partial, for the connector's owner; the run ends as partial with it. */
  why?: string;
  permissions: Permissions;
}

export interface SyncRequest extends OpenRequest {
  /** As a checkpoint gave it. */
  cursor: unknown;
  /** For `items`: only these. */
  externalIds?: readonly string[];
}
