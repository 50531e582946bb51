import { hash } from "node:crypto";
import type { Principal } from "#core/principals.ts";
import type { WholeGroup } from "./people-batch.ts";

export interface GroupPage {
  group: Principal;
  members: readonly Principal[];
  etag?: string;
  /** True = another page of the same group follows. */
  hasMore: boolean;
  /** Epoch milliseconds at which the page came. */
  at: number;
  /** Of the first page. */
  homes?: readonly string[];
}

export interface GroupPages {
  /** The whole group at its last page, undefined before. */
  add(page: GroupPage): WholeGroup | undefined;
  /**
   * Groups of which pages are missing. Nothing that comes after their first page may be covered by a stored cursor, so
   * that a run that is taken up again reads them from the start: of what a former attempt read nothing counts.
   */
  open(): Principal[];
  /** Forgets pages of a group that is not read on. */
  drop(group: Principal): void;
}

interface OpenGroup {
  /** Each sorted. */
  pages: (readonly Principal[])[];
  etag: string | null;
  at: number;
  homes: readonly string[] | undefined;
}

/** Puts the pages of groups together. A page is sorted as it comes: sorting 100,000 at once would hold up everybody. */
export function makeGroupPages(): GroupPages {
  const waiting = new Map<Principal, OpenGroup>();
  return {
    add({ group, members, etag, hasMore, at, homes }) {
      const sorted = isSorted(members) ? members : [...members].sort();
      const known = waiting.get(group);
      const whole: OpenGroup = known ?? { pages: [], etag: null, at, homes };
      whole.pages.push(sorted);
      if (etag !== undefined) whole.etag = etag;
      if (hasMore) {
        waiting.set(group, whole);
        return undefined;
      }
      waiting.delete(group);
      return toWhole(group, whole);
    },
    open: () => [...waiting.keys()],
    drop: (group) => void waiting.delete(group),
  };
}

function toWhole(group: Principal, { pages, etag, at, homes }: OpenGroup): WholeGroup {
  const [only = []] = pages;
  // Runs that are sorted each are merged by this.
  const members = pages.length <= 1 ? only : pages.flat().sort();
  const each = members.filter((member, i) => member !== members[i - 1]);
  const json = JSON.stringify(each);
  const digest = hash("sha256", json, "base64");
  return {
    t: "group",
    group,
    members: json,
    count: each.length,
    digest,
    etag,
    at,
    ...(homes !== undefined && { homes }),
  };
}

function isSorted(members: readonly Principal[]): boolean {
  for (let i = 1; i < members.length; i++) {
    // As `sort` compares: both are there.
    if ((members[i] as Principal) < (members[i - 1] as Principal)) return false;
  }
  return true;
}
