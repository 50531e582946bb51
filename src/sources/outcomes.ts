/** What a source says of the things that are there: in the pages of a walk, between them, and where single ones are read. */
import type { Principal, SourceAccess } from "#core/principals.ts";
import type { IdentityEvent } from "./identity-events.ts";
import type { ContainerRef, SourceItem } from "./item.ts";

/** Whatever there is to say of one thing. */
export type Outcome =
  | Result
  | Failed
  | { t: "access"; externalId: string; access: SourceAccess }
  /**
   * Unchanged but alive, for what no entry compares, such as the parts of a thing that is as it was. With `container` also
   * every stored item that has it in its home chain.
   */
  | { t: "seen"; externalIds: readonly string[]; container?: ContainerRef }
  /**
   * The container is gone, with every item that has it in its home chain. All of it is removed or, when that is
   * suspiciously much, held. Items that the run named before with another home are not in it any more.
   */
  | ({ t: "delete_container" } & ContainerRef)
  /**
   * Everything that lives in a container was listed, or what of it was created from `from` on and before `to` (epoch milliseconds): what was not
   * named goes, groups too where it was listed whole, and the permissions of what was are as it said. Earns its keep where a whole listing takes long.
   */
  | { t: "listed"; container: ContainerRef; from?: number; to?: number }
  /**
   * Groups and users found on the way, as in `syncIdentities`: a folder, a project, a restriction may be a group, and a
   * public container is one with `everyone`. A complete listing names them all; one that it does not name ends. A group
   * with `containers`, the chain that it is in, ends with a `listed` of one of them that does not name it.
   */
  | (Extract<IdentityEvent, { t: "group" }> & { containers?: readonly ContainerRef[] })
  | Extract<IdentityEvent, { t: "member" | "identity" }>;

/** What became of one thing. */
export type Result =
  | { t: "upsert"; item: SourceItem }
  | { t: "delete"; externalId: string }
  /**
   * The source would not show this, and that is about this alone. Where permissions are mirrored nobody reads it, or stands
   * for the group, until the source shows it again: a group by reading it whole. A refusal of everything is thrown: `source_unauthorized`.
   */
  | { t: "refused"; what: What; code: RefusalCode }
  | Skip;

/**
 * Not taken, and why. `failed`: the former version stays and the id counts as named; so does a stored item that is
 * `too_large` now, whose text stays for some days. Every other reason: it is no item, and a stored one goes. A left-out
 * folder is one with the folder's id.
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
 * Something that couldn't be looked at, or isn't understood: a container with all that is in it, a group, an item. It stays,
 * and grows old where permissions are mirrored if everything was walked through. It is counted under its id, or `as`.
 */
export interface Failed {
  t: "failed";
  what: What;
  message: string;
  as?: string;
}

/** Why a source would not show one thing. */
export type RefusalCode = "source_forbidden" | "source_not_found" | "source_gone";

/** One thing at the source. */
export type What = { externalId: string } | { container: ContainerRef } | { group: Principal };
