/** Notices for a signed-in person: about their account, and for an owner about the workspace. */
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
 * An admin linked a source user by hand. `person_linked`: to you. `person_unlinked`: to someone else, and until then
 * you were that user. `people_linked`, for owners: to other members; the latest of those that this admin linked on this
 * connector.
 */
export const LinkNotice = z
  .object({
    type: z.enum(["person_linked", "person_unlinked", "people_linked"]),
    at: Timestamp,
    by: z.string().nullable(),
    /**
     * The user of the source. Their name there is shown to owners, and to you while you are that user; otherwise null,
     * and also when no connector names them any more.
     */
    person: z.object({ principal: z.string(), providerId: z.string(), name: z.string().nullable() }),
    /** The connector's name, for people who manage it; null once it is deleted. */
    connector: z.string().nullable(),
    /** The linked member; for owners only. */
    member: z.string().nullable(),
    /** Number of links in this notice. */
    count: z.number().int().min(1),
    /** Whether you are no longer that user; for owners, whether the latest of the links has ended. */
    isEnded: z.boolean(),
  })
  .openapi("LinkNotice");
export type LinkNotice = z.infer<typeof LinkNotice>;

/** For admins: an event target was paused because it is gone or accepted nothing for days, and its events wait. */
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

/** An admin changed the mapping of a server's tools: nothing is read with this connection until you agree. */
const ToolsNotice = z
  .object({
    type: z.literal("tools_changed"),
    at: Timestamp,
    /** Null if a server of an earlier version mapped them. */
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
