import { expect, test } from "vitest";
import { personOf } from "#api/notice-words.ts";

test("a notice names people by their names, and never by a principal", () => {
  const person = { name: "Anna", principal: "user:gitea:https%3A%2F%2Fgit.acme.test:1", providerId: "gitea" };
  expect(personOf({ person, connector: "Code" })).toBe("Anna of Code");
  expect(personOf({ person: { ...person, name: null }, connector: null })).toBe("a user of gitea");
});
