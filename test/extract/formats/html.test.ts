import { describe, expect as check, test } from "vitest";
import { textOf } from "../documents.ts";

const page = (body: string, head = "") =>
  `<!doctype html><html lang="en-GB"><head><title>The page</title>${head}</head><body>${body}</body></html>`;
const long = "Sentences with enough words in them to be taken for the content of a page, again and again. ".repeat(5);

describe("HTML", () => {
  test("has the readings of words behind them, not in them", async ({ expect }) => {
    const words =
      "<main><p>私の<ruby>漢<rt>かん</rt>字<rt>じ</rt></ruby>です。</p><p><ruby>東京<rp>(</rp><rt>とうきょう</rt><rp>)</rp></ruby></p><table><tr><td>The <ruby>WHO<rt>World Health Organization</rt></ruby>s rules</td></tr></table></main>";
    expect((await textOf("a.html", page(words))).text).toBe(
      "私の漢字です (かんじ)。\n\n東京 (とうきょう)\n\nThe WHOs (World Health Organization) rules\n",
    );
  });

  test.for(["u", "nobr", "big", "bdi", "my-term", "ix:nonNumeric"])(
    "a paragraph goes on at %s, which the search for its article doesn't know",
    async (name, { expect }) => {
      const source = page(`<div>from <${name}><b>five</b></${name}> years.</div><my-box><p>one</p><p>two</p></my-box>`);
      expect((await textOf("a.html", source)).text).toBe("from five years.\n\none\n\ntwo\n");
    },
  );

  test("headings stay, whatever their classes are called", async ({ expect }) => {
    const heading = (name: string) => `<h2 class="${name}">About ${name}</h2><p>${long}</p>`;
    const { sections } = await textOf(
      "a.html",
      page(["header-anchor comment", "sidebar", "share"].map(heading).join("")),
    );
    expect(sections.map(({ name }) => name)).toEqual(["About header-anchor comment", "About sidebar", "About share"]);
  });

  test("structure becomes Markdown, headings become sections", async ({ expect }) => {
    const result = await textOf(
      "a.html",
      page(`<main><h1>Big <em>title</em> <a href="#x">¶</a></h1><p>One<br>two &amp; <b>three</b>,<code>x  y</code>.</p>
        <ul><li>a<ul><li>b</li></ul></li><li><p>c</p></li></ul><ol start="3"><li>d<li>e</ol>
        <blockquote><p>quoted</p><p>twice</p></blockquote>
        <pre class="language-js"><code>if (a) {
  b();

}
</code></pre><h2 id="x">Next</h2><p>See <a href="https://x.test/y">there</a> and <a href="/z">here</a>.<img src="https://t.test/p.gif" alt="A chart"><img src="x.gif"></p></main>`),
    );
    expect(result.text).toBe(`# Big title

One
two & three,\`x y\`.

- a
  - b
- c

3. d
4. e

> quoted
>
> twice

\`\`\`js
if (a) {
  b();

}
\`\`\`

## Next

See there (https://x.test/y) and here.[image: A chart]
`);
    expect(result.title).toBe("The page");
    expect(result.language).toBe("en");
    expect(result.sections).toEqual([
      { name: "Big title", level: 1, start: 0 },
      { name: "Next", level: 2, start: result.text.indexOf("## Next"), anchor: "x" },
    ]);
  });

  test("soft hyphens say nothing, in a title neither", async ({ expect }) => {
    const body = "<main><h1>Do&shy;nau</h1><p>Donau&shy;dampf\u00adschiff</p></main>";
    const { text, title, sections } = await textOf("a.html", page(body).replace("The page", "Dam&shy;pfer"));
    expect([text, title, sections[0]?.name]).toEqual(["# Donau\n\nDonaudampfschiff\n", "Dampfer", "Donau"]);
  });

  test("the number of a note is no part of the word before it", async ({ expect }) => {
    const notes = [
      'one<sup><a href="#fn1">1</a></sup>',
      'two<a href="#fn2" class="footnote-ref" role="doc-noteref"><sup>2</sup></a>.',
      'three<sup><a href="#c3"><span>[</span>3<span>]</span></a></sup>',
      "four<a epub:type='noteref' href='#n'>*</a>",
      'x<sup>2</sup> and <a href="#top">top</a>',
    ];
    expect((await textOf("a.html", page(`<main><p>${notes.join(" ")}</p></main>`))).text).toBe(
      "one[1] two[2]. three[3] four[*] x2 and top\n",
    );
  });

  test("letters in fonts of symbols are what these show", async ({ expect }) => {
    const words = `<main><p>go <span style='color:red;font-family:Wingdings'>\u00e0</span> on <font face="Symbol">D<span style="font-family:Arial">D</span></font> <span style="font-family:&quot;Wingdings&quot;,serif">J</span>D</p></main>`;
    expect((await textOf("a.html", page(words))).text).toBe("go → on ΔD ☺D\n");
    const mail = `From: a@one.test\nSubject: s\nContent-Type: text/html\n\n${words.replace("\u00e0", "&agrave;")}`;
    expect((await textOf("a.eml", mail)).text).toContain("go → on ΔD ☺D");
  });

  test("a heading that says the same as the title stays", async () => {
    const article = `<div><h1>The page</h1><p>${long}</p><p>${long}</p><h3>More</h3><p>${long}</p></div>`;
    const { text, sections } = await textOf("a.html", page(article));
    check(text.startsWith("# The page\n\nSentences")).toBe(true);
    check(sections.map(({ name }) => name)).toEqual(["The page", "More"]);
  });

  test.each([
    ['<h2 id="own">Install</h2>', "own"],
    ['<section id="around"><h2>Install</h2></section>', "around"],
    ['<div id="outer"><span id="before"></span><h2>Install</h2></div>', "before"],
    ['<h2><a name="inside"></a>Install <a href="#inside">#</a></h2>', "inside"],
    ['<p id="other">Text before it.</p><h2>Install</h2>', undefined],
    ['<h2 id="no spaces allowed">Install</h2>', undefined],
    ['<h3 id="empty"></h3><h2>Install</h2>', undefined],
  ])("a heading's address is what its page gives it: %s", async (html, anchor) => {
    const { sections } = await textOf("a.html", page(`<main>${html}<p>${long}</p></main>`));
    check(sections.map((section) => section.anchor)).toEqual([anchor]);
  });

  test("data tables become rows; tables for layout become text", async ({ expect }) => {
    const data =
      "<table><caption>Sums</caption><tr><th>Name</th><th>Sum</th></tr><tr><td>a|b</td><td>1<br>2</td></tr></table>";
    expect((await textOf("a.html", page(data))).text).toBe("Sums\n\n| Name | Sum |\n| --- | --- |\n| a\\|b | 1 2 |\n");
    const layout = `<main><table><tr><td>Menu</td><td><h1>Title</h1><p>Text</p>${data}</td></tr></table></main>`;
    expect((await textOf("a.html", page(layout))).text).toBe(
      "Menu\n\n# Title\n\nText\n\nSums\n\n| Name | Sum |\n| --- | --- |\n| a\\|b | 1 2 |\n",
    );
  });

  test.for([
    `<div hidden>SECRET</div>`,
    `<div style="color:red; DISPLAY : none">SECRET</div>`,
    `<p style="visibility:hidden">a<b>SECRET</b></p>`,
    `<span style="font-size:0px">SECRET</span>`,
    `<span style="opacity: 0;">SECRET</span>`,
    `<div aria-hidden="true"><p>SECRET</p></div>`,
    `<template><p>SECRET</p></template>`,
    `<script>SECRET</script><style>SECRET{}</style><noscript>SECRET</noscript>`,
    `<!-- SECRET --><![CDATA[SECRET]]>`,
    `<dialog>SECRET</dialog><textarea>SECRET</textarea><svg><title>SECRET</title><text>SECRET</text></svg>`,
  ])("what a person does not see is no text: %s", async (hidden, { expect }) => {
    // Both ways: through a page's own marks, and through Readability, which drops styles.
    for (const body of [
      `<main><p>${long}</p>${hidden}<p>${long}</p></main>`,
      `<div><div><p>${long}</p>${hidden}<p>${long}</p></div></div>`,
    ]) {
      const { text, title } = await textOf("a.html", page(body));
      expect(text).toContain("Sentences with enough words");
      expect(text).not.toContain("SECRET");
      expect(title).toBe("The page");
    }
  });

  test("styles that only look like hiding hide nothing, nor does a page that fades in", async ({ expect }) => {
    const shown = `<body style="opacity:0"><p style="opacity:0.5;font-size:0.9em;content-visibility:visible">Shown</p></body>`;
    expect((await textOf("a.html", shown)).text).toBe("Shown\n");
  });

  test("a fragment that Readability fails on is read without it", async ({ expect }) => {
    const fragment = `<h1>Title</h1><p>${long}</p><dl><dt>Word</dt><dd><p>${long}</p></dd></dl>`;
    expect((await textOf("a.html", fragment)).text).toMatch(/^# Title\n\nSentences with[^]*\n\nWord[^]*again\.\n$/u);
  });

  test("menus, headers and footers are left out, with or without marks", async ({ expect }) => {
    const chrome = `<header>HEADER</header><nav>MENU</nav>`;
    for (const content of [
      `<main>${long}</main>`,
      `<article>${long}</article>`,
      `<div><p>${long}</p><p>${long}</p></div>`,
    ]) {
      const { text } = await textOf("a.html", page(`${chrome}${content}<aside>ASIDE</aside><footer>FOOTER</footer>`));
      expect(text.trim().split("\n")[0]).toBe(long.trim());
      expect(text).not.toMatch(/HEADER|MENU|ASIDE|FOOTER/u);
    }
    expect((await textOf("a.html", page("<nav><a href='/a'>Only a menu</a></nav>"))).text).toBe("Only a menu\n");
  });

  test("author, dates and description of the page are properties", async ({ expect }) => {
    const head = `<meta name="Author" content=" Ana  B "><meta property="article:published_time" content="2024-01-31"><meta name="viewport" content="x">`;
    expect((await textOf("a.html", page("<p>x</p>", head))).properties).toEqual({
      author: "Ana B",
      date: "2024-01-31",
    });
  });

  test("the declared encoding counts", async ({ expect }) => {
    const bytes = Buffer.from('<meta charset="iso-8859-2"><p>\xb1\xe6\xea</p>', "latin1");
    expect((await textOf("a.html", bytes)).text).toBe("ąćę\n");
  });

  test("100,000 nested elements end in an answer, 10,000 in their text", async ({ expect }) => {
    await expect(textOf("a.html", `<p>top</p>${"<div>".repeat(100_000)}deep`)).rejects.toThrow(
      "nested more than 20000 deep",
    );
    expect((await textOf("a.html", `<p>top</p>${"<div>".repeat(10_000)}deep`)).text).toBe("top\n\ndeep\n");
    expect((await textOf("a.html", `${"<ul><li>".repeat(3_000)}deep`)).text).toContain("deep");
  });
});
