import { createHash } from "node:crypto";
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
  members: Principal[];
  etag: string | null;
  at: number;
  homes: readonly string[] | undefined;
}

/** Puts the pages of groups together. A page is sorted as it comes: sorting 100,000 at once would hold up everybody. */
export function makeGroupPages(): GroupPages {
  const waiting = new Map<Principal, OpenGroup>();
  return {
    add({ group, members, etag, hasMore, at, homes }) {
      const sorted = [...members].sort();
      const known = waiting.get(group);
      const whole: OpenGroup = known ?? { members: sorted, etag: null, at, homes };
      // Not spread into `push`: its arguments lie on the stack.
      if (known) for (const member of sorted) known.members.push(member);
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

function toWhole(group: Principal, { members, etag, at, homes }: OpenGroup): WholeGroup {
  // Runs that are sorted each are merged by this.
  members.sort();
  const each = members.filter((member, i) => member !== members[i - 1]);
  const json = JSON.stringify(each);
  const digest = createHash("sha256").update(json).digest("base64");
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
