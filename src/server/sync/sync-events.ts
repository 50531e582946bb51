/** The events of a run, in order. They report what its source named, compared with what is stored. */
import type { OpenRequest, Permissions } from "#sources/session.ts";
import type { Failed, Outcome, SourceRef } from "#sources/outcomes.ts";

export type SyncEvent =
  | Exclude<Outcome, Failed>
  /**
   * Covers every event before it once it is stored. Nothing is stored between the pages of a group. `listings`: the
   * number of requests that list, or of folders, since the last checkpoint. If its source counts them, a run that has
   * listed too long may end here as `partial`, and the next run continues from this cursor, as another attempt would.
   * This doesn't apply if permissions are mirrored. Source: docs/decisions/0070. `isLast`: the end follows. A run that
   * stops here has nothing to resume from, and begins again.
   */
  | { t: "checkpoint"; cursor: unknown; listings?: number; isLast?: true }
  | { t: "progress"; done: number; total?: number; note?: string }
  | SyncEnd;

/** The last event of a run whose source reported everything. */
export interface SyncEnd {
  t: "end";
  /** `complete` = this run named every id in scope that isn't removed, except in the parts that `notLookedAt` names. */
  listing: "complete" | "partial";
  /** Parts that this run could not read. They stay as stored, and their permissions become older. */
  notLookedAt?: readonly SourceRef[];
  /** Why the listing is partial, for the connector's owner. With a reason, the run ends as partial. */
  why?: string;
  permissions: Permissions;
}

export interface SyncRequest extends OpenRequest {
  /** The cursor of a checkpoint. */
  cursor: unknown;
  /** The items to read, for mode `items`. */
  externalIds?: readonly string[];
}
