import { test } from "vitest";
import { describeHiddenItems, describeReadByNobody, describeStale } from "#api/hidden-items.ts";

test("a connector says why stored items stay hidden, and only then", ({ expect }) => {
  expect(describeHiddenItems({ awaitingPush: 0, parentMissing: 0 })).toEqual([]);
  expect(describeHiddenItems({ awaitingPush: 1, parentMissing: 1200 })).toEqual([
    "No one can read 1 item pushed to an earlier version, which stored no access for items with a parent. Push them again.",
    "No one can read 1,200 items, because the parent is missing or hidden. Push the parent, or push the items without parentId.",
  ]);
});

test("a connector whose items no one can read says why, and when that is tried again by itself", ({ expect }) => {
  const since = "2026-11-22T10:00:00.000Z";
  const stale = (cause: "refused" | "not_checked", nextTryAt: string | null) =>
    describeStale({ since, cause, nextTryAt }, (at) => `at ${at.slice(11, 16)}`);
  expect(stale("refused", null)).toBe("No one can read its items, because the source refuses its credentials.");
  expect(stale("not_checked", "2026-11-22T15:00:00.000Z")).toBe(
    "No one can read its items, because who can read them could not be checked at the source. Next try at 15:00.",
  );
});

test("a connector that no one reads says what to do next, by how many of its users are linked", ({ expect }) => {
  expect(describeReadByNobody({ users: 0, linked: 0 })).toBe(
    "No one in the workspace can read what is indexed, because its source named no user who is a member here. Connect your own account at the source.",
  );
  expect(describeReadByNobody({ users: 1200, linked: 0 })).toContain("(0 of 1,200). Link them, or connect");
  expect(describeReadByNobody({ users: 5, linked: 2 })).toContain("(2 of 5 are linked). Link those who can read it");
});
