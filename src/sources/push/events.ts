import type { HeldBytes } from "#core/spool.ts";
import type { ErrorCode } from "#api/errors.ts";
import type { Principal } from "#core/principals.ts";
import type { SourceItem } from "#sources/item.ts";
import type { Outcome } from "#sources/outcomes.ts";

/** The event of a pushed line about an item. */
export type PushItemEvent =
  | Extract<Outcome, { t: "upsert" | "access" }>
  /** With `subtree` also everything below `<externalId>/`. */
  | { t: "delete"; externalId: string; subtree?: boolean }
  /** Still there, and in this version if one is named. */
  | { t: "seen"; externalId: string; version?: string };

/** The event of a pushed line about the connector's own people and groups. */
export type PushPeopleEvent =
  /** Links a user of the pusher's system to this member of the workspace; null = no longer to anyone. */
  | { t: "identity"; principal: Principal; member: Principal | null }
  /** Adds someone to a group, or removes them. */
  | { t: "member"; group: Principal; member: Principal; remove: boolean }
  /** Sets the members of a group: exactly these. */
  | { t: "group"; group: Principal; members: readonly Principal[] };

export type PushEvent = PushItemEvent | PushPeopleEvent;

/** A parsed line of a push; `notes` list what was left out of it. */
export type PushedLine =
  | { ok: true; line: number; externalId: string; event: PushItemEvent; notes: readonly string[] }
  | { ok: true; line: number; externalId: null; event: PushPeopleEvent; notes: readonly string[] }
  /** Refused. Without an externalId the intended item is unknown, unless the line was about people. */
  | { ok: false; line: number; externalId?: string; isAboutPeople?: boolean; code: ErrorCode; message: string };

/** A document sent with its bytes, from which text is extracted. */
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
