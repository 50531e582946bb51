import type { Principal } from "#core/principals.ts";
import type { SyncCounts } from "#storage/records/syncs.ts";

/** What told of a group or user, and so ends what it no longer tells. */
export type ToldIn = "identities" | "sync";

export type IdentityState = "active" | "suspended" | "gone";

/** A group as it was read whole; made by `makeGroupPages`. */
export interface WholeGroup {
  t: "group";
  group: Principal;
  /** JSON array of the members, as they were told. */
  members: string;
  count: number;
  /** Of `members`. */
  digest: string;
  etag: string | null;
  /** Epoch milliseconds at which its first page came. */
  at: number;
  /** Containers, by entity, whose listings tell it: it ends with one that does not name it. */
  homes?: readonly string[];
}

/** A change to what is known of groups and users, already judged by the authority rule; stored in the order given. */
export type PeopleEvent =
  | WholeGroup
  | { t: "group_same"; groups: readonly Principal[]; at: number }
  /** The source would not show it: nobody stands for it until it is read whole again. */
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

/** Who tells. */
export interface PeopleTeller {
  connectorId: string;
  toldIn: ToldIn;
  /** May its users be members here? Otherwise they are names: their states end nothing and let nobody in. */
  isTrusted: boolean;
  /** The run, the same in all its attempts. */
  runId: string;
  /** `whole` lists everything, `changes` follows a feed, `groups` looks at some. */
  mode: "whole" | "changes" | "groups";
  /** The claimed job: a worker that lost its lease stores nothing. */
  job?: { jobId: string; leaseOwner: string };
  /** The connector's when the run began: one that began with another config stores nothing. Absent = not asked. */
  scopeVersion?: number;
  now: number;
  /** Its groups are as true as its config, and never grow old. */
  neverAges?: boolean;
  /** When this attempt began: what it tells may be as old. Absent where nothing else tells at the same time. */
  begunAt?: number;
  /** A clock that was past this comes back with a rise of the epoch. */
  maxAclAgeMs: number;
}

/** The run of identities that tells: what it counts is stored with what it tells. */
export interface PeopleRun {
  syncId: string;
  /** Counted by the run itself, since the checkpoint before. */
  addCounts?: Partial<SyncCounts>;
}

export interface PeopleBatch extends PeopleTeller {
  /** Absent for what a sync tells. */
  run?: PeopleRun;
  /** The position of the feed that `begin` gave to this attempt. */
  since: number;
  events: readonly PeopleEvent[];
  /**
   * Given where a cursor covers everything up to here: its JSON, null where it is stored elsewhere (a sync's). Absent = a
   * slice, which may be told again: it holds no `member`.
   */
  checkpoint?: { cursor: string | null };
}

export interface PeopleCounts {
  /** Groups read whole, and those of them that had the members they have. */
  groups: number;
  unchanged: number;
  /** Groups told to be the same. */
  same: number;
  added: number;
  removed: number;
  /** Additions to groups that were never read whole, or are known in a newer state. */
  stale: number;
  identities: number;
  /** Groups that ended, by a sweep. */
  ended: number;
}

/** A join that a source's word has ended. */
export interface EndedJoin {
  principal: Principal;
  userId: string;
  reason:
    | "suspended"
    | "gone"
    | "vanished"
    | "left"
    | "untied"
    /** The source tells of another person under this id. */
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
      /** Groups that were told to be the same and are not known as anything: to be read whole. */
      unknown: Principal[];
    }
  /** Nothing was stored. */
  | { isApplied: false; reason: PeopleRefusal };

/** The end of a run that came to its end. */
export interface PeopleEnd extends PeopleTeller {
  run?: PeopleRun;
  /** The listing of a run of mode `whole` was complete: what it did not name ends. */
  isComplete: boolean;
  /** Only groups of this container, by entity. */
  home?: string;
  /** What could not be looked at: it does not end, and keeps the clock it has. */
  notLookedAt: readonly Principal[];
  /** Containers, by entity, that could not be looked at: so it is with every group in them that this run did not name. */
  homesNotLookedAt?: readonly string[];
  /** The feed shows every change, and was read to an end that was true then: the clock of all it shows. */
  currentAt?: number;
}

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
