/** An item as a source gives it, the people and containers that it names, and its content. */
import type { EntityType, ItemKind, TaskStatus } from "#api/common.ts";
import type { FieldName, FieldsAs } from "#api/item-fields.ts";
import type { Principal, SourceAccess } from "#core/principals.ts";

/** A person as the source names them. `claimed` = said by the document (git, front matter, properties), never proven. */
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
   * One of the chain of containers that the item lives in, each inside the next: what removes one of these removes the
   * item. An item has one chain; a label, an assignee or a second folder that shows it is none of it.
   */
  isHome?: true;
}

/** What a source gives as the value of a field, by its type. A date is epoch milliseconds; RFC 3339 on the wire of `push`. */
export interface SourceValues {
  kind: ItemKind;
  title: string;
  status: TaskStatus | undefined;
  text: string | undefined;
  name: string | undefined;
  /** Only folders that the source lets the item's readers see. */
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

/** An item as a source hands it over: its fields, and which item it is, where it is, and who may read it. */
export interface SourceItem extends FieldsAs<SourceValues, RequiredField>, OptionalFields {
  /** Stable identity at the source, unique per connector. */
  externalId: string;
  /**
   * The title is a file's name: the item is shown by the title that its document gives itself, where it gives one, and the
   * name is its key.
   */
  hasFileTitle?: true;
  url?: string;
  /** What leads to a line of its text when it stands after `url`, as in `#L{line}`. */
  lineAnchor?: string;
  /** The place a person knows; the item's `source` is `<providerId>:<place>`. */
  place?: string;
  /**
   * The item this one is a part of (a comment's issue, an attachment's page): readers who may not read that one may not read
   * this one. Source: S20.
   */
  partOf?: string;
  /** The item that this one answers. Structure only: it says nothing about who may read either. */
  replyTo?: string;
  /**
   * What stays the same when the item is renamed (device and inode of a file with one link): a new externalId with the
   * hint and the text of a known item is that item, and keeps its kbId.
   */
  identityHint?: string;
  /**
   * The id that the source itself says this item had until now: a living item there moves here with its kbId, whatever
   * became of its text. Ignored when this id is known already, or the former one was named in this run.
   */
  formerId?: string;
  version?: string;
  /** Others in a role: reviewers, senders, mentioned. */
  people?: readonly SourcePerson[];
  containers?: readonly SourceContainer[];
  /**
   * The text itself (`inline`), bytes to be extracted (`fetch`), or neither, and why: `message` can say more than `reason`.
   * The text of an item that is `too_large` now stays for some days.
   */
  content:
    | { type: "inline"; text: string }
    | {
        type: "fetch";
        /** What `fetchContent` finds the content by (a blob's id, a revision): never a secret, an address that expires, or over 1 KiB. */
        ref?: string;
      }
    | { type: "none"; reason?: "unsupported_type" | "too_large" | "empty" | "encrypted"; message?: string };
  /** With `partOf` both accesses must let somebody in. Absent: that of `partOf` alone; without one nobody's. */
  access?: SourceAccess;
}

/** A container by its stable id, unique per (connector, type). Never mixed with ids of items. */
export interface ContainerRef {
  type: SourceContainer["type"];
  id: string;
}

/** An item's content, in one piece or as it comes. */
export type FileContent = {
  mimeType?: string;
  fileName: string;
  /** That of what is given here, in the form of `SourceItem.version`. Required where permissions are mirrored. */
  version?: string;
} & ({ bytes: Uint8Array; stream?: never } | { stream: AsyncIterable<Uint8Array>; bytes?: never });
