/** How an item's text is shown: by its type, and harmless whatever somebody wrote into it. */
import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, test } from "vitest";
import { whoIn, whyVisible } from "#server/web/app/pages/item/access-words.ts";
import { blocksOf } from "#server/web/app/pages/item/blocks.ts";
import { mailBodyOf, quotationsOf } from "#server/web/app/pages/item/mail.ts";
import { Markdown } from "#server/web/app/pages/item/markdown.tsx";
import { Code, Document, MailBody, Raw } from "#server/web/app/pages/item/plain-views.tsx";
import { WithMailLinks } from "#server/web/app/pages/item/mail-links.tsx";
import { lineSegmentsOf, segmentsOf } from "#server/web/app/pages/item/segments.ts";
import { textKindOf } from "#server/web/app/pages/item/text-kind.ts";

const markdown = (text: string, title = "") =>
  renderToStaticMarkup(createElement(Markdown, { text, title, breaks: false, origin: "https://kb.test" }));
/** As in a browser that has the page from there. */
const markdownAt = (text: string, origin: string) =>
  renderToStaticMarkup(createElement(Markdown, { text, breaks: false, origin }));
const VIEWS: Record<string, (text: string) => string> = {
  markdown,
  code: (text) => renderToStaticMarkup(createElement(Code, { text })),
  mail: (text) => renderToStaticMarkup(createElement(MailBody, { body: mailBodyOf(text) })),
  document: (text) => renderToStaticMarkup(createElement(Document, { text, isWhole: true })),
  raw: (text) => renderToStaticMarkup(createElement(Raw, { text })),
};

/** Every element and attribute that a view may make. */
const HARMLESS =
  /^(?:div|p|pre|code|span|ul|ol|li|em|strong|s|br|hr|blockquote|table|thead|tbody|tr|th|td|h3|h4|h5|h6|a)$/;
const ATTRIBUTES = /^(?:class|tabindex|dir|scope|start|href|rel|target|aria-hidden)$/;

function harmful(html: string): string[] {
  const found: string[] = [];
  for (const [, name = "", attributes = ""] of html.matchAll(/<([a-z0-9]+)((?:\s+[a-zA-Z-]+(?:="[^"]*")?)*)\s*\/?>/g)) {
    if (!HARMLESS.test(name)) found.push(name);
    for (const [, attribute = "", value = ""] of attributes.matchAll(/([a-zA-Z-]+)="([^"]*)"/g)) {
      if (!ATTRIBUTES.test(attribute.toLowerCase())) found.push(`${name} ${attribute}`);
      if (attribute === "href" && !/^(?:https?:\/\/|mailto:)/.test(value)) found.push(value);
    }
    if (name === "a" && !attributes.includes('rel="noopener noreferrer"')) found.push("a without rel");
  }
  return found;
}

const HOSTILE = [
  "<script>alert(1)</script>",
  "<img src=x onerror=alert(1)>",
  "<svg/onload=alert(1)><iframe srcdoc='<script>1</script>'>",
  "[a](javascript:alert(1)) [b](JaVaScRiPt:alert(1)) [c](java\nscript:alert(1)) [d](&#106;avascript:alert(1))",
  "[a](data:text/html,<script>1</script>) [b](vbscript:x) [c](file:///etc/passwd) [d](blob:https://x/1)",
  "<javascript:alert(1)> <data:text/html;base64,PHNjcmlwdD4=>",
  "![x](https://evil.test/pixel.png) ![y](data:image/svg+xml;base64,AAAA) ![z][ref]\n\n[ref]: https://evil.test/p.gif",
  '[a](https://x.test/"onmouseover="alert(1)) [b](https://x.test "title\' onclick=1")',
  "[\u202egnp.exe](https://x.test) \u2066abc\u2069",
  "| a | <b onclick=1> |\n| --- | --- |\n| <script> | [x](javascript:1) |",
  "> From: x\n> <script>alert(1)</script>\n>> deeper",
  "```html\n<script>alert(1)</script>\n```",
  "[x]: javascript:alert(1)\n\n[x]",
  "www.evil.test//evil.test \\\\evil.test",
];

describe("a hostile text", () => {
  test.for(Object.keys(VIEWS))("makes nothing but harmless elements as %s", (view, { expect }) => {
    for (const text of [...HOSTILE, HOSTILE.join("\n\n")]) expect(harmful(VIEWS[view]?.(text) ?? ""), text).toEqual([]);
  });

  test("keeps its words, and its images are words", ({ expect }) => {
    expect(markdown("<b>bold</b> ![chart](https://evil.test/p.png) ![](x)")).toContain(
      "&lt;b&gt;bold&lt;/b&gt; [image: chart] [image]",
    );
  });

  test.for(Object.keys(VIEWS))(
    "of deep nesting or one endless line is shown as %s all the same",
    (view, { expect }) => {
      const draw = VIEWS[view];
      for (const text of [
        `${">".repeat(10_000)} deep`,
        Array.from({ length: 1_000 }, (_, depth) => `${"  ".repeat(Math.min(depth, 200))}- item`).join("\n"),
        `${"[".repeat(10_000)}${"*a_".repeat(5_000)}`,
        `${"|".repeat(30_000)}\n|---|\n`,
        "x".repeat(5_000_000),
      ]) {
        expect(draw?.(text).length).toBeGreaterThan(0);
      }
    },
  );

  test("says in code where it would change the order of reading, and nowhere does", ({ expect }) => {
    const text = "if (admin\u202e) {\u2066";
    expect(VIEWS["code"]?.(text)).toContain("if (admin[U+202E]) {[U+2066]");
    expect(VIEWS["document"]?.(text)).not.toMatch(/[\u202a-\u202e\u2066-\u2069]/);
  });
});

describe("Markdown", () => {
  test("has headings below those of the page without leaving one out, links, lists and tables", ({ expect }) => {
    const html = markdown(
      "### Deep first\n\n# Then high\n\nSee [docs](https://x.test/a?b=1&c) or a@b.test, [here](./x.md).\n\n- [x] done\n- [ ] open\n\n3. three\n\n| n | q |\n| --- | ---: |\n| a | 1 |",
    );
    expect(html).toMatch(/<h3[^>]*>Deep first<\/h3>.*<h4|<h3[^>]*>Then high<\/h3>/s);
    expect(html).toContain('href="https://x.test/a?b=1&amp;c"');
    expect(html).toContain('href="mailto:a@b.test"');
    expect(html).not.toContain("x.md");
    expect(html).toMatch(/☑ done.*☐ open/s);
    expect(html).toContain('start="3"');
    expect(html).toMatch(/<th [^>]*text-right[^>]*>q<\/th>/);
  });
});

test("a first heading that says the title again is left out, and only that one", ({ expect }) => {
  const shown = (text: string) => markdown(text, "Plan of  2027").replaceAll(/<[^>]*>/g, "|");
  expect(shown("# Plan of *2027*\n\nText\n\n# Plan of 2027\n")).toMatch(/^\|+Text\|+Plan of 2027\|+$/);
  expect(shown("# Plan\n\nText")).toContain("Plan|");
  expect(shown("## Plan of 2027\n\nText")).toContain("Plan of 2027");
  expect(shown("Text\n\n# Plan of 2027")).toContain("Plan of 2027");
});

test("what is nested too deep to be drawn is there as plain text, and so is what follows", ({ expect }) => {
  const list = Array.from({ length: 60 }, (_, depth) => `${"  ".repeat(depth)}- level ${depth + 1}`).join("\n");
  const html = markdown(`${list}\n\nAfter the list.\n\n${">".repeat(70)} quoted\n\nThe **end**.`);
  for (let level = 1; level <= 60; level++) expect(html).toMatch(new RegExp(`level ${level}\\b`));
  expect(html).toContain("<p>After the list.</p>");
  expect(html).toContain("quoted");
  expect(html).toMatch(/The <strong[^>]*>end/);
});

test("addresses in facts are links to write to, and everything else stays text", ({ expect }) => {
  const shown = (text: string) => renderToStaticMarkup(createElement(WithMailLinks, { text }));
  expect(shown("Anna <anna@acme.test>, b.o+x@mail.acme.test.").replaceAll(/ class="[^"]*"/g, "")).toBe(
    'Anna &lt;<a href="mailto:anna@acme.test">anna@acme.test</a>&gt;, ' +
      '<a href="mailto:b.o%2Bx@mail.acme.test">b.o+x@mail.acme.test</a>.',
  );
  expect(shown("a@b, @you, x@y?cc=z@evil.test javascript:1")).not.toMatch(/href="(?!mailto:[\w@.%]+")/);
  expect(shown("no address")).toBe("no address");
  expect(shown(`${"a".repeat(200_000)}@`)).toHaveLength(200_001);
});

describe("a long text", () => {
  test("is drawn in pieces, and what was drawn stays when more of it comes", ({ expect }) => {
    const paragraphs = Array.from({ length: 4_000 }, (_, at) => `Paragraph ${at} of a long text.\n\n`).join("");
    const text = `${paragraphs}\`\`\`\n${"code\n\n".repeat(8_000)}\`\`\`\n`;
    const pieces = segmentsOf(text);
    expect(pieces.join("")).toBe(text);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThan(100_001);
    // Prose is drawn a little at a time.
    expect(Math.max(...segmentsOf(paragraphs).map((piece) => piece.length))).toBeLessThan(5_000);
    const before = segmentsOf(text.slice(0, 90_000));
    expect(pieces.slice(0, before.length - 1)).toEqual(before.slice(0, -1));
    expect(segmentsOf("x".repeat(250_000)).map((piece) => piece.length)).toEqual([100_000, 100_000, 50_000]);
  });

  test("numbers lines across pieces", ({ expect }) => {
    const pieces = lineSegmentsOf("a\n".repeat(900));
    expect(pieces.map(({ first, lines }) => [first, lines.length])).toEqual([
      [1, 400],
      [401, 400],
      [801, 100],
    ]);
  });
});

describe("a table", () => {
  const head = "| name | amount |\n| --- | --- |\n";

  test("is one again where it was stored in stretches, with strokes in cells, and numbers to the right", ({
    expect,
  }) => {
    const text = `Sheet1\n${head}| a \\| b | 1,200.50 |\n\n${head}| c | -3 |\n\nA note.`;
    expect(blocksOf(text, true)).toEqual([
      { type: "text", text: "Sheet1" },
      {
        type: "table",
        head: ["name", "amount"],
        rows: [
          ["a | b", "1,200.50"],
          ["c", "-3"],
        ],
        numeric: [false, true],
      },
      { type: "text", text: "A note." },
    ]);
  });

  test("waits for the rest of a row that the end of a part cuts", ({ expect }) => {
    expect(blocksOf(`${head}| a | 1 |\n| b |`, false)).toMatchObject([{ rows: [["a", "1"]] }]);
  });
});

test("the name of a sheet heads its table, and a remark in a text stays what it is", ({ expect }) => {
  const told = (text: string) =>
    blocksOf(text, true).map((block) => (block.type === "table" ? block.rows : `${block.type}: ${block.text}`));
  expect(told("Notes\n\n# Budget\n\n| a |\n| --- |\n| 1 |\n\n# a remark\nof a script\n")).toEqual([
    "text: Notes",
    "heading: Budget",
    [["1"]],
    "text: # a remark\nof a script",
  ]);
});

describe("a mail", () => {
  test("leaves its head to the facts and gives its quotations by their depth", ({ expect }) => {
    const body = mailBodyOf(
      "From: Ana <ana@a.test>\nTo: bo@b.test\nSubject: Plan\n\nHi\n> old\n> > older\n\nFrom: me\n",
    );
    expect(quotationsOf(body)).toEqual([
      { depth: 0, text: "Hi" },
      { depth: 1, text: "old" },
      { depth: 2, text: "older" },
      { depth: 0, text: "\nFrom: me\n" },
    ]);
  });
});

test("the type of an item decides how its text is shown, its own name before its title", ({ expect }) => {
  const kindOf = (item: Partial<Parameters<typeof textKindOf>[0]>) =>
    textKindOf({ kind: "file", mimeType: null, title: "", key: null, externalId: "1", ...item });
  expect([
    kindOf({ title: "README.md" }),
    kindOf({ title: "Deploying", key: "docs/deploy.md" }),
    kindOf({ title: "queue.ts" }),
    kindOf({ title: "x", mimeType: "application/json; charset=utf-8" }),
    kindOf({ title: "Plan", kind: "message", mimeType: "message/rfc822" }),
    kindOf({ title: "A saved page", key: "page.mht", mimeType: "message/rfc822" }),
    kindOf({ title: "accounts.csv", mimeType: "text/csv" }),
    kindOf({ title: "Fix v1.2.ts now", kind: "task", externalId: "7" }),
    kindOf({ title: "Log in fails", kind: "task" }),
    kindOf({ title: "report.pdf", mimeType: "application/pdf" }),
    kindOf({ title: "Release notes", key: "notes.html", mimeType: "text/html" }),
  ]).toEqual([
    "markdown",
    "markdown",
    "code",
    "code",
    "mail",
    "document",
    "document",
    "markdown",
    "markdown",
    "document",
    "markdown",
  ]);
});

test("who may see an item is said in words", ({ expect }) => {
  const names = { usr_2: "Ben Ito", grp_2: "Research", con_2: "Notes" };
  const list = (chain: string[] | null, principals: string[] | null = null, size = 1) => ({
    origin: "source" as const,
    chain,
    principals,
    size,
  });
  expect([
    whyVisible([list(["workspace", "group:connector:con_2"]), list(["workspace"])], names),
    whyVisible([list(["workspace", "group:connector:con_2"]), list(["everyone"])], names),
    whyVisible([list(["user:usr_2", "group:grp_2", "group:connector:con_2"])], names),
    whyVisible([list(["user:usr_2", "group:connector:con_2"]), list(["user:usr_2"])], names),
    whyVisible(
      [list(["workspace", "group:connector:con_2"]), list(["user:gitea:x:7", "group:con_2:t1", "group:con_2:r1"])],
      names,
    ),
  ]).toEqual([
    ["everyone in the workspace can read the connector Notes"],
    ["everyone in the workspace can read the connector Notes", "everyone can read it at the source"],
    ["you are in the group Research, which can read the connector Notes"],
    ["you can read the connector Notes", "it is shared with you"],
    ["everyone in the workspace can read the connector Notes", "your user at the source can read it"],
  ]);
  expect(whoIn(list(null, ["user:usr_2", "group:grp_2", "user:git:x:1"], 9), names)).toBe(
    "Ben Ito, the group Research, a user in the source, 6 more",
  );
  expect(whoIn(list(["user:usr_2"]), names)).toBeNull();
});

describe("links to this server", () => {
  const KB = "https://kb.acme.test";
  test.for([
    "[words](https://kb.acme.test/connect#intent=x)",
    "[words](https://KB.acme.test:443/i/kbi_2222222222222222)",
    "[words](http://kb.acme.test./api/accounts/gitea/authorize)",
    "[words](https://a:b@kb.acme.test/x)",
    "[words](https://kb%2eacme.test/x)",
    "[words][1]\n\n[1]: https://kb.acme.test/x",
    "<https://kb.acme.test/connect#intent=x>",
    "https://kb.acme.test/connect#intent=x",
    "[words](//kb.acme.test/x)",
    "[words](/api/accounts/gitea/authorize)",
    "[words](#intent=x)",
  ])("%s is text", (text, { expect }) => {
    const html = markdownAt(text, KB);
    expect(html).not.toContain("<a ");
    expect(html).toMatch(/words|kb\.acme\.test/);
  });

  test("others stay links", ({ expect }) => {
    expect(markdownAt("[words](https://git.acme.test/kb.acme.test)", KB)).toContain(
      'href="https://git.acme.test/kb.acme.test"',
    );
    expect(markdownAt("[words](mailto:ana@kb.acme.test)", KB)).toContain('href="mailto:ana@kb.acme.test"');
  });
});
