import { hash } from "node:crypto";
import type { Principal } from "#core/principals.ts";
import type { WholeGroup } from "#storage/people-batch.ts";

export interface GroupPage {
  group: Principal;
  members: readonly Principal[];
  etag?: string;
  /** True = another page of the same group follows. */
  hasMore: boolean;
  /** Epoch milliseconds at which the page arrived. */
  at: number;
  /** Sent with the first page. */
  homes?: readonly string[];
}

export type GroupPages = ReturnType<typeof makeGroupPages>;

interface OpenGroup {
  pages: (readonly Principal[])[];
  etag: string | null;
  at: number;
  homes: readonly string[] | undefined;
}

/** Joins the pages of groups, in the order in which they arrive. */
export function makeGroupPages() {
  const waiting = new Map<Principal, OpenGroup>();
  return {
    /** Adds a page. Returns the whole group at its last page, undefined before that. */
    add({ group, members, etag, hasMore, at, homes }: GroupPage): WholeGroup | undefined {
      const known = waiting.get(group);
      const whole: OpenGroup = known ?? { pages: [], etag: null, at, homes };
      whole.pages.push(members);
      if (etag !== undefined) whole.etag = etag;
      if (hasMore) {
        waiting.set(group, whole);
        return undefined;
      }
      waiting.delete(group);
      return toWhole(group, whole);
    },
    /**
     * Returns the groups with missing pages. A stored cursor must not cover anything after their first page, so that a
     * resumed run reads them from the start: it can't use pages that an earlier attempt read.
     */
    open: (): Principal[] => [...waiting.keys()],
    /** Drops the pages of a group whose reading ended early. */
    drop: (group: Principal): void => void waiting.delete(group),
  };
}

function toWhole(group: Principal, { pages, etag, at, homes }: OpenGroup): WholeGroup {
  const [only = []] = pages;
  // Flattening copies member by member, and nearly every group has only one page.
  const members = pages.length > 1 ? pages.flat() : only;
  const json = JSON.stringify(members);
  return {
    t: "group",
    group,
    members: json,
    count: members.length,
    digest: hash("sha256", json, "base64"),
    etag,
    at,
    ...(homes !== undefined && { homes }),
  };
}
