import type { EventTargetNotice, LinkNotice } from "./notices.ts";

/** Names the source user of a notice in a sentence. It never returns a principal, which means nothing to people. */
export function personOf({ person, connector }: Pick<LinkNotice, "person" | "connector">): string {
  return `${person.name ?? "a user"} of ${connector ?? person.providerId}`;
}

/** Why an event target was paused, as the continuation of a sentence after its name. */
export function pauseOf({ reason }: Pick<EventTargetNotice, "reason">): string {
  return reason === "gone" ? "because it answered 410 Gone" : "because it accepted nothing for three days";
}
