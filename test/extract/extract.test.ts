import { inMemory } from "../spool.ts";
import { closeSync, openSync, readSync } from "node:fs";
import { gzipSync } from "node:zlib";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { analyzeDocument } from "#text/analyzer.ts";
import { extractInProcess } from "#extract/extract.ts";
import { DEFAULT_EXTRACT_LIMITS } from "#extract/limits.ts";
import { makeRandom } from "./mutations.ts";
import { bytesOf, extractFile, makePdf, requestOf, textOf } from "./documents.ts";
import { PLANTED_SECRETS } from "../text/planted-secrets.ts";
import { verifies } from "../requirements.ts";
import { runs } from "../runs.ts";

const PNG = Buffer.from("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489", "hex");
/** An empty end-of-directory record behind one local file header: enough to be a ZIP file to every reader. */
const ZIP = Buffer.concat([
  Buffer.from("504b0304140000000800", "hex"),
  Buffer.alloc(60),
  Buffer.from("504b0506", "hex"),
  Buffer.alloc(18),
]);

/** The first bytes of a file, which may be large. */
function beginningOf(path: string, length: number): Uint8Array {
  const file = openSync(path, "r");
  const bytes = new Uint8Array(length);
  readSync(file, bytes);
  closeSync(file);
  return bytes;
}

describe("a part of kb that can't be loaded", () => {
  test("is no fault of the file, which is tried again", async ({ expect }) => {
    const gone = () => Promise.reject(new Error("Cannot find module /dist/plain-ABC.js"));
    const tools = {
      analyze: analyzeDocument,
      now: () => 0,
      cpuMs: () => 0,
      formats: { "text/plain": { version: 1, load: gone } },
    };
    const request = requestOf("a.txt", "Words");
    const held = { ...request, bytes: inMemory(request.bytes) };
    const result = await extractInProcess(held, DEFAULT_EXTRACT_LIMITS, tools);
    expect(result).toMatchObject({ state: "no_text", reason: "failed", retryable: true });
    expect(result.state === "no_text" && result.message).toBe(
      "A part of the program that reads this file could not be loaded. Nothing is wrong with the file.",
    );
  });
});

describe("a token that a cut went through", () => {
  const token = PLANTED_SECRETS.find(({ label }) => label === "github token")?.text ?? "";
  const pad = (chars: number) => "word ".repeat(chars / 5);

  test.each([
    ["title.md", `---\ntitle: ${pad(275)}${token} end\nnote: ${pad(480)}${token}\n---\nbody\n`],
    ["head.md", `# ${pad(180)}${token} tail\n\nbody\n`],
    ["a.toml", `title = "${pad(280)}${token}"\nnote = "${pad(480)}${token}"\n`],
    ["a.eml", `From: a@b.test\nSubject: ${pad(480)}${token}\n\nbody\n`],
    [
      "a.html",
      `<title>${pad(280)}${token}</title><table><tr><td>${pad(980)}${token}</td></tr></table><h2>${pad(180)}${token}</h2>`,
    ],
  ])("is in no title, section, field or word of %s", async (name, text) => {
    const { bytes, ...rest } = requestOf(name, text);
    const result = await extractInProcess({ ...rest, bytes: inMemory(bytes) }, DEFAULT_EXTRACT_LIMITS, {
      analyze: analyzeDocument,
      now: () => 0,
      cpuMs: () => 0,
    });
    expect(result.state).toBe("ok");
    expect(JSON.stringify(result).toLowerCase()).not.toContain(token.slice(0, 14).toLowerCase());
  });

  test.each([
    ["in a property", "p.html", `<meta name="description" content="${token}"><p>Words</p>`],
    ["in the title", "t.html", `<title>${token}</title><p>Words</p>`],
    ["twice", "h.md", `# ${token}\n\nWords\n`],
  ])("counts as one where it stands %s", async (_where, name, text) => {
    expect(await extractFile(name, text)).toMatchObject({ state: "ok", maskedSecrets: 1 });
  });

  test("is not at the end of a text that is too long", async () => {
    const { bytes, ...rest } = requestOf("a.txt", `${pad(980)}${token} tail`);
    const result = await extractInProcess(
      { ...rest, bytes: inMemory(bytes) },
      { ...DEFAULT_EXTRACT_LIMITS, maxTextLength: 1_000 },
      { analyze: analyzeDocument, now: () => 0, cpuMs: () => 0 },
    );
    expect(result).toMatchObject({ state: "ok", text: pad(980), maskedSecrets: 1 });
  });
});

describe("what a file is", () => {
  verifies("extract:bytes-decide", "the bytes decide, not the name", async ({ expect }) => {
    expect(await extractFile("notes.txt", ZIP)).toMatchObject({
      state: "no_text",
      reason: "unsupported_type",
      mimeType: "application/zip",
      message: 'This is a ZIP archive. To read the files in it, turn on the connector\'s "archives" setting.',
      retryable: false,
    });
    expect(await extractFile("page.html", PNG)).toMatchObject({ reason: "unsupported_type", mimeType: "image/png" });
    expect(await extractFile("bomb.txt", gzipSync(Buffer.alloc(10_000_000)))).toMatchObject({
      reason: "unsupported_type",
      mimeType: "application/gzip",
    });
    expect(await extractFile("report.txt", makePdf(["A hidden report"]))).toMatchObject({
      state: "ok",
      mimeType: "application/pdf",
    });
    expect(await extractFile("program.txt", beginningOf(process.execPath, 100_000))).toMatchObject({
      reason: "unsupported_type",
    });
  });

  test("among text files the name tells the kind, then the declared type, then the beginning", async ({ expect }) => {
    expect((await textOf("main.rs", "fn main() {}")).mimeType).toBe("text/x-rust");
    expect((await textOf("Dockerfile", "FROM scratch")).mimeType).toBe("text/x-dockerfile");
    expect((await textOf("constructor", "plain")).mimeType).toBe("text/plain");
    expect((await textOf("saved", "<!-- x -->\n<!DOCTYPE html><html><body><p>Hello</p></body></html>")).text).toBe(
      "Hello\n",
    );
    expect(await extractFile("export", "<p>Hi</p>", {}, { mimeType: "text/html; charset=utf-8" })).toMatchObject({
      mimeType: "text/html",
      text: "Hi\n",
    });
    expect((await textOf("view.php", "<html><?php echo 1 ?></html>")).text).toContain("<?php");
  });

  test("text in UTF-16 is no sound file, though it begins like one", async ({ expect }) => {
    const text = Buffer.from("\ufeffGrüße aus Köln", "utf16le");
    expect(await textOf("a.txt", text)).toMatchObject({ text: "Grüße aus Köln", mimeType: "text/plain" });
    const random = makeRandom(7);
    const sound = Uint8Array.from({ length: 4_000 }, () => random() * 256);
    const frames = Buffer.concat([Buffer.from("fffe5000", "hex"), sound]);
    expect((await extractFile("a.mp1", frames)).mimeType).toBe("audio/mpeg");
  });

  test("a drawing, an empty file, and one of zeros or blanks have no text", async ({ expect }) => {
    expect(await extractFile("a.svg", "<svg xmlns='http://www.w3.org/2000/svg'><path d='M0 0'/></svg>")).toMatchObject({
      reason: "unsupported_type",
    });
    expect(await extractFile("a.txt", "")).toMatchObject({ reason: "empty", message: "The file is empty." });
    expect(await extractFile("a.txt", new Uint8Array(100_000))).toMatchObject({ reason: "empty" });
    expect(await extractFile("a.txt", " \r\n\t ")).toMatchObject({ reason: "empty", message: "The file has no text." });
  });

  test("a file above the cap is too large, and says both sizes", async ({ expect }) => {
    expect(await extractFile("a.txt", new Uint8Array(2 * 1_048_576), { maxBytes: 1_048_576 })).toMatchObject({
      reason: "too_large",
      message: "The file is 2 MiB. kb reads text from files up to 1 MiB.",
    });
  });

  verifies(
    "extract:no-text-still-found",
    "without text an item is still found by title, path and labels",
    async ({ expect }) => {
      const result = await extractFile(
        "budget.png",
        PNG,
        {},
        { title: "Budget", path: ["Finance"], labels: ["urgent"] },
      );
      expect(result.analyzed.terms.split("\n")).toEqual(expect.arrayContaining(["budget", "urgent"]));
    },
  );
});

describe("text as it is stored", () => {
  test("has line feeds only, no control characters and no lone surrogates; letters are not normalised", async ({
    expect,
  }) => {
    const result = await textOf("a.txt", "one\r\ntwo\rthree\u0085four\u2028five\x0cs\x07ix e\u0301");
    expect(result.text).toBe("one\ntwo\nthree\nfour\nfive\nsix e\u0301");
    expect((await textOf("a.json", '{"a":"x\\ud800y\\u0000z"}')).text).toBe("a: x\ufffdyz\n");
  });

  test("30 MB in a single line are cut and say so", async ({ expect }) => {
    const result = await textOf("a.txt", new Uint8Array(30_000_000).fill(0x61), { maxTextLength: 1_000_000 });
    expect(result.text.length).toBe(1_000_000);
    expect(result.properties["truncated"]).toBe("Only the first 1000000 characters were read.");
  });

  // Each of these once took, or would take with a careless pattern, minutes: a hang fails by the test's own time cap.
  test.for([
    ["comments", "<!-- -->"],
    ["heading.md", "# "],
    ["image.md", "![a](http://"],
    ["comment.md", "<!---->"],
    ["entities.html", "&amp;"],
    ["links.html", "<a href='http://x'>x"],
    ["style.html", '<p style="display  :   ">'],
    ["cells.html", "<td>x"],
    ["quotes.csv", 'a,"'],
    ["lists.json", "["],
  ] as const)("a hundred thousand characters of one pattern end soon: %s", async ([name, pattern], { expect }) => {
    const source = pattern.repeat(100_000 / pattern.length);
    expect((await extractFile(name, source)).state).toMatch(/^(?:ok|no_text)$/u);
  });

  verifies(
    "extract:always-an-answer",
    "whatever the bytes are, there is an answer, and its text is clean and within the cap",
    async ({ expect }) => {
      const names = fc.constantFrom("a.txt", "a.md", "a.html", "a.csv", "a.json", "a.jsonl", "a.pdf", "a");
      const starts = fc.constantFrom(
        "",
        "# a\n",
        "---\na: b\n---\n",
        "<html><table><tr><td>",
        '{"a":[',
        "%PDF-1.4\n",
        "a,b\n1,",
      );
      await fc.assert(
        fc.asyncProperty(
          names,
          starts,
          fc.uint8Array({ maxLength: 300 }),
          fc.string({ unit: "binary" }),
          async (name, start, tail, text) => {
            const result = await extractFile(name, Buffer.concat([bytesOf(start), bytesOf(text), tail]), {
              maxTextLength: 200,
            });
            if (result.state === "no_text") return;
            expect(result.text.length).toBeLessThanOrEqual(200);
            // eslint-disable-next-line no-control-regex -- control characters are what must not be there
            expect(result.text).not.toMatch(/[\0-\x08\x0b-\x1f\x7f-\x9f]|\p{Surrogate}/u);
            for (const section of result.sections) expect(section.start).toBeLessThanOrEqual(result.text.length);
          },
        ),
        { numRuns: runs(30) },
      );
    },
  );
});
