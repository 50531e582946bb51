import type { When } from "./activity-words.ts";
import type { Connector } from "./connector-records.ts";
import { count, plural } from "./plural.ts";

/** Describes why no one can read the items of a connector that mirrors permissions, and when it is retried. */
export function describeStale({ cause, nextTryAt }: NonNullable<Connector["aclStale"]>, when: When): string {
  return `No one can read its items, because ${WHY[cause]}.${nextTryAt === null ? "" : ` Next try ${when(nextTryAt)}.`}`;
}

const WHY: Record<NonNullable<Connector["aclStale"]>["cause"], string> = {
  refused: "the source refuses its credentials",
  not_checked: "who can read them could not be checked at the source",
  clock_went_back: "the server's clock moved back, so kb can't tell when it last checked who can read them",
};

/** Describes that no one can read the indexed items of a connector that mirrors permissions, why, and the next step. */
export function describeReadByNobody({ users, linked }: NonNullable<Connector["readByNobody"]>): string {
  const start = "No one in the workspace can read what is indexed";
  if (users === 0) {
    return `${start}, because its source named no user who is a member here. Connect your own account at the source.`;
  }
  if (linked === 0) {
    return `${start}, because none of the source's users is linked to a member (0 of ${count(users)}). Link them, or connect your own account at the source.`;
  }
  return `${start}, because the source lets no linked user read it (${count(linked)} of ${count(users)} are linked). Link those who can read it there, or connect your own account at the source.`;
}

/** Describes why stored items of a connector are hidden from everyone, and what makes them visible again. Each reason has one or two sentences. */
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
      `No one can read ${plural(aclStale, "item")} until the source shows them again: it refused access, or hasn't confirmed for too long who can read them.`,
    );
  }
  return notes;
}
