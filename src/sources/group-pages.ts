import { inChunks } from "#core/in-chunks.ts";
import type { Principal } from "#core/principals.ts";
import type { IdentityEvent } from "./identity-events.ts";

/** The most members in one event. */
const MOST_MEMBERS = 5_000;

/** Reports a complete group in as many pages as needed. */
export function* groupPages(
  group: Principal,
  members: readonly Principal[],
): Generator<Extract<IdentityEvent, { t: "group" }>, void> {
  const pages = [...inChunks([...new Set(members)], MOST_MEMBERS)];
  for (const [at, page] of pages.entries()) {
    yield { t: "group", group, members: page, ...(at < pages.length - 1 && { more: true }) };
  }
  if (pages.length === 0) yield { t: "group", group, members: [] };
}
