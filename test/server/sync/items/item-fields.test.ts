import { describe, test } from "vitest";
import { metadataOf } from "#server/sync/items/document-metadata.ts";
import { itemFields } from "#server/sync/items/item-fields.ts";
import { verifies } from "../../../requirements.ts";

describe("the fields of an item", () => {
  verifies(
    "fields:source-wins",
    "are its source's own; a document fills only names that are left free, however it spells them",
    ({ expect }) => {
      const own = { Status: "final", "Due date": null, pages: 3 };
      const claims = { status: "draft", due_date: "2024-03-05", PAGES: 12, author: "Ana", draft: true };
      expect(itemFields(own, claims)).toEqual({ Status: "final", pages: 3, author: "Ana", draft: true });
    },
  );

  test("never hold what a document says of its id, place or readers", ({ expect }) => {
    const claims = {
      kbId: "kbi_1",
      "provider-id": "github",
      principals: ["user:usr_1"],
      ACL: "everyone",
      access: "all",
    };
    expect(itemFields(undefined, { ...claims, note: "x" })).toEqual({ note: "x" });
    expect(itemFields({ access: "all" }, {})).toEqual({ access: "all" });
  });

  test("count and list what documents count and list in words", ({ expect }) => {
    const claims = { pages: "12", keywords: "budget, plan; ", to: "Ana <ana@one.test>, bo@two.test", version: "12" };
    expect(itemFields(undefined, claims)).toEqual({
      pages: 12,
      keywords: ["budget", "plan"],
      to: ["Ana <ana@one.test>", "bo@two.test"],
      version: "12",
    });
  });

  test("are at most 100 of bounded size, without what nothing can be found by", ({ expect }) => {
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`f${n}`, n]));
    expect(Object.keys(itemFields(many, { more: 1 }))).toHaveLength(100);
    const odd = {
      a: "x".repeat(20_000),
      b: Array(500).fill("y"),
      c: Number.NaN,
      d: " ",
      e: ["", " "],
      "::": "z",
      f: "a\u0000b",
    };
    const own = itemFields(odd, {});
    expect(Object.keys(own)).toEqual(["a", "b", "f"]);
    expect([String(own["a"]).length, own["b"], own["f"]]).toEqual([10_000, Array(200).fill("y"), "ab"]);
    const claimed = itemFields(undefined, odd);
    expect([String(claimed["a"]).length, claimed["b"]]).toEqual([1_000, Array(100).fill("y")]);
  });
});

test("several authors of a document are its author and people around it, as claims", ({ expect }) => {
  const claims = metadataOf({ kind: "file", title: "plan.md" }, "text/markdown", {
    author: ["Ana", "Bo <bo@two.test>"],
    created: 2024,
  });
  expect(claims).toEqual({
    author: { name: "Ana", claimed: true },
    people: [{ name: "Bo", email: "bo@two.test", claimed: true }],
  });
});
