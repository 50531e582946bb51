import { test } from "vitest";
import { describeHiddenItems } from "#api/hidden-items.ts";

test("a connector says why stored items stay hidden, and only then", ({ expect }) => {
  expect(describeHiddenItems({ awaitingPush: 0, parentMissing: 0 })).toEqual([]);
  expect(describeHiddenItems({ awaitingPush: 1, parentMissing: 1200 })).toEqual([
    "No one can read 1 item pushed to an earlier version, which stored no access for items with a parent. Push them again.",
    "No one can read 1,200 items, because the parent is missing or hidden. Push the parent, or push the items without parentId.",
  ]);
});
