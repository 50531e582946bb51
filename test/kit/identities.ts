import type { Principal } from "#core/principals.ts";
import type { SourceContext } from "#sources/contract.ts";

/** What a source tells of groups and users. */
export type IdentityEvent<Cursor = unknown> =
  | { t: "group"; group: Principal; members: readonly Principal[]; etag?: string; more?: true }
  | { t: "group_same"; groups: readonly Principal[] }
  | { t: "member"; group: Principal; member: Principal; removed?: true }
  | {
      t: "identity";
      principal: Principal;
      state: "active" | "suspended" | "gone";
      name?: string;
      login?: string;
      email?: { address: string; isVerified: boolean };
      sameAs?: readonly Principal[];
    }
  | { t: "checkpoint"; cursor: Cursor }
  | { t: "end"; listing: "complete" | "partial"; notLookedAt?: readonly Principal[] };

export interface IdentityRun<Cursor = unknown> {
  mode: "whole" | "groups" | "changes";
  groups?: readonly Principal[];
  cursor: Cursor | null;
}

/** A source that says who its users are. */
export interface IdentitySource<Config = unknown, Cursor = unknown> {
  syncIdentities?(ctx: SourceContext<Config>, run: IdentityRun<Cursor>): AsyncGenerator<IdentityEvent<Cursor>, void>;
}
