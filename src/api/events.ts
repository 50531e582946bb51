/** Outgoing events: ids, counts and codes, never a title, a path or the text of an error. Source: S43. */
import { byId, Count, type IdKind, idSchema, MemberRef, nextCursor, PageQuery, Timestamp } from "./common.ts";
import { SyncCounts, SyncMode, SyncTrigger } from "./connector-records.ts";
import { DELIVERY_CODES, EVENT_TYPES, type EventType } from "./event-types.ts";
import { answer, del, get, patch, post, z } from "./route.ts";

/** A code of this service. A value in any other form becomes `other`, so that no text leaves the service. */
const Code = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/)
  .catch("other");

const id = (kind: IdKind) => idSchema(kind);
/** The kind of source, in this server's terms. */
const ProviderId = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,63}$/)
  .catch("other");
const connector = { connectorId: id("connector"), providerId: ProviderId };
const sync = { ...connector, syncId: id("sync"), mode: SyncMode, trigger: SyncTrigger, counts: SyncCounts };
const connection = { connectionId: id("connection"), serverId: id("server") };

/** The `data` of each type; nothing else leaves the service. */
export const EVENT_DATA = {
  "sync.finished": z.strictObject({
    ...sync,
    state: z.enum(["succeeded", "partial"]),
    startedAt: Timestamp.nullable(),
    finishedAt: Timestamp,
    /** Code of the note about skipped items. */
    code: Code.nullable(),
  }),
  "sync.failed": z.strictObject({ ...sync, startedAt: Timestamp.nullable(), finishedAt: Timestamp, code: Code }),
  "connector.needs_reauth": z.strictObject({ ...connector, code: Code }),
  "connector.acl_stale": z.strictObject({ ...connector, since: Timestamp, code: Code }),
  /** `held` is the current number of removals waiting for approval. */
  "removal.held": z.strictObject({ ...connector, held: Count, heldAt: Timestamp }),
  "connection.active": z.strictObject(connection),
  "connection.needs_reauth": z.strictObject({ ...connection, code: Code }),
  "connection.revoked": z.strictObject({ ...connection, code: Code }),
  "connection.failed": z.strictObject({ ...connection, code: Code }),
} as const satisfies Record<EventType, z.ZodType>;

/** An event as emitted. */
export type OutgoingEvent = {
  [Type in EventType]: { type: Type; data: z.input<(typeof EVENT_DATA)[Type]> };
}[EventType];

const TargetId = byId("eventTarget");
const DeliveryId = { ...TargetId, deliveryId: idSchema("delivery") };

/** The event types of a delivery: those that a target can subscribe to, and the test event. */
export const SentEventType = z.enum([...EVENT_TYPES, "ping"]);
export const EventTypeName = z.enum(EVENT_TYPES).openapi("EventType");
export const DeliveryState = z.enum(["waiting", "delivered", "failed"]);
export type DeliveryState = z.infer<typeof DeliveryState>;

const EXAMPLE_URL = "https://hooks.acme.example/kb";

/** An endpoint that events are sent to. Its secret is shown only on creation. */
export const EventTarget = z
  .object({
    id: idSchema("eventTarget"),
    url: z.string().openapi({ example: EXAMPLE_URL }),
    types: z.array(EventTypeName),
    /** Events for a paused target are kept for up to 30 days, and are sent when the target is active again. */
    state: z.enum(["active", "paused"]),
    /** `admin`: a person paused the target. `gone`: it answered 410. `failing`: it accepted no event for three days. */
    pausedFor: z.enum(["admin", "gone", "failing"]).nullable(),
    pausedAt: Timestamp.nullable(),
    /** Until when deliveries are also signed with the secret that was valid before the last rotation. */
    secretOverlapEndsAt: Timestamp.nullable(),
    createdBy: MemberRef.nullable(),
    createdAt: Timestamp,
    /** Since when the target has accepted no delivery; null if it accepted the last one. */
    failingSince: Timestamp.nullable(),
    /** When the first pending delivery is sent. */
    nextTryAt: Timestamp.nullable(),
    lastDeliveredAt: Timestamp.nullable(),
    waiting: Count,
  })
  .openapi("EventTarget");
export type EventTarget = z.infer<typeof EventTarget>;

/** One event on its way to one target, with its data: ids, counts and codes. */
export const EventDelivery = z
  .object({
    id: idSchema("delivery"),
    targetId: idSchema("eventTarget"),
    /** The `webhook-id` of every attempt, and of every replay of the event. */
    eventId: idSchema("event"),
    type: SentEventType,
    /** When the event happened. */
    eventAt: Timestamp,
    data: z.record(z.string(), z.unknown()),
    state: DeliveryState,
    isReplay: z.boolean(),
    tries: Count,
    /** HTTP status of the last answer. */
    status: z.number().int().nullable(),
    /** Why the last attempt failed. */
    code: z.enum(DELIVERY_CODES).nullable(),
    createdAt: Timestamp,
    triedAt: Timestamp.nullable(),
    endedAt: Timestamp.nullable(),
  })
  .openapi("EventDelivery");
export type EventDelivery = z.infer<typeof EventDelivery>;

const TargetUrl = z
  .url({ protocol: /^https?$/ })
  .max(2_000)
  .openapi({ example: EXAMPLE_URL });
const Types = z
  .array(EventTypeName)
  .min(1)
  .max(EVENT_TYPES.length)
  .refine((types) => new Set(types).size === types.length, "Each event type can be listed only once")
  .openapi({ example: ["sync.failed", "connector.needs_reauth"] });

/** How long deliveries are signed with both secrets: up to 7 days, one day by default. 0 ends the old secret at once. */
export const RotateSecretBody = z.strictObject({
  overlapSeconds: z.number().int().min(0).max(604_800).default(86_400).openapi({ example: 86_400 }),
});

const target = z.object({ target: EventTarget });
/** Standard Webhooks: `whsec_` and base64. */
const withSecret = target.extend({ secret: z.string().openapi({ example: "whsec_C2FVsBQIhrscChlQIMV+b5sSYspob7oD" }) });
const delivery = z.object({ delivery: EventDelivery });

export const eventRoutes = {
  list: get("/api/webhooks", "List the event targets (admins only)", {
    200: answer("At most 20 event targets, oldest first", { targets: z.array(EventTarget) }),
  }),
  create: post("/api/webhooks", "Add an event target; its secret is shown only once (admins only)", {
    body: z.strictObject({
      url: TargetUrl,
      /** Event types; default: all current types, but none that later versions add. */
      types: Types.optional(),
    }),
    201: answer("The target and its secret", withSecret),
    problems: ["address_not_allowed", "source_unavailable", "quota_reached"],
  }),
  get: get("/api/webhooks/{id}", "Get an event target (admins only)", {
    params: TargetId,
    200: answer("The target", target),
  }),
  change: patch(
    "/api/webhooks/{id}",
    "Change the URL or the types of an event target, or pause or resume it (admins only)",
    {
      params: TargetId,
      body: z.strictObject({
        url: TargetUrl.optional(),
        types: Types.optional(),
        state: z.enum(["active", "paused"]).optional(),
      }),
      200: answer("The target", target),
      problems: ["address_not_allowed", "source_unavailable"],
    },
  ),
  remove: del("/api/webhooks/{id}", "Delete an event target with its deliveries (admins only)", {
    params: TargetId,
    204: { description: "Deleted" },
  }),
  rotateSecret: post(
    "/api/webhooks/{id}/rotate-secret",
    "Replace the secret of an event target; the new one is shown only once (admins only)",
    {
      params: TargetId,
      body: RotateSecretBody,
      200: answer("The target and its new secret", withSecret),
      problems: ["secret_unreadable"],
    },
  ),
  test: post("/api/webhooks/{id}/test", "Send a ping to an event target now, once (admins only)", {
    params: TargetId,
    200: answer("The delivery, even if it was not accepted", delivery),
  }),
  deliveries: get(
    "/api/webhooks/{id}/deliveries",
    "List the deliveries of an event target, newest first (admins only)",
    {
      params: TargetId,
      query: PageQuery.extend({
        state: DeliveryState.optional(),
      }),
      200: answer("A page", { deliveries: z.array(EventDelivery), nextCursor }),
    },
  ),
  replayOne: post(
    "/api/webhooks/{id}/deliveries/{deliveryId}/replay",
    "Send the event of a delivery again, with the same event ID (admins only)",
    {
      params: DeliveryId,
      202: answer("The new delivery", delivery),
    },
  ),
  replay: post(
    "/api/webhooks/{id}/replay",
    "Send the events of a time span again, with the same event IDs (admins only)",
    {
      params: TargetId,
      // Selects events in this period, `until` exclusive. `failed`: only events that the target never accepted.
      body: z.strictObject({
        since: Timestamp,
        until: Timestamp.optional(),
        state: z.enum(["all", "failed"]).default("all"),
      }),
      202: answer("The number of events that are sent again", { replayed: Count }),
      problems: ["quota_reached"],
    },
  ),
};
