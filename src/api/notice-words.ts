import type { EventTargetNotice, LinkNotice } from "./notices.ts";

/** The user of a source whom a notice is about, for a sentence; no principal, which says nothing to people. */
export function personOf({ person, connector }: Pick<LinkNotice, "person" | "connector">): string {
  return `${person.name ?? "a user"} of ${connector ?? person.providerId}`;
}

/** Why an event target was paused, as a sentence goes on after its name. */
export function pauseOf({ reason }: Pick<EventTargetNotice, "reason">): string {
  return reason === "gone" ? "because it answered 410 Gone" : "because it accepted nothing for three days";
}
