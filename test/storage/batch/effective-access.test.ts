import { test } from "vitest";
import { makeEffectiveAccess, MAX_PARENTS } from "#storage/batch/effective-access.ts";

/** Items by name: the parent, and the access that each names itself. `none` stands for a conjunction of too many lists. */
function makeTree(items: Record<string, [parent: string | null, ownAclId: number | null]>, none?: number) {
  const find = (externalId: string) => {
    const [parentExternalId, ownAclId] = items[externalId] ?? [];
    if (parentExternalId === undefined || ownAclId === undefined) return undefined;
    return { externalId, parentExternalId, ownAclId, removedAt: null };
  };
  const { of } = makeEffectiveAccess(find, (own, above) => (own === none ? 0 : 100 * above + own));
  return (externalId: string) => of(find(externalId) ?? { externalId, parentExternalId: null, ownAclId: 0 });
}

test("an item's access is its own and those of all above it, or no one's, with the reason", ({ expect }) => {
  const of = makeTree({ top: [null, 1], mid: ["top", null], leaf: ["mid", 2], lost: ["gone", 1], below: ["lost", 1] });
  expect(of("leaf")).toEqual({ aclId: 102, parents: 2 });
  expect(of("mid")).toEqual({ aclId: 1, parents: 1 });
  expect(of("lost")).toEqual({ aclId: 0, parents: 0, failure: "missing" });
  expect(of("below")).toEqual({ aclId: 0, parents: 1, failure: "nobody" });
});

test("what is below too many lists, or below a circle, has that as its reason however deep it is", ({ expect }) => {
  const wide = makeTree({ top: [null, 1], wide: ["top", 7], under: ["wide", 1], deep: ["under", null] }, 7);
  expect(["wide", "under", "deep"].map((id) => wide(id).failure)).toEqual(["too_deep", "too_deep", "too_deep"]);
  const round = makeTree({ a: ["b", 1], b: ["a", 1], c: ["b", 1] });
  expect(round("c")).toMatchObject({ aclId: 0, failure: "circle" });
  const chain = Object.fromEntries(
    Array.from({ length: MAX_PARENTS + 2 }, (_, n) => [`${n}`, [n === 0 ? null : `${n - 1}`, n === 0 ? 1 : null]]),
  ) as Record<string, [string | null, number | null]>;
  expect(makeTree(chain)(`${MAX_PARENTS}`)).toEqual({ aclId: 1, parents: MAX_PARENTS });
  expect(makeTree(chain)(`${MAX_PARENTS + 1}`)).toMatchObject({ aclId: 0, failure: "too_deep" });
});
