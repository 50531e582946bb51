/** Notices for a signed-in person about their account, and for an owner also about the workspace. */
import { idSchema, Timestamp } from "./common.ts";
import { z } from "./route.ts";

/**
 * Someone created a link with which they could sign in as this person, or the operator set the password on the server's
 * machine (`by` is null).
 */
const AccountNotice = z
  .object({ type: z.enum(["reset_link_made", "password_set"]), at: Timestamp, by: z.string().nullable() })
  .openapi("AccountNotice");

/**
 * An admin manually linked a source user. `person_linked`: the user was linked to you. `person_unlinked`: the user was linked to someone else, and
 * you were that user before. `people_linked`, for owners: users were linked to other members; the notice describes the latest of the links by this
 * admin on this connector.
 */
export const LinkNotice = z
  .object({
    type: z.enum(["person_linked", "person_unlinked", "people_linked"]),
    at: Timestamp,
    by: z.string().nullable(),
    /**
     * The user of the source. Their name there is shown to owners, and to you while you are that user. It is null otherwise, and when no connector
     * names the user any more.
     */
    person: z.object({ principal: z.string(), providerId: z.string(), name: z.string().nullable() }),
    /** The connector's name, only for people who manage it; null after it is deleted. */
    connector: z.string().nullable(),
    /** The linked member; for owners only. */
    member: z.string().nullable(),
    /** Number of links in this notice. */
    count: z.number().int().min(1),
    /** For you: whether you are no longer that user. For owners: whether the latest of the links has ended. */
    isEnded: z.boolean(),
  })
  .openapi("LinkNotice");
export type LinkNotice = z.infer<typeof LinkNotice>;

/** For admins: an event target was paused because it is gone or accepted nothing for days. Its events are kept. */
const EventTargetNotice = z
  .object({
    type: z.literal("event_target_paused"),
    at: Timestamp,
    by: z.null(),
    targetId: idSchema("eventTarget"),
    host: z.string(),
    reason: z.enum(["gone", "failing"]),
  })
  .openapi("EventTargetNotice");
export type EventTargetNotice = z.infer<typeof EventTargetNotice>;

/** An admin changed the mapping of a server's tools. Nothing is read with this connection until you agree. */
const ToolsNotice = z
  .object({
    type: z.literal("tools_changed"),
    at: Timestamp,
    /** Null if an earlier version of the server mapped them. */
    by: z.string().nullable(),
    connectionId: idSchema("connection"),
    serverId: idSchema("server"),
    /** The connection's name. */
    connection: z.string(),
    /** The server's name. */
    server: z.string(),
  })
  .openapi("ToolsNotice");
export type ToolsNotice = z.infer<typeof ToolsNotice>;

/** Notices about a person's account, and for an owner about the workspace. */
export const Notice = z
  .discriminatedUnion("type", [AccountNotice, LinkNotice, EventTargetNotice, ToolsNotice])
  .openapi("Notice");
export type Notice = z.infer<typeof Notice>;
