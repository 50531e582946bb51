import { inMemory } from "../../../spool.ts";
import { expect, test } from "vitest";
import { analyzeDocument } from "#text/analyzer.ts";
import { extractInProcess } from "#extract/extract.ts";
import { DEFAULT_EXTRACT_LIMITS } from "#extract/limits.ts";
import { item, listing, makeHarness } from "../harness.ts";

const MAIL =
  "From: Ana Kay <ana@one.test>\r\nTo: Bo <bo@two.test>, cy@three.test\r\nSubject: Invoice for March\r\nDate: Tue, 5 Mar 2024 10:11:12 +0000\r\n\r\nPlease pay.\r\n";

/** Syncs these files, each as its source names it and with the real extraction; gives their rows by externalId. */
async function syncFiles(files: Readonly<Record<string, string>>, title?: string) {
  const kb = await makeHarness(
    listing(() =>
      Object.entries(files).map(([path, text]) =>
        item(path, text, {
          ...(title === undefined ? { title: path.slice(path.lastIndexOf("/") + 1), hasFileTitle: true } : { title }),
          updatedAt: Date.parse("2025-06-01T00:00:00Z"),
          content: { type: "fetch" },
        }),
      ),
    ),
    {
      extractor: {
        extract: (request) =>
          extractInProcess({ ...request, bytes: inMemory(request.bytes) }, DEFAULT_EXTRACT_LIMITS, {
            analyze: analyzeDocument,
            now: () => 0,
            cpuMs: () => 0,
          }),
      },
    },
  );
  kb.source.fetchContent = async (_ctx, { externalId }) => ({
    bytes: new TextEncoder().encode(files[externalId]),
    fileName: externalId.slice(externalId.lastIndexOf("/") + 1),
  });
  expect(await kb.sync()).toMatchObject({ counts: { upserted: Object.keys(files).length, failed: 0 } });
  const rows = await kb.database.read.selectFrom("items").selectAll().execute();
  return { kb, rows: new Map(rows.map((row) => [row.externalId, row])) };
}

test("a file is shown by the title of its document, and its name is its key", async () => {
  const { rows } = await syncFiles({
    "a/README.md": "# Payment service\n\nHow it works.",
    "b/front.md": "---\ntitle: Holiday plan\nkind: task\n---\n# Other heading\n",
    "c/page.html": "<html><head><title>Price list</title></head><body><p>From 3 to 4.</p></body></html>",
    "d/notes.txt": "Nothing but words.",
    "e/untitled.md": "# Untitled\n\nText.",
  });
  const shown = [...rows.values()].map(({ externalId, title, key, kind }) => [externalId, title, key, kind]);
  expect(shown.toSorted()).toEqual([
    ["a/README.md", "Payment service", "README.md", "file"],
    ["b/front.md", "Holiday plan", "front.md", "file"],
    ["c/page.html", "Price list", "page.html", "file"],
    ["d/notes.txt", "notes.txt", "notes.txt", "file"],
    ["e/untitled.md", "untitled.md", "untitled.md", "file"],
  ]);
  expect(JSON.parse(rows.get("b/front.md")?.fields ?? "")).toEqual({ kind: "task" });
});

test("what a source calls an item stays its title, and what the document calls itself is a field", async () => {
  const { rows } = await syncFiles({ "x.md": "# Own heading\n\nText." }, "Chosen");
  const row = rows.get("x.md");
  expect([row?.title, row?.key]).toEqual(["Chosen", null]);
  expect(JSON.parse(row?.fields ?? "")).toEqual({ documentTitle: "Own heading" });
});

test("a mail is a message with its subject, its people and its own date; a saved web page is none", async () => {
  const { rows } = await syncFiles({
    "in/msg-01.eml": MAIL,
    "in/page.mht": MAIL.replace("Invoice for March", "Saved page"),
  });
  const mail = rows.get("in/msg-01.eml");
  expect(mail).toMatchObject({
    kind: "message",
    title: "Invoice for March",
    key: "msg-01.eml",
    createdAt: Date.parse("2024-03-05T10:11:12Z"),
    updatedAt: Date.parse("2024-03-05T10:11:12Z"),
  });
  expect(JSON.parse(mail?.author ?? "")).toMatchObject({ name: "Ana Kay", claimed: true });
  expect(JSON.parse(mail?.fields ?? "")).toMatchObject({
    from: "Ana Kay <ana@one.test>",
    to: ["Bo <bo@two.test>", "cy@three.test"],
    date: "2024-03-05T10:11:12+00:00",
  });
  expect(rows.get("in/page.mht")).toMatchObject({ kind: "file", title: "Saved page" });
});

test("a file is found by its exact name as high as by its title", async () => {
  const named = analyzeDocument({ title: "Payment service", name: "zebra-plan.md", path: [], labels: [], text: "" });
  const titled = analyzeDocument({ title: "zebra-plan.md", path: [], labels: [], text: "" });
  const weightOf = ({ terms, weights }: typeof named, term: string) => weights[terms.split("\n").indexOf(term)];
  for (const term of titled.terms.split("\n")) expect(weightOf(named, term)).toBe(weightOf(titled, term));
});

test("a document without text is shown by its title, with its fields and without its secrets", async () => {
  const token = `ghp_${"a1B2".repeat(9)}`;
  const { rows } = await syncFiles({
    "a/app.html": `<html lang="de"><head><title>Dashboard Windpark</title><meta name="author" content="Ana"></head><body></body></html>`,
    "b/empty.md": `---\ntitle: Plan\nkey: ${token}\n---\n`,
  });
  const shown = [...rows.values()].map(({ externalId, title, key, textReason }) => [
    externalId,
    title,
    key,
    textReason,
  ]);
  expect(shown.toSorted()).toEqual([
    ["a/app.html", "Dashboard Windpark", "app.html", "empty"],
    ["b/empty.md", "Plan", "empty.md", "empty"],
  ]);
  expect(JSON.parse(rows.get("a/app.html")?.fields ?? "")).toEqual({ author: "Ana", language: "de" });
  expect(rows.get("b/empty.md")?.fields).not.toContain(token);
  expect(rows.get("b/empty.md")?.maskedSecrets).toBe(1);
});
