import type { Principal } from "#core/principals.ts";

/** One thing a source says of its users and groups, in order. Changes nothing when it is said again. */
export type IdentityEvent<Cursor = unknown> =
  /**
   * A group of the connector's own, whole. Its members may be users, other groups and `everyone`. Over 5,000 members come in
   * pages, all but the last with `more`; they count together at the last.
   */
  | { t: "group"; group: Principal; members: readonly Principal[]; etag?: string; more?: true }
  /** Groups that are as they were when they were last told whole (304, or the same etag). */
  | { t: "group_same"; groups: readonly Principal[] }
  /** A change to a group that was told whole before; for a feed of changes. */
  | { t: "member"; group: Principal; member: Principal; removed?: true }
  | {
      t: "identity";
      principal: Principal;
      /** Only `active` counts. */
      state: "active" | "suspended" | "gone";
      name?: string;
      login?: string;
      /** `isVerified` only where the API says that the provider verified it. */
      email?: { address: string; isVerified: boolean };
      /** Other ids of the same user, of the same instance. */
      sameAs?: readonly Principal[];
    }
  /** Everything yielded before is covered by it once it is stored. */
  | { t: "checkpoint"; cursor: Cursor }
  | {
      t: "end";
      /**
       * `complete`: a `whole` run named every group and user there is, except in `notLookedAt`; what it did not name ends. A
       * run of `changes` read its feed to the end.
       */
      listing: "complete" | "partial";
      /** What could not be looked at: it ends for no silence, and keeps the clock it has. */
      notLookedAt?: readonly Principal[];
    };

/** What a run is to read. */
export interface IdentityRun<Cursor = unknown> {
  /** Everything; or only `groups`; or what changed since the cursor, and what `due` names. */
  mode: "whole" | "groups" | "changes";
  groups?: readonly Principal[];
  /** In mode `whole` that of its own former attempt or of a run that could not reach the provider, else that of the last run; null at the first. */
  cursor: Cursor | null;
  /** Groups and users that were not looked at for long, the oldest first, groups before users. */
  due(limit: number): AsyncIterable<Principal>;
  /** Every group that was told before: what a `whole` run can't look at stays only if it is named at the end. */
  groupsTold(): AsyncIterable<Principal>;
}
