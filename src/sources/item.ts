/** An item as a source reports it, the people and containers that it names, and its content. */
import type { EntityType, ItemKind, TaskStatus } from "#api/common.ts";
import type { FieldName, FieldsAs } from "#api/item-fields.ts";
import type { Principal, SourceAccess } from "#core/principals.ts";

/**
 * A person as the source names them. `claimed` = stated by the document (git, front matter, properties), never proven.
 */
export interface SourcePerson {
  name: string;
  principal?: Principal;
  email?: string;
  login?: string;
  claimed: boolean;
}

/** A folder, project, repository, channel, label … that holds the item. */
export interface SourceContainer {
  type: Exclude<EntityType, "person">;
  /** Stable id at the source, unique per (connector, type). */
  id: string;
  name: string;
  parentId?: string;
  /**
   * Part of the chain of containers that the item lives in, each inside the next: removing one of these removes the
   * item. An item has one chain; a label, an assignee or a second folder that shows it isn't part of it.
   */
  isHome?: true;
}

/** The values a source gives, by the field's type. A date is epoch milliseconds; RFC 3339 on the wire of `push`. */
export interface SourceValues {
  kind: ItemKind;
  title: string;
  status: TaskStatus | undefined;
  text: string | undefined;
  name: string | undefined;
  /** Only folders that the item's readers can see at the source. */
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
   * The title is a file's name: the item is shown by its document's own title, if it has one, and the name becomes its
   * key.
   */
  hasFileTitle?: true;
  url?: string;
  /** A template that, appended to `url`, links to a line of its text, as in `#L{line}`. */
  lineAnchor?: string;
  /** The place a person knows; the item's `source` is `<providerId>:<place>`. */
  place?: string;
  /**
   * The item this one is a part of (a comment's issue, an attachment's page): anyone who can't read that one can't read
   * this one. Source: S20.
   */
  partOf?: string;
  /** The item that this one answers. Structure only: it has no effect on who may read either. */
  replyTo?: string;
  /**
   * Stays the same when the item is renamed (device and inode of a file with one link): a new externalId with the hint
   * and the text of a known item is that item, and keeps its kbId.
   */
  identityHint?: string;
  /**
   * The item's previous id, as the source reports it: a living item with that id moves here with its kbId, even if its
   * text changed. Ignored when this id is known already, or the previous one was named in this run.
   */
  formerId?: string;
  version?: string;
  /** Other people by role: reviewers, senders, mentioned. */
  people?: readonly SourcePerson[];
  containers?: readonly SourceContainer[];
  /**
   * The text itself (`inline`), bytes to be extracted (`fetch`), or neither, and why: `message` can say more than
   * `reason`. The text of an item that is now `too_large` stays for some days.
   */
  content:
    | { type: "inline"; text: string }
    | {
        type: "fetch";
        /**
         * How `fetchContent` finds the content (a blob's id, a revision): never a secret, an expiring address, or over
         * 1 KiB.
         */
        ref?: string;
      }
    | { type: "none"; reason?: "unsupported_type" | "too_large" | "empty" | "encrypted"; message?: string };
  /**
   * With `partOf`, a reader needs both accesses. Absent: that of `partOf` alone; without `partOf`, no one can read it.
   */
  access?: SourceAccess;
}

/** A container by its stable id, unique per (connector, type). Never mixed with ids of items. */
export interface ContainerRef {
  type: SourceContainer["type"];
  id: string;
}

/** An item's content, in one piece or as a stream. */
export type FileContent = {
  mimeType?: string;
  fileName: string;
  /**
   * The version of the content returned here, in the form of `SourceItem.version`. Required where permissions are
   * mirrored.
   */
  version?: string;
} & ({ bytes: Uint8Array; stream?: never } | { stream: AsyncIterable<Uint8Array>; bytes?: never });
