/** An item as a source reports it, with the people and containers that it names, and its content. */
import type { EntityType, ItemKind, TaskStatus } from "#api/common.ts";
import type { FieldName, FieldsAs } from "#api/item-fields.ts";
import type { Principal, SourceAccess } from "#core/principals.ts";

/**
 * A person as the source names them. `claimed` = the document states the name (git, front matter, properties), and
 * nothing proves it.
 */
export interface SourcePerson {
  name: string;
  principal?: Principal;
  email?: string;
  login?: string;
  claimed: boolean;
}

/** A container of the item, such as a folder, project, repository, channel or label. */
export interface SourceContainer {
  type: Exclude<EntityType, "person">;
  /** Stable id at the source, unique per (connector, type). */
  id: string;
  name: string;
  parentId?: string;
  /**
   * True = the container is part of the chain of nested containers that the item belongs to. Removing a container of
   * this chain removes the item. An item has one chain. A label, an assignee or a second folder that shows the item
   * isn't part of it.
   */
  isHome?: true;
}

/**
 * The types of the values that a source reports, by the field's type. A date is epoch milliseconds here, and RFC 3339
 * in a `push` line.
 */
export interface SourceValues {
  kind: ItemKind;
  title: string;
  status: TaskStatus | undefined;
  text: string | undefined;
  name: string | undefined;
  /** Contains only folders that the item's readers can see at the source. */
  path: readonly string[] | undefined;
  texts: readonly string[] | undefined;
  date: number | undefined;
  number: number | undefined;
  person: SourcePerson | undefined;
  people: readonly SourcePerson[] | undefined;
  record: Readonly<Record<string, string | number | boolean | null | readonly string[]>> | undefined;
}

type RequiredField = "kind" | "title";

type OptionalFields = Partial<FieldsAs<SourceValues, Exclude<FieldName, RequiredField>>>;

/** An item as a source reports it: its fields, identity, location and access. */
export interface SourceItem extends FieldsAs<SourceValues, RequiredField>, OptionalFields {
  /** Stable identity at the source, unique per connector. */
  externalId: string;
  /**
   * The title is a file name. The item is then shown with the title of its document, if the document has one, and the
   * file name becomes the item's key.
   */
  hasFileTitle?: true;
  url?: string;
  /** A template that, appended to `url`, links to a line of the item's text, such as `#L{line}`. */
  lineAnchor?: string;
  /** The name of the location as people know it. The item's `source` is `<providerId>:<place>`. */
  place?: string;
  /**
   * The item that this item is part of, such as the issue of a comment or the page of an attachment. People who can't
   * read that item can't read this one. Source: S20.
   */
  partOf?: string;
  /** The item that this item replies to. It has no effect on who may read either item. */
  replyTo?: string;
  /**
   * A value that stays the same when the item is renamed (device and inode of a file with one link). If a new
   * externalId comes with the `identityHint` and the text of a known item, it is treated as that item and keeps its
   * kbId.
   */
  identityHint?: string;
  /**
   * The item's previous id, as the source reports it. An existing item with the previous id is moved to the new id and
   * keeps its kbId, even if its text changed. Ignored if the new id already exists, or if this run already named the
   * previous id.
   */
  formerId?: string;
  version?: string;
  /** Further people by role, such as reviewers, senders and mentioned people. */
  people?: readonly SourcePerson[];
  containers?: readonly SourceContainer[];
  /**
   * The text itself (`inline`), bytes to be extracted (`fetch`), or the reason why there is neither; `message` can be
   * more specific than `reason`. If an item becomes `too_large`, its stored text is kept for some days.
   */
  content:
    | { type: "inline"; text: string }
    | {
        type: "fetch";
        /**
         * Identifies the content for `fetchContent` (a blob's id, a revision). Never a secret, an expiring address, or
         * longer than 1 KiB.
         */
        ref?: string;
      }
    | { type: "none"; reason?: "unsupported_type" | "too_large" | "empty" | "encrypted"; message?: string };
  /**
   * Who may read the item. With `partOf`, a reader needs this access and the access of the `partOf` item. Absent = the
   * access of the `partOf` item alone; without `partOf`, no one can read the item.
   */
  access?: SourceAccess;
}

/** A container by its stable id, which is unique per (connector, type). Ids of containers and items are separate. */
export interface ContainerRef {
  type: SourceContainer["type"];
  id: string;
}

/** An item's content, as one value or as a stream. */
export type FileContent = {
  mimeType?: string;
  fileName: string;
  /**
   * The version of the content returned here, in the form of `SourceItem.version`. Required where permissions are
   * mirrored.
   */
  version?: string;
} & ({ bytes: Uint8Array; stream?: never } | { stream: AsyncIterable<Uint8Array>; bytes?: never });
