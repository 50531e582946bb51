import MarkdownIt from "markdown-it";
import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cleanBlock, cleanField, cleanLine, cleanMarked, cleanUrl, quoteLines } from "#api/clean.ts";
import { hostileText } from "./hostile-text.ts";

const HIDDEN =
  // oxlint-disable-next-line no-control-regex -- these are what must be gone
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\u{e0000}-\u{e007f}]/u;

describe("cleanLine", () => {
  test("gives one line without hidden characters or loadable pictures, within its length, and is idempotent", () => {
    fc.assert(
      fc.property(hostileText, fc.integer({ min: 1, max: 300 }), (text, max) => {
        const line = cleanLine(text, max);
        expect(line).not.toMatch(/[\n\r\u2028\u2029\u0085\v\f]/);
        expect(line).not.toMatch(HIDDEN);
        expect(line).not.toMatch(/!\[[^\]]*\]\(/);
        expect(line).not.toMatch(/<img\b/i);
        expect(line.length).toBeLessThanOrEqual(max);
        expect(line).not.toMatch(/\p{Surrogate}/u);
        expect(cleanLine(line, max)).toBe(line);
      }),
      { numRuns: 1000 },
    );
  });

  test("keeps joiners that spelling and emoji need and drops the others", () => {
    expect(cleanLine("می\u200cخواهم", 80)).toBe("می\u200cخواهم");
    expect(cleanLine("👩🏽\u200d🚀 ❤️\u200d🔥 1️⃣", 80)).toBe("👩🏽\u200d🚀 ❤️\u200d🔥 1️⃣");
    expect(cleanLine("a\u200db\u200cc\ufe0f\ufe0f", 80)).toBe("abc");
    expect(cleanLine("👩\u200d\u200d\u200d🚀", 80)).toBe("👩\u200d🚀");
  });

  test("leaves ordinary text of any script as it is", () => {
    for (const text of [
      "Q3 plan (final) — Żółć",
      "日本語の議事録",
      "C++ foo:bar",
      "a < b && c[0] > !d[1]",
      "Ünïcode é",
    ]) {
      expect(cleanLine(text, 200)).toBe(text);
    }
  });

  test("cuts with an ellipsis and never inside a pair", () => {
    expect(cleanLine("abcdef", 4)).toBe("abc…");
    expect(cleanLine("ab🚀🚀", 4)).toBe("ab…");
  });

  test("of a long text only the start is cleaned, and what the whole text hides stays hidden", () => {
    const long = " and on".repeat(2_000);
    expect(cleanLine(`Title${long}`, 20)).toBe("Title and on and on…");
    // The picture, the tag and the pair end far behind what is looked at.
    expect(cleanLine(`Title ![logo](https://evil.test/${"x".repeat(9_000)}) rest`, 200)).toBe("Title…");
    expect(cleanLine(`Title ![a ![b](https://evil.test/${"x".repeat(9_000)}) ](c) rest`, 200)).toBe("Title…");
    expect(cleanLine(`Title [![logo][${"x".repeat(9_000)}]](d)`, 200)).toBe("Title […");
    expect(cleanLine(`Title <img alt="a" src="https://evil.test/${"x".repeat(9_000)}">`, 200)).toBe("Title…");
    for (let fill = 1_810; fill < 1_830; fill++) {
      expect(cleanLine(`T${"\u200b".repeat(fill)}${"\u{1f680}".repeat(2_000)}`, 200)).toMatch(/^T\u{1f680}*…$/u);
    }
    expect(cleanLine("\u202e".repeat(9_000), 200)).toBe("");
  });

  test("a mark behind an exclamation mark doesn't make a picture of what follows", () => {
    expect(cleanBlock("!<img alt=a>(https://evil.test/x.png)")).toBe("! [image](https://evil.test/x.png)");
    expect(cleanBlock("!![a](b)(https://evil.test/x.png)")).toBe("! [image: a](https://evil.test/x.png)");
  });

  test("a field's bar cannot start another field", () => {
    expect(cleanField("Anna | URL: https://evil.test", 80)).toBe("Anna ¦ URL: https://evil.test");
  });
});

describe("cleanBlock", () => {
  test("keeps lines and tabs, and quoting leaves no line to the writer", () => {
    fc.assert(
      fc.property(hostileText, (text) => {
        const block = cleanBlock(text);
        expect(block).not.toMatch(HIDDEN);
        expect(
          quoteLines(block)
            .split(/[\n\r\u2028\u2029\u0085\v\f]/)
            .every((line) => line.startsWith("> ")),
        ).toBe(true);
        expect(cleanBlock(block)).toBe(block);
      }),
      { numRuns: 1000 },
    );
  });

  test("pictures become their alternative text, links stay", () => {
    expect(cleanBlock("a ![logo](https://evil.test/x.png) b")).toBe("a [image: logo] b");
    expect(cleanBlock('<img alt="x y" src=z>')).toBe("[image: x y]");
    expect(cleanBlock("![one][two]\n\n[two]: https://evil.test")).toBe("[image: one]\n\n[two] : https://evil.test");
    expect(cleanBlock("![two]\n\n[two]: https://evil.test")).toBe("[image: two]\n\n[two] : https://evil.test");
    expect(cleanBlock("[text](https://good.test)")).toBe("[text](https://good.test)");
    expect(cleanBlock("if (![1, 2].includes(x)) {\n\treturn;\n}")).toBe("if (![1, 2].includes(x)) {\n\treturn;\n}");
  });
});

test("a text made to be slow is cleaned: were each step tried from every place, the test would not end", () => {
  for (const part of ["![", "![a](", "<img ", "[a", "]( ![", "\u200d"]) {
    const text = part.repeat(20_000);
    expect(cleanBlock(text).length).toBeLessThanOrEqual(text.length * 2);
  }
});

test("beyond a thousand pictures, tags or definitions, none is left that loads", () => {
  const many = (part: string) => cleanBlock(part.repeat(3_000));
  expect(many("![a](b) ")).not.toMatch(/!\[[^\]]*\]\(/);
  expect(many("<img src=x> ")).not.toMatch(/<img/);
  const defined = cleanBlock(
    `![l1499]\n\n${Array.from({ length: 1_500 }, (_, at) => `[l${at}]: https://evil.test`).join("\n")}`,
  );
  expect(defined.startsWith("[image: l1499]\n")).toBe(true);
});

test("marks move with what is taken out before them", () => {
  const text = "a\u200bb\u202ec 👩\u200d\u200d🚀 d";
  const at = text.indexOf("c");
  const { text: shown, highlights } = cleanMarked(text, [
    { start: at, end: at + 1 },
    { start: 0, end: text.length },
    { start: at, end: at + 1 },
  ]);
  expect(highlights.map(({ start, end }) => shown.slice(start, end))).toEqual(["c", shown, "c"]);
});

describe("cleanUrl", () => {
  test("only http and https pass, on one ASCII line, without credentials", () => {
    expect(cleanUrl("https://a.test/x?y=1#z")).toBe("https://a.test/x?y=1#z");
    expect(cleanUrl("https://user:pw@a.test/")).toBe("https://a.test/");
    for (const bad of ["javascript:alert(1)", "file:///etc/passwd", "data:text/html,x", "nothing", "", null]) {
      expect(cleanUrl(bad)).toBeUndefined();
    }
    fc.assert(
      fc.property(hostileText, (tail) => {
        const url = cleanUrl(`https://a.test/${tail}`);
        if (url !== undefined) expect(url).toMatch(/^https:\/\/[!-~]+$/);
      }),
    );
  });
});

test("no text defines what a picture elsewhere in an answer would load", () => {
  const markdown = new MarkdownIt();
  for (const target of [
    "https://evil.test/p.png",
    "//evil.test/p.png",
    "<https://evil.test/p>",
    "h&#116;tps://evil.test",
    "\n https\\://evil.test",
  ]) {
    for (const label of ["ref", "a b", "::1"]) {
      for (const before of ["", "\n", "words\n\n", "> ", "- "]) {
        const definition = `${before}[${label}]: ${target}`;
        const answer = `[1] ${cleanLine(`Title ![${label}]`, 200)}\nkbId: k\n\n${quoteLines(cleanBlock(definition))}`;
        expect(markdown.render(answer), definition).not.toContain("<img");
        expect(markdown.render(`![${label}]\n\n> ${cleanLine(definition, 200)}`), definition).not.toContain("<img");
      }
    }
  }
});

test("what only looks like a definition stays as it is", () => {
  for (const text of ["[INFO]: started", "http://[::1]:8080/a", "x[i]: int = 3", "a [link](https://a.test/b) and [1]"])
    expect([cleanBlock(text), cleanLine(text, 200)]).toEqual([text, text]);
});
