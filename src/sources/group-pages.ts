import { inChunks } from "#core/in-chunks.ts";
import type { Principal } from "#core/principals.ts";
import type { IdentityEvent } from "./identity-events.ts";

/** Members of one event. */
const MOST_MEMBERS = 5_000;

/** A group in full, in as many pages as it takes. */
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
