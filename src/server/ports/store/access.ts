import type { Principal, SourceAccess } from "#server/ports/source.ts";

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
  /** The closure: every principal these stand for through memberships, themselves included, sorted. */
  expand(principals: readonly Principal[]): Promise<Principal[]>;
  /** Of these access numbers, those that every list of which holds one of `principals`. */
  visibleOf(aclIds: readonly number[], principals: readonly Principal[]): Promise<Set<number>>;
  /** Makes exactly these the members of a group, as `reportedBy` says; raises the epoch when something changed. */
  setMembers(group: Principal, members: readonly Principal[], reportedBy: string): Promise<void>;
  /** Who is a direct member of the group. */
  membersOf(group: Principal): Promise<Principal[]>;
}
