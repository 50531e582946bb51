import type { Connector } from "./connector-records.ts";
import { plural } from "./plural.ts";

/** Why stored items of a connector stay hidden from everyone, and what shows them again: a sentence or two for each reason. */
export function describeHiddenItems({
  awaitingPush,
  parentMissing,
}: Pick<Connector["counts"], "awaitingPush" | "parentMissing">): string[] {
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
  return notes;
}
