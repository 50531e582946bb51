import { test } from "vitest";
import { isMarkdown, noteWords, sourceWords, withoutMarks } from "#server/web/app/data/search-words.ts";

test("a note names filters as the page does, and leaves out those that change nothing", ({ expect }) => {
  expect(noteWords("without source: 12; without kind=task: 0; without people: 1.")).toEqual([
    "12 results without the filter Source.",
    "1 result without the filter Person.",
  ]);
  expect(noteWords("without source: 0.")).toEqual([]);
  expect(noteWords("no item has all words; these have some.")).toEqual(["No item has all words; these have some."]);
  // A word that somebody typed stays as it is.
  expect(noteWords('"vat" occurs in nothing you can see.')).toEqual(['"vat" occurs in nothing you can see.']);
});

test("a passage of Markdown is shown without its signs, one of code as it is", ({ expect }) => {
  expect(withoutMarks("## Start\nThe `kb` **command** ```sh kb serve ``` runs #12 and C# 5")).toBe(
    "Start\nThe kb command  kb serve  runs #12 and C# 5",
  );
  const item = { kind: "file" as const, title: "Plan", path: ["docs", "plan.md"] };
  expect([item, { ...item, path: ["run.py"] }, { ...item, kind: "task" as const, path: [] }].map(isMarkdown)).toEqual([
    true,
    false,
    true,
  ]);
});

test("a source is shown by its app's name and its place, and as it is where the app is not known", ({ expect }) => {
  const kinds = [
    { providerId: "gitea", name: "Gitea" },
    { providerId: "notion", name: "Notion" },
  ];
  expect(sourceWords("gitea:acme/website", kinds)).toBe("Gitea / acme/website");
  expect(sourceWords("gitea:a:b", kinds)).toBe("Gitea / a:b");
  expect(sourceWords("notion", kinds)).toBe("Notion");
  expect(sourceWords("slack:general", kinds)).toBe("slack:general");
  expect(sourceWords("slack:general")).toBe("slack:general");
});
