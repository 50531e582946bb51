import { EVENT_TYPES, type EventType } from "#api/event-types.ts";
import { CONNECTORS } from "./connectors.ts";
import { WORKSPACES } from "./people.ts";
import { table, words } from "./table.ts";

const { text, integer, rowNumber, instant, flag, json, oneOf, nullable, hidden, withDefault } = words;

/** URLs to which the workspace's events are sent. */
export const EVENT_TARGETS = table(
  "event_targets",
  ["workspaceId", "targetId"],
  {
    targetId: text,
    url: text,
    types: json<EventType[]>(),
    state: oneOf(["active", "paused"]),
    /** Why the target is paused: an admin paused it, it responded that it is gone, or it accepted nothing for days. */
    pausedFor: nullable(oneOf(["admin", "gone", "failing"])),
    pausedAt: nullable(instant),
    /** JSON of the signing secrets for its deliveries, sealed. */
    sealed: text,
    /** Until when the secret before the last rotation also signs. */
    previousUntil: nullable(instant),
    createdBy: nullable(text),
    createdAt: instant,
    /** The time since which no delivery has been accepted; null = deliveries are accepted. */
    failingSince: nullable(instant),
    /** When to send the first waiting delivery; null = none waits. */
    dueAt: nullable(instant),
    leaseOwner: hidden(nullable(text)),
    leaseUntil: hidden(nullable(instant)),
  },
  {
    deletedWith: [WORKSPACES],
    // Only targets for which a delivery waits.
    indexes: { event_targets_due: { columns: ["dueAt"], where: '"dueAt" is not null' } },
  },
);

/** Events of the workspace: ids, counts and codes. Source: S43. */
export const EVENTS = table(
  "events",
  ["workspaceId", "eventId"],
  {
    eventId: text,
    /** `ping` is sent by the test of a target, and no one can subscribe to it. */
    type: oneOf([...EVENT_TYPES, "ping"]),
    at: instant,
    data: json<Record<string, unknown>>(),
  },
  { deletedWith: [WORKSPACES] },
);

/** The delivery of one event to one target, and its result, without the text of the response. */
export const EVENT_DELIVERIES = table(
  "event_deliveries",
  ["seq"],
  {
    /** The order in which deliveries are sent. */
    seq: withDefault(rowNumber),
    workspaceId: hidden(text),
    deliveryId: text,
    targetId: text,
    eventId: text,
    state: oneOf(["waiting", "delivered", "failed"]),
    isReplay: flag,
    createdAt: instant,
    tries: integer,
    triedAt: nullable(instant),
    endedAt: nullable(instant),
    /** HTTP status of the last response. */
    status: nullable(integer),
    /** Why there was no response, or why the target didn't accept the delivery. */
    code: nullable(text),
  },
  {
    deletedWith: [EVENT_TARGETS, EVENTS],
    unique: [["workspaceId", "deliveryId"]],
    indexes: {
      event_deliveries_by_target: ["workspaceId", "targetId", "state", "seq"],
      event_deliveries_by_event: ["workspaceId", "eventId"],
    },
  },
);

/** Connector states that were already sent as events, so that each is sent only once. */
export const EVENT_MARKS = table(
  "event_marks",
  ["workspaceId", "connectorId", "type"],
  {
    connectorId: text,
    type: oneOf(EVENT_TYPES),
    /** The time since which the connector has been in this state. */
    value: integer,
  },
  { deletedWith: [CONNECTORS] },
);
