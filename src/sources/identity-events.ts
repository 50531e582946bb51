import type { Principal } from "#core/principals.ts";

/**
 * An event about a source's users and groups. Events are applied in order, and applying an event twice changes nothing.
 */
export type IdentityEvent<Cursor = unknown> =
  /**
   * One of the connector's own groups with all of its members. Members may be users, other groups and `everyone`. A
   * group of over 5,000 members comes in several events, all but the last with `more`; the members take effect together
   * with the last event.
   */
  | { t: "group"; group: Principal; members: readonly Principal[]; etag?: string; more?: true }
  /** Groups that are unchanged since they were last reported in full, according to a 304 or an equal etag. */
  | { t: "group_same"; groups: readonly Principal[] }
  /** A membership change of a group that was reported in full before. For sources with a change feed. */
  | { t: "member"; group: Principal; member: Principal; removed?: true }
  | {
      t: "identity";
      principal: Principal;
      /** Only `active` users have access. */
      state: "active" | "suspended" | "gone";
      name?: string;
      login?: string;
      /** `isVerified` is true only if the API states that the provider verified the address. */
      email?: { address: string; isVerified: boolean };
      /** Other ids of the same user at the same instance. */
      sameAs?: readonly Principal[];
    }
  /** Confirms all events before the checkpoint, once it is stored. */
  | { t: "checkpoint"; cursor: Cursor }
  | {
      t: "end";
      /**
       * `complete`: a run of mode `whole` named every existing group and user except those in `notLookedAt`, and groups
       * and users that it didn't name end. A `complete` run of mode `changes` read its feed to the end.
       */
      listing: "complete" | "partial";
      /**
       * Groups and users that could not be read. They don't end although they weren't named, and their age isn't reset.
       */
      notLookedAt?: readonly Principal[];
    };

/** The scope of a run. */
export interface IdentityRun<Cursor = unknown> {
  /**
   * `whole` reads everything, `groups` reads only the groups, and `changes` reads the changes since the cursor and what
   * `due` returns.
   */
  mode: "whole" | "groups" | "changes";
  groups?: readonly Principal[];
  /**
   * In mode `whole`: the cursor of an earlier attempt of the same run, or of a run that could not reach the provider,
   * otherwise of the last run. Null at the first run.
   */
  cursor: Cursor | null;
  /** Returns groups and users that have not been read for a long time: the oldest first, groups before users. */
  due(limit: number): AsyncIterable<Principal>;
  /**
   * Lists every group that was reported before. If a `whole` run can't read a group, the group stays only if the end of
   * the run names it.
   */
  groupsReported(): AsyncIterable<Principal>;
}
