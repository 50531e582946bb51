import { describe, expect, test } from "vitest";
import { maskItem } from "#server/sync/items/mask-item.ts";
import { PLANTED_SECRETS } from "../../../text/planted-secrets.ts";

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

const TOKEN = PLANTED_SECRETS.find(({ label }) => label === "github token")?.text ?? "";

function titleOf(title: string): string {
  return maskItem({
    externalId: "1",
    kind: "message",
    title,
    access: { known: false },
    content: { type: "inline", text: "" },
  }).item.title;
}

describe("a title that its source cut", () => {
  test.each([20, 30, 39])("shows nothing of a token after %i characters of it", (chars) => {
    expect(titleOf(`Please use it for the release: ${TOKEN.slice(0, chars)}…`)).toBe("Please use it for the release:…");
    const long = "word ".repeat(60);
    expect(titleOf(`${long}${TOKEN.slice(0, chars)}`)).toBe(`${long.trimEnd()}…`);
  });

  test("stays as it is without one", () => {
    expect(titleOf("Plans for the release of a product…")).toBe("Plans for the release of a product…");
    expect(titleOf("key-value stores")).toBe("key-value stores");
    expect(titleOf(`Whole ${TOKEN}`)).toBe("Whole [removed: github token]");
  });
});
