import { expect, test } from "vitest";
import { maskItem } from "#server/sync/mask-item.ts";

const SECRET = `ghp_${"a1B2".repeat(9)}`;

test("everything that is shown of an item is masked; what names it at its source stays", () => {
  const person = { name: `P ${SECRET}`, claimed: false };
  const { item, count } = maskItem({
    externalId: SECRET,
    url: `https://a.test/${SECRET}`,
    kind: "file",
    title: SECRET,
    key: SECRET,
    place: SECRET,
    author: person,
    assignees: [person],
    people: [person],
    containers: [{ type: "folder", id: "f", name: SECRET }],
    path: [SECRET],
    content: { type: "none" },
  });
  const { externalId, url, ...shown } = item;
  expect([externalId, url]).toEqual([SECRET, `https://a.test/${SECRET}`]);
  expect(JSON.stringify(shown)).not.toContain(SECRET);
  expect(item.author?.name).toBe("P [removed: github token]");
  expect(count).toBe(8);
});
