/** What a run says, in order. */
import type { Principal, SourceAccess } from "#core/principals.ts";
import type { Scope } from "#core/scope.ts";
import type { IdentityEvent } from "./identity-events.ts";
import type { ContainerRef, SourceItem } from "./item.ts";

/** One thing a source says during a run, in order. */
export type SyncEvent<Cursor = unknown> =
  | { t: "upsert"; item: SourceItem }
  | { t: "access"; externalId: string; access: SourceAccess }
  | { t: "delete"; externalId: string }
  /**
   * The container is gone, with every item that has it in its home chain. All of it is removed or, when that is
   * suspiciously much, held. Items that the run named before with another home are not in it any more.
   */
  | ({ t: "delete_container" } & ContainerRef)
  /** Unchanged but alive: feeds the sweep. With `container` also every stored item that has it in its home chain. */
  | { t: "seen"; externalIds: readonly string[]; container?: ContainerRef }
  /**
   * Everything that lives in a container was listed, or what of it was created from `from` on and before `to` (epoch milliseconds): what was not
   * named goes, groups too where it was listed whole, and the permissions of what was are as it said. Earns its keep where a whole listing takes long.
   */
  | { t: "listed"; container: ContainerRef; from?: number; to?: number }
  /**
   * The source would not show this, and that is about this alone. Where permissions are mirrored nobody reads it, or stands
   * for the group, until the source shows it again: a group by reading it whole. A refusal of everything is thrown: `source_unauthorized`.
   */
  | { t: "refused"; what: What; code: RefusalCode }
  /**
   * Groups and users found on the way, as in `syncIdentities`: a folder, a project, a restriction may be a group, and a
   * public container is one with `everyone`. A complete listing names them all; one that it does not name ends. A group
   * with `containers`, the chain that it is in, ends with a `listed` of one of them that does not name it.
   */
  | (Extract<IdentityEvent, { t: "group" }> & { containers?: readonly ContainerRef[] })
  | Extract<IdentityEvent, { t: "member" | "identity" }>
  /**
   * Everything yielded before is covered by it once it is stored. Between the pages of a group nothing is stored. `looks`:
   * requests that list, or folders, since the last one. A run of a source that tells them may end here as `partial` when it
   * has listed too long, and the next one goes on from this cursor, which holds `runId`, as another attempt of it would; not
   * where permissions are mirrored. Told every few seconds, whatever is found. Source: docs/decisions/0070.
   */
  | { t: "checkpoint"; cursor: Cursor; looks?: number }
  | { t: "progress"; done: number; total?: number; note?: string }
  /**
   * Not taken, and why. `failed`: the former version stays and the id counts as named; so does a stored item that is
   * `too_large` now, whose text stays for some days. Every other reason: it is no item, and a stored one goes with the
   * sweep. A left-out folder is one event with the folder's id.
   */
  | {
      t: "skip";
      externalId: string;
      reason:
        | "too_large"
        | "unsupported_type"
        | "empty"
        | "excluded_by_scope"
        | "excluded_by_policy"
        | "generated"
        | "failed";
      message: string;
      retryable: boolean;
    }
  | SyncEnd;

/** The last thing a source says, when it said all it had. */
export interface SyncEnd {
  t: "end";
  /** `complete` = every living id in scope was named in this run, except in what `notLookedAt` names. */
  listing: "complete" | "partial";
  /** What this run could not look at; it stays as it is, and its permissions grow old. */
  notLookedAt?: readonly What[];
  /** Why the listing is partial, for the connector's owner; the run ends as partial with it. */
  why?: string;
  /** `current` = this run would have shown every change of a permission, and of a group told in syncs, up to its beginning. */
  permissions: "current" | "not_checked";
}

/** Why a source would not show one thing. */
export type RefusalCode = "source_forbidden" | "source_not_found" | "source_gone";

/** One thing at the source that an event is about. */
export type What = { externalId: string } | { container: ContainerRef } | { group: Principal };

export interface SyncRequest<Cursor> {
  /**
   * `access`: only who may read what, for a source whose increments do not tell. Its cursor is that of its own former
   * attempt, and what it puts into the state is not kept.
   */
  mode: "full" | "incremental" | "access" | "items";
  /**
   * The same for every attempt of one run, and for the runs that list everything together. A cursor holds it, so that a
   * source which names what it found before the cursor only once resumes within them, and starts again in the next one.
   */
  runId?: string;
  scope: Scope;
  cursor: Cursor | null;
  /** For `items`: only these. */
  externalIds?: readonly string[];
  /** A person asked for it: groups that it tells between items are read, however young the last reading of each is. */
  readsGroups?: true;
}
