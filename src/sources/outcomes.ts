/** Events about the things at a source: in the pages of a walk, between them, and when single ones are read. */
import type { Principal, SourceAccess } from "#core/principals.ts";
import type { IdentityEvent } from "./identity-events.ts";
import type { ContainerRef, SourceItem } from "./item.ts";

/** Any event about one thing. */
export type Outcome =
  | Result
  | Failed
  | { t: "access"; externalId: string; access: SourceAccess }
  /**
   * Unchanged and still there, for things that no entry compares, such as the parts of an unchanged thing. With
   * `container` also every stored item that has it in its home chain.
   */
  | { t: "seen"; externalIds: readonly string[]; container?: ContainerRef }
  /**
   * The container is gone, with every item that has it in its home chain. All of it is removed or, when that is
   * suspiciously much, held. Items that the run already named with another home are no longer in it.
   */
  | ({ t: "delete_container" } & ContainerRef)
  /**
   * Everything in a container was listed, or everything created in it from `from` on and before `to` (epoch
   * milliseconds). What was not named is removed, groups too if it was listed whole, and the reported permissions of
   * the rest are current. Useful where a whole listing takes long.
   */
  | { t: "listed"; container: ContainerRef; from?: number; to?: number }
  /**
   * Groups and users found during the walk, as in `syncIdentities`: a folder, a project, a restriction may be a group,
   * and a public container is one with `everyone`. A complete listing names them all; one that it doesn't name ends. A
   * group with `containers`, its home chain, ends with a `listed` of one of them that doesn't name it.
   */
  | (Extract<IdentityEvent, { t: "group" }> & { containers?: readonly ContainerRef[] })
  | Extract<IdentityEvent, { t: "member" | "identity" }>;

/** The result for one thing. */
export type Result =
  | { t: "upsert"; item: SourceItem }
  | { t: "delete"; externalId: string }
  /**
   * The source refused this one thing. Where permissions are mirrored, no one can read it, or a refused group has no
   * members, until the source shows it again: a group by reading it whole. A refusal of everything is thrown:
   * `source_unauthorized`.
   */
  | { t: "refused"; what: SourceRef; code: RefusalCode }
  | Skip;

/**
 * Left out, and why. `failed`: the previous version stays and the id counts as named; the same for a stored item that
 * is `too_large` now, whose text stays for some days. Every other reason: it isn't an item, and a stored one is
 * removed. A left-out folder has the folder's id.
 */
export interface Skip {
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

/**
 * Something that could not be read, or isn't understood: a container with all its contents, a group, an item. It stays,
 * and its permissions age if they are mirrored and everything was walked. It is counted under its id, or `as`.
 */
export interface Failed {
  t: "failed";
  what: SourceRef;
  message: string;
  as?: string;
}

/** Why a source refused one thing. */
export type RefusalCode = "source_forbidden" | "source_not_found" | "source_gone";

/**
 * One thing at the source. `isRest`: of a container, only the items that the run doesn't name, because one of its lists
 * could not be read.
 */
export type SourceRef = { externalId: string } | { container: ContainerRef; isRest?: true } | { group: Principal };
