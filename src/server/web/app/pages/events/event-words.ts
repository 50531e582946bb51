import type { DeliveryCode } from "#api/event-types.ts";
import type { EventDelivery, EventTarget } from "#api/events.ts";
import type { StateWords } from "#server/web/app/ui/bits.tsx";

/** Returns the state of a target in words. */
export function stateWords({ state, pausedFor, failingSince }: EventTarget): StateWords {
  if (state === "paused") return { title: "Paused", tone: pausedFor === "admin" ? "plain" : "warn" };
  return failingSince === null ? { title: "Active", tone: "ok" } : { title: "Failing", tone: "warn" };
}

/** Why a target was paused, and what to do. */
export const PAUSE_WORDS: Readonly<Record<NonNullable<EventTarget["pausedFor"]>, string>> = {
  admin: "Paused. New events wait for up to 30 days and are sent when you resume.",
  gone: "Paused because the target answered 410 Gone. Change its URL or delete it. Its events wait until you resume.",
  failing: "Paused because the target accepted nothing for three days. Fix it, then resume. Waiting events are sent.",
};

export const DELIVERY_WORDS: Readonly<Record<EventDelivery["state"], StateWords>> = {
  waiting: { title: "Waiting", tone: "accent" },
  delivered: { title: "Delivered", tone: "ok" },
  failed: { title: "Failed", tone: "warn" },
};

/** Why the last try failed, as a sentence. */
export const CODE_WORDS: Readonly<Record<DeliveryCode, string>> = {
  address_not_allowed: "The address is not allowed",
  unreachable: "Not reachable",
  timeout: "No answer within 15 seconds",
  redirected: "Redirected; kb doesn't follow redirects",
  refused: "Refused",
  gone: "Gone",
  rate_limited: "Too many requests",
  server_error: "The receiver failed",
  secret_unreadable: "The signing secret can't be read; rotate it",
};
