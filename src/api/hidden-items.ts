import type { When } from "./activity-words.ts";
import type { Connector } from "./connector-records.ts";
import { plural } from "./plural.ts";

/** Why nobody reads anything of a connector that mirrors permissions, and when that is tried again. */
export function describeStale({ cause, nextTryAt }: NonNullable<Connector["aclStale"]>, when: When): string {
  return `No one can read its items, because ${WHY[cause]}.${nextTryAt === null ? "" : ` Next try ${when(nextTryAt)}.`}`;
}

const WHY: Record<NonNullable<Connector["aclStale"]>["cause"], string> = {
  refused: "the source refuses its credentials",
  not_checked: "who can read them could not be checked at the source",
  clock_went_back: "the server's clock went back, so nobody knows how long ago it was checked who can read them",
};

/** Why stored items of a connector stay hidden from everyone, and what shows them again: a sentence or two for each reason. */
export function describeHiddenItems({
  awaitingPush,
  parentMissing,
  aclStale = 0,
}: Pick<Connector["counts"], "awaitingPush" | "parentMissing"> &
  Partial<Pick<Connector["counts"], "aclStale">>): string[] {
  const notes: string[] = [];
  if (awaitingPush > 0) {
    notes.push(
      `No one can read ${plural(awaitingPush, "item")} pushed to an earlier version, which stored no access for items with a parent. Push them again.`,
    );
  }
  if (parentMissing > 0) {
    notes.push(
      `No one can read ${plural(parentMissing, "item")}, because the parent is missing or hidden. Push the parent, or push the items without parentId.`,
    );
  }
  if (aclStale > 0) {
    notes.push(
      `No one can read ${plural(aclStale, "item")} until the source shows them again: it refused to, or has not said who can read them for too long.`,
    );
  }
  return notes;
}
