import type { Principal, SourceAccess } from "#core/principals.ts";

/** What decides, beside the lists, whether a connector's items may be read at all. */
export interface ConnectorGate {
  connectorId: string;
  providerId: string;
  ownerUserId: string;
  state: string;
  /** Epoch milliseconds of the last listing that would have shown a permission change; null = never or forgotten. */
  aclCheckedAt: number | null;
}

/** The permission model's records of one workspace. Source: design page "auth", S1–S6. */
export interface AccessStore {
  /** Rises with every change to memberships, roles, connector access or state; keys the caches. */
  epoch(): Promise<number>;
  /** Raises the epoch; call it in the transaction of the change. */
  raiseEpoch(): Promise<void>;
  /**
   * The number of an access: the source's lists AND each of `always` (connector and connection groups).
   * 0 = nobody, and nobody AND anything is nobody. Equal accesses have equal numbers; numbers are never reused.
   */
  intern(access: SourceAccess, always: readonly Principal[]): Promise<number>;
  /** The lists of an access, for explain and for the re-check; `[]` for 0 (nobody) and for unknown numbers. */
  listsOf(aclId: number): Promise<Principal[][]>;
  /**
   * The closure: every principal these stand for through memberships, themselves included, sorted. A membership counts
   * only as its authority reported it: `group:<con>:…` by that connector, everything else by `kb` (S2, N3).
   */
  expand(principals: readonly Principal[]): Promise<Principal[]>;
  /** The direct memberships of these principals, counted as `expand` counts them. */
  groupsOf(principals: readonly Principal[]): Promise<{ member: Principal; group: Principal }[]>;
  /** True while this user is a member of the workspace. */
  isMember(userId: string): Promise<boolean>;
  /** Every connector's gate. */
  connectorGates(): Promise<ConnectorGate[]>;
  /** The highest numbers given so far; numbers only grow and never change their meaning. */
  marks(): Promise<{ listId: number; aclId: number }>;
  /** Of the lists numbered above `afterListId`, those that hold one of `principals`. */
  listsHolding(principals: readonly Principal[], afterListId: number): Promise<number[]>;
  /** Accesses numbered above `afterAclId`, ascending, at most `limit`. */
  accessesAfter(afterAclId: number, limit: number): Promise<{ aclId: number; listIds: number[] }[]>;
  /** Of these access numbers, those that every list of which holds one of `principals`. */
  visibleOf(aclIds: readonly number[], principals: readonly Principal[]): Promise<Set<number>>;
  /** Makes exactly these the members of a group, as `reportedBy` says; raises the epoch when something changed. */
  setMembers(group: Principal, members: readonly Principal[], reportedBy: string): Promise<void>;
  /**
   * Adds and takes out members of a group, as `reportedBy` says; raises the epoch when something changed.
   *
   * @returns which of the named members were in it before
   */
  changeMembers(
    group: Principal,
    change: { add: readonly Principal[]; remove: readonly Principal[] },
    reportedBy: string,
  ): Promise<Set<Principal>>;
  /** Ends every membership that this connector reported; raises the epoch. */
  dropReported(reportedBy: string): Promise<void>;
  /** Who is a direct member of the group. */
  membersOf(group: Principal): Promise<Principal[]>;
}
