import type { Principal } from "#core/principals.ts";
import type { SyncCounts } from "./tables/syncs.ts";

/** The kind of run that reports a group or user and ends those it no longer reports. */
export type ReportingRun = "identities" | "sync";

export type IdentityState = "active" | "suspended" | "gone";

/** A group that was read whole; made by `makeGroupPages`. */
export interface WholeGroup {
  t: "group";
  group: Principal;
  /** JSON array of the members, as reported. */
  members: string;
  count: number;
  /** Of `members`. */
  digest: string;
  etag: string | null;
  /** Epoch milliseconds at which its first page arrived. */
  at: number;
  /** Containers, by entity, whose listings report it: it ends when one of them no longer names it. */
  homes?: readonly string[];
}

/** A change to the known groups and users, already checked by the authority rule; stored in order. */
export type PeopleEvent =
  | WholeGroup
  | { t: "group_same"; groups: readonly Principal[]; at: number }
  /** The source refused to show it: it has no members until it is read whole again. */
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
  /** Whether its users may be members here. If not, they are only names: their states end nothing and admit no one. */
  isTrusted: boolean;
  /** The run, the same in all its attempts. */
  runId: string;
  /** `whole` lists everything, `changes` follows a feed, `groups` reads some groups. */
  mode: "whole" | "changes" | "groups";
  /** The claimed job: a worker that lost its lease stores nothing. */
  job?: { jobId: string; leaseOwner: string };
  /** The connector's version when the run began: a run that began with another config stores nothing. Absent = not checked. */
  scopeVersion?: number;
  now: number;
  /** Its groups are valid as long as its config, and never expire. */
  neverAges?: boolean;
  /** When this attempt began: its reports may be that old. Absent where no other run reports at the same time. */
  begunAt?: number;
  /** A group or user whose clock was older than this raises the epoch when it comes back. */
  maxAclAgeMs: number;
}

/** The identities run that reports; its counts are stored with its reports. */
export interface PeopleRun {
  syncId: string;
  /** Counted by the run itself, since the previous checkpoint. */
  addCounts?: Partial<SyncCounts>;
}

export interface PeopleBatch extends PeopleReporter {
  /** Absent for the reports of a sync. */
  run?: PeopleRun;
  /** The feed position that `begin` gave this attempt. */
  since: number;
  events: readonly PeopleEvent[];
  /**
   * Set where a cursor covers everything up to here: its JSON, null when it is stored elsewhere (a sync's). Absent = a
   * slice, which may be repeated: it holds no `member`.
   */
  checkpoint?: { cursor: string | null };
}

export interface PeopleCounts {
  /** Groups read whole, and those of them whose members hadn't changed. */
  groups: number;
  unchanged: number;
  /** Groups reported as unchanged. */
  same: number;
  added: number;
  removed: number;
  /** Additions to groups that were never read whole, or are known in a newer state. */
  stale: number;
  identities: number;
  /** Groups that ended in a sweep. */
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
      /** Groups that were reported as unchanged but aren't known: they must be read whole. */
      unknown: Principal[];
    }
  /** Nothing was stored. */
  | { isApplied: false; reason: PeopleRefusal };

/** The end of a completed run. */
export interface PeopleEnd extends PeopleReporter {
  run?: PeopleRun;
  /** The listing of a `whole` run was complete: what it didn't name ends. */
  isComplete: boolean;
  /** Only groups of this container, by entity. */
  home?: string;
  /** Groups and users that couldn't be checked: they don't end, and keep their clocks. */
  notLookedAt: readonly Principal[];
  /** Containers, by entity, that couldn't be checked, and with them every group in them that this run didn't name. */
  homesNotLookedAt?: readonly string[];
  /** The feed reports every change, and was read to its end at this time: the clock of everything it reports. */
  currentAt?: number;
}

/** The result of a slice of the work that an end is. */
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
