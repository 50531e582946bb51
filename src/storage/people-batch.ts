import type { Principal } from "#core/principals.ts";
import type { SyncCounts } from "./tables/syncs.ts";

/** The kind of run that reports a group or user, and that ends the groups and users it no longer reports. */
export type ReportingRun = "identities" | "sync";

export type IdentityState = "active" | "suspended" | "gone";

/** A group that was read whole. Made by `makeGroupPages`. */
export interface WholeGroup {
  t: "group";
  group: Principal;
  /** JSON array of the members, as reported. */
  members: string;
  count: number;
  /** Digest of `members`. */
  digest: string;
  etag: string | null;
  /** Epoch milliseconds at which the group's first page arrived. */
  at: number;
  /** Containers, by entity, whose listings report the group. The group ends when one of them no longer lists it. */
  homes?: readonly string[];
}

/** A change to the known groups and users that the authority rule has already checked. Changes are stored in order. */
export type PeopleEvent =
  | WholeGroup
  | { t: "group_same"; groups: readonly Principal[]; at: number }
  /** The source refused to show the group, so it has no members until it is read whole again. */
  | { t: "group_refused"; group: Principal }
  | { t: "member"; group: Principal; member: Principal; isRemoved: boolean }
  | {
      t: "identity";
      principal: Principal;
      state: IdentityState;
      name: string | null;
      login: string | null;
      email: string | null;
      isEmailVerified: boolean;
      sameAs: readonly Principal[];
      at: number;
    };

/** The run or program that reports groups and users. */
export interface PeopleReporter {
  connectorId: string;
  toldIn: ReportingRun;
  /**
   * Whether its users may be joined to members. If not, they are only names: their states end no join and give access
   * to no one.
   */
  isTrusted: boolean;
  /** The id of the run, which is the same in all its attempts. */
  runId: string;
  /** `whole` lists everything, `changes` follows a feed, `groups` reads only some groups. */
  mode: "whole" | "changes" | "groups";
  /** The claimed job. A worker that lost its lease stores nothing. */
  job?: { jobId: string; leaseOwner: string };
  /**
   * The connector's version when the run began. A run that began with another config stores nothing. Absent = not
   * checked.
   */
  scopeVersion?: number;
  now: number;
  /** Its groups are valid as long as its config, so they never expire. */
  neverAges?: boolean;
  /** When this attempt began; its reports may be that old. Absent where no other run reports at the same time. */
  begunAt?: number;
  /** How old a clock may be. When a group or user with an older clock is reported again, the epoch is raised. */
  maxAclAgeMs: number;
}

/** The identities run that reports. Its counts are stored with its reports. */
export interface PeopleRun {
  syncId: string;
  /** Events that the run counted itself since the previous checkpoint. */
  addCounts?: Partial<SyncCounts>;
}

export interface PeopleBatch extends PeopleReporter {
  /** Absent for the reports of a sync. */
  run?: PeopleRun;
  /** The feed position that `begin` gave this attempt. */
  since: number;
  events: readonly PeopleEvent[];
  /**
   * Set where a cursor covers everything up to here: the cursor's JSON, or null when the cursor is stored elsewhere (as
   * a sync's is). Absent = a slice that may be repeated, so it contains no `member` events.
   */
  checkpoint?: { cursor: string | null };
}

export interface PeopleCounts {
  /** Groups that were read whole, and how many of them had unchanged members. */
  groups: number;
  unchanged: number;
  /** Groups that were reported as unchanged. */
  same: number;
  added: number;
  removed: number;
  /** Additions to groups that were never read whole, or for which a newer state is known. */
  stale: number;
  identities: number;
  /** Groups that a sweep ended. */
  ended: number;
}

/** A join that a source's report ended. */
export interface EndedJoin {
  principal: Principal;
  userId: string;
  reason:
    | "suspended"
    | "gone"
    | "vanished"
    | "left"
    | "untied"
    /** The source reports another person under this id. */
    | "another_person"
    | "connector_removed"
    | "account_disconnected"
    | "account_unconfirmed"
    | "untrusted";
}

export type PeopleRefusal = "lease_lost" | "connector_inactive" | "overtaken" | "scope_changed";

export type PeopleResult =
  | {
      isApplied: true;
      counts: PeopleCounts;
      endedJoins: EndedJoin[];
      /** Groups that were reported as unchanged but are unknown here, so they must be read whole. */
      unknown: Principal[];
    }
  /** Why nothing was stored. */
  | { isApplied: false; reason: PeopleRefusal };

/** The end of a completed run. */
export interface PeopleEnd extends PeopleReporter {
  run?: PeopleRun;
  /** The listing of a `whole` run was complete, so groups and users that it didn't report end. */
  isComplete: boolean;
  /** Only the groups of this container (an entity) end. */
  home?: string;
  /** Groups and users that couldn't be checked. They don't end, and keep their clocks. */
  notLookedAt: readonly Principal[];
  /**
   * Containers, by entity, that couldn't be checked, and with them every group inside them that this run didn't report.
   */
  homesNotLookedAt?: readonly string[];
  /**
   * The feed reports every change and was read to its end at this time, which becomes the clock of everything that it
   * reports.
   */
  currentAt?: number;
}

/** The result of one slice of ending a run. */
export type PeopleEndSlice =
  | { isApplied: true; isDone: boolean; counts: PeopleCounts; endedJoins: EndedJoin[] }
  | { isApplied: false; reason: PeopleRefusal };

export const NO_PEOPLE: PeopleCounts = {
  groups: 0,
  unchanged: 0,
  same: 0,
  added: 0,
  removed: 0,
  stale: 0,
  identities: 0,
  ended: 0,
};
