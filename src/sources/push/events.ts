import type { HeldBytes } from "#core/spool.ts";
import type { ErrorCode } from "#api/errors.ts";
import type { Principal } from "#core/principals.ts";
import type { SourceItem } from "#sources/item.ts";
import type { Outcome } from "#sources/outcomes.ts";

/** What a pushed line says of an item. */
export type PushItemEvent =
  | Extract<Outcome, { t: "upsert" | "access" }>
  /** With `subtree` also what is below `<externalId>/`. */
  | { t: "delete"; externalId: string; subtree?: boolean }
  /** Alive, and in this version if one is named. */
  | { t: "seen"; externalId: string; version?: string };

/** What a pushed line says of people and groups of the connector's own. */
export type PushPeopleEvent =
  /** A user of the pusher's system is this member of the workspace; null = nobody any more. */
  | { t: "identity"; principal: Principal; member: Principal | null }
  /** Somebody belongs to a group, or does not any more. */
  | { t: "member"; group: Principal; member: Principal; remove: boolean }
  /** These and nobody else belong to a group. */
  | { t: "group"; group: Principal; members: readonly Principal[] };

export type PushEvent = PushItemEvent | PushPeopleEvent;

/** A line of a push, read; `notes` say what of it was left out. */
export type PushedLine =
  | { ok: true; line: number; externalId: string; event: PushItemEvent; notes: readonly string[] }
  | { ok: true; line: number; externalId: null; event: PushPeopleEvent; notes: readonly string[] }
  /** Refused. Without an externalId it is not known which item it meant, unless it was about people. */
  | { ok: false; line: number; externalId?: string; isAboutPeople?: boolean; code: ErrorCode; message: string };

/** A document that was sent with its bytes, of which its text is to be taken. */
export interface PushedDocument {
  /** Its content is `fetch`. */
  item: SourceItem;
  notes: readonly string[];
  /** The caller closes it. */
  bytes: HeldBytes;
  fileName: string;
  mimeType?: string;
}

/** Bytes of one pushed item. Source: docs/sources/push.md. */
export const MAX_PUSHED_BYTES = 50 * 1024 * 1024;
