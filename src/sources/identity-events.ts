import type { Principal } from "#core/principals.ts";

/** One event about a source's users and groups, in order. Repeating it changes nothing. */
export type IdentityEvent<Cursor = unknown> =
  /**
   * One of the connector's own groups, in full. Its members may be users, other groups and `everyone`. Over 5,000
   * members come in pages, all but the last with `more`; they take effect together at the last.
   */
  | { t: "group"; group: Principal; members: readonly Principal[]; etag?: string; more?: true }
  /** Groups that are unchanged since they were last reported in full (304, or the same etag). */
  | { t: "group_same"; groups: readonly Principal[] }
  /** A change to a group that was reported in full before; for a feed of changes. */
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
  /** Covers everything yielded before it, once it is stored. */
  | { t: "checkpoint"; cursor: Cursor }
  | {
      t: "end";
      /**
       * `complete`: a `whole` run named every existing group and user, except those in `notLookedAt`; any that it
       * didn't name end. A run of `changes` read its feed to the end.
       */
      listing: "complete" | "partial";
      /**
       * Groups and users that could not be read: they don't end because they weren't named, and their age isn't reset.
       */
      notLookedAt?: readonly Principal[];
    };

/** The scope of a run. */
export interface IdentityRun<Cursor = unknown> {
  /** Everything; or only `groups`; or the changes since the cursor, and what `due` names. */
  mode: "whole" | "groups" | "changes";
  groups?: readonly Principal[];
  /**
   * In mode `whole`, from an earlier attempt of the same run or from a run that could not reach the provider, else from
   * the last run; null at the first.
   */
  cursor: Cursor | null;
  /** Groups and users that were not read for long, the oldest first, groups before users. */
  due(limit: number): AsyncIterable<Principal>;
  /** Every group that was reported before: one that a `whole` run can't read stays only if it is named at the end. */
  groupsReported(): AsyncIterable<Principal>;
}
