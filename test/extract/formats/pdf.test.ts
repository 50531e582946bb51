import { describe, test } from "vitest";
import { extractFile, makePdf, textOf } from "../documents.ts";

describe("PDF", () => {
  test("pages become sections with marks, the information dictionary becomes properties", async ({ expect }) => {
    const info = { Title: "The report", Author: "Ana", CreationDate: "D:20240131120000+01'00'" };
    const result = await textOf("a.pdf", makePdf(["First page", "", "Caf\\351 third"], { info }));
    expect(result.text).toBe("[Page 1]\nFirst page\n\n[Page 3]\nCafé third\n");
    expect(result.title).toBe("The report");
    expect(result.sections).toEqual([
      { name: "Page 1", level: 1, start: 0, kind: "page", ref: "1", anchor: "page=1" },
      { name: "Page 3", level: 1, start: result.text.indexOf("[Page 3]"), kind: "page", ref: "3", anchor: "page=3" },
    ]);
    expect(result.properties).toEqual({ author: "Ana", created: "2024-01-31T12:00:00+01:00", pages: "3" });
  });

  test("without text it is empty and probably a scan", async ({ expect }) => {
    expect(await extractFile("a.pdf", makePdf(["", ""]))).toMatchObject({
      reason: "empty",
      message: "The PDF has no text layer on its 2 pages. It is probably a scan.",
    });
  });

  test("one with a password is encrypted", async ({ expect }) => {
    expect(await extractFile("a.pdf", makePdf(["x"], { isEncrypted: true }))).toMatchObject({ reason: "encrypted" });
  });

  test("a cut or broken one fails with a reason", async ({ expect }) => {
    const whole = makePdf(["Some text"]);
    const cut = await extractFile("a.pdf", whole.subarray(0, 60));
    expect(cut).toMatchObject({ state: "no_text", reason: "failed", mimeType: "application/pdf" });
    expect(await extractFile("a.pdf", "%PDF-1.7\nnothing behind it")).toMatchObject({ reason: "failed" });
  });

  test("a page tree that claims a thousand million pages ends soon", async ({ expect }) => {
    const result = await extractFile("a.pdf", makePdf(["Only one"], { pageCount: 1_000_000_000 }));
    expect(result.state === "ok" ? result.text : result.reason).toMatch(/Only one|failed/u);
  });

  test("its text is cut at the cap", async ({ expect }) => {
    const result = await textOf("a.pdf", makePdf(["a".repeat(50), "b".repeat(50), "c".repeat(50)]), {
      maxTextLength: 80,
    });
    expect(result.text.length).toBe(80);
    expect(result.properties["truncated"]).toBeDefined();
  });
});
