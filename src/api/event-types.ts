/** The types of outgoing events and when they are sent. This file doesn't use zod, so that the page can import it. */
export const EVENT_TYPES = [
  "sync.finished",
  "sync.failed",
  "connector.needs_reauth",
  "connector.acl_stale",
  "removal.held",
  "connection.active",
  "connection.needs_reauth",
  "connection.revoked",
  "connection.failed",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** The text that follows "Sent when" for each type. */
export const EVENT_MEANINGS: Readonly<Record<EventType, string>> = {
  "sync.finished": "a sync succeeds, in whole or in part",
  "sync.failed": "a sync fails",
  "connector.needs_reauth": "a connector stops because its credentials or account no longer work",
  "connector.acl_stale": "a source hasn't confirmed its permissions in time, and the items are hidden",
  "removal.held": "a source removes so many items that an admin must approve the removal",
  "connection.active": "a connection to an app of a provider server starts to work",
  "connection.needs_reauth": "a connection needs a new sign-in",
  "connection.revoked": "a connection ends",
  "connection.failed": "an app can't be connected",
};

/** Why a delivery attempt failed. */
export const DELIVERY_CODES = [
  "address_not_allowed",
  "unreachable",
  "timeout",
  "redirected",
  "refused",
  "gone",
  "rate_limited",
  "server_error",
  "secret_unreadable",
] as const;
export type DeliveryCode = (typeof DELIVERY_CODES)[number];
