/** The events of a run, in order: what its source named, compared with what is stored. */
import type { OpenRequest, Permissions } from "#sources/session.ts";
import type { Failed, Outcome, SourceRef } from "#sources/outcomes.ts";

export type SyncEvent =
  | Exclude<Outcome, Failed>
  /**
   * Covers every event before it once it is stored. Nothing is stored between the pages of a group. `looks`: requests
   * that list, or folders, since the last one. A run whose source counts them may end here as `partial` when it has
   * listed too long, and the next one goes on from this cursor, as another attempt of it would; not where permissions
   * are mirrored. Source: docs/decisions/0070. `isLast`: the end follows. A run that stops here has nothing to resume
   * from, and begins again.
   */
  | { t: "checkpoint"; cursor: unknown; listings?: number; isLast?: true }
  | { t: "progress"; done: number; total?: number; note?: string }
  | SyncEnd;

/** The last event of a run whose source reported everything. */
export interface SyncEnd {
  t: "end";
  /** `complete` = every living id in scope was named in this run, except in the parts that `notLookedAt` names. */
  listing: "complete" | "partial";
  /** Parts that this run could not read; they stay as they are, and their permissions grow old. */
  notLookedAt?: readonly SourceRef[];
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
