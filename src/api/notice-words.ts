import type { LinkNotice } from "./notices.ts";

/** The user of a source whom a notice is about, for a sentence. */
export function personOf({ person, connector }: Pick<LinkNotice, "person" | "connector">): string {
  const { name, principal, providerId } = person;
  return `${name === null ? principal : `${name} (${principal})`} of ${connector ?? providerId}`;
}
