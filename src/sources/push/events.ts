import type { HeldBytes } from "#core/spool.ts";
import type { ErrorCode } from "#api/errors.ts";
import type { Principal } from "#core/principals.ts";
import type { SourceItem } from "#sources/item.ts";
import type { Outcome } from "#sources/outcomes.ts";

/** The event of a pushed line about an item. */
export type PushItemEvent =
  | Extract<Outcome, { t: "upsert" | "access" }>
  /** `subtree` also deletes everything below `<externalId>/`. */
  | { t: "delete"; externalId: string; subtree?: boolean }
  /** The item still exists, and has this version if the line contains one. */
  | { t: "seen"; externalId: string; version?: string };

/** The event of a pushed line about the connector's own people and groups. */
export type PushPeopleEvent =
  /** Links a user of the pusher's system to this member of the workspace; null = removes the link. */
  | { t: "identity"; principal: Principal; member: Principal | null }
  /** Adds a principal to a group, or removes it from the group. */
  | { t: "member"; group: Principal; member: Principal; remove: boolean }
  /** Replaces all members of a group. */
  | { t: "group"; group: Principal; members: readonly Principal[] };

export type PushEvent = PushItemEvent | PushPeopleEvent;

/** A parsed line of a push. `notes` list the values that were left out. */
export type PushedLine =
  | { ok: true; line: number; externalId: string; event: PushItemEvent; notes: readonly string[] }
  | { ok: true; line: number; externalId: null; event: PushPeopleEvent; notes: readonly string[] }
  /**
   * The line was refused. If `externalId` is absent, the intended item is unknown, unless the line was about people.
   */
  | { ok: false; line: number; externalId?: string; isAboutPeople?: boolean; code: ErrorCode; message: string };

/** A document sent with its bytes, from which text is extracted. */
export interface PushedDocument {
  /** The item, whose content is of type `fetch`. */
  item: SourceItem;
  notes: readonly string[];
  /** The caller closes it. */
  bytes: HeldBytes;
  fileName: string;
  mimeType?: string;
}

/** The most bytes of one pushed item. Source: docs/sources/push.md. */
export const MAX_PUSHED_BYTES = 50 * 1024 * 1024;
