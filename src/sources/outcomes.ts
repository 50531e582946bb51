/**
 * Events about the things at a source. They come in the pages of a walk, between pages, and when single things are
 * read.
 */
import type { Principal, SourceAccess } from "#core/principals.ts";
import type { IdentityEvent } from "./identity-events.ts";
import type { ContainerRef, SourceItem } from "./item.ts";

/** Any event about one thing. */
export type Outcome =
  | Result
  | Failed
  | { t: "access"; externalId: string; access: SourceAccess }
  /**
   * Things that are unchanged and still exist, for things that aren't compared by an entry, such as the parts of an
   * unchanged thing. `container` adds every stored item that has the container in its home chain.
   */
  | { t: "seen"; externalIds: readonly string[]; container?: ContainerRef }
  /**
   * The container no longer exists, and neither do the items that have it in their home chain. All of them are removed,
   * or held for review if there are suspiciously many. Items that the run already named with another home are no longer
   * in the container.
   */
  | ({ t: "delete_container" } & ContainerRef)
  /**
   * Everything in a container was listed, or everything created in it from `from` on and before `to` (epoch
   * milliseconds). Items that the run didn't name are removed, and so are groups if the container was listed as a
   * whole. The reported permissions of the remaining items are current. Useful if a complete listing takes long.
   */
  | { t: "listed"; container: ContainerRef; from?: number; to?: number }
  /**
   * Groups and users that were found during the walk, as in `syncIdentities`: a folder, a project or a restriction may
   * be a group, and a public container is a group with the member `everyone`. A complete listing must name all of them,
   * since a group that it doesn't name ends. A group with `containers`, its home chain, also ends with a `listed` of
   * one of these containers that doesn't name the group.
   */
  | (Extract<IdentityEvent, { t: "group" }> & { containers?: readonly ContainerRef[] })
  | Extract<IdentityEvent, { t: "member" | "identity" }>;

/** The result of reading one thing. */
export type Result =
  | { t: "upsert"; item: SourceItem }
  | { t: "delete"; externalId: string }
  /**
   * The source refused this one thing. If permissions are mirrored, no one can read the thing until the source shows it
   * again; a refused group has no members until it is read in full again. If the source refuses everything,
   * `source_unauthorized` is thrown instead.
   */
  | { t: "refused"; what: SourceRef; code: RefusalCode }
  | Skip;

/**
 * A thing that is left out, with the reason. `failed`: the previous version stays, and the id counts as named.
 * `too_large`: a stored item also stays, and its text is kept for some days. With every other reason, the thing isn't
 * an item, and a stored item is removed. A folder that is left out has the folder's id.
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
 * Something that could not be read or parsed: a container with all of its contents, a group, or an item. It stays
 * unchanged, and its permissions age if permissions are mirrored and the walk covered everything. The failure is
 * counted under its id, or under `as`.
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
 * One thing at the source. `isRest`: the items of a container that the run doesn't name, because one of the container's
 * lists could not be read.
 */
export type SourceRef = { externalId: string } | { container: ContainerRef; isRest?: true } | { group: Principal };
