import { describe, test } from "vitest";
import { textOf } from "../documents.ts";

const read = (text: string, name = "a.md") => textOf(name, text);

describe("front matter", () => {
  test.for([
    [
      "TOML",
      '+++\ntitle = "Türen & Tore"\ndate = 2025-03-04\nat = 2025-03-04T08:00:00Z\ntags = ["a", "b"]\ndraft = false\n[extra]\nx = 1\n+++\n# Body\n',
    ],
    [
      "JSON",
      '{\n  "title": "Türen & Tore",\n  "date": "2025-03-04",\n  "at": "2025-03-04T08:00:00Z",\n  "tags": ["a", "b"],\n  "draft": false,\n  "extra": {"x": 1}\n}\n# Body\n',
    ],
    [
      "JSON between marks",
      '---json\n{"title": "Türen & Tore", "date": "2025-03-04", "at": "2025-03-04T08:00:00Z", "tags": ["a", "b"], "draft": false}\n---\n# Body\n',
    ],
  ] as const)("in %s is title and fields", async ([, text], { expect }) => {
    const result = await read(text);
    expect(result).toMatchObject({ title: "Türen & Tore", text: "# Body\n" });
    expect(result.properties).toEqual({
      date: "2025-03-04",
      at: "2025-03-04T08:00:00Z",
      tags: ["a", "b"],
      draft: false,
    });
    expect(result.firstLine).toBe(text.split("\n").indexOf("# Body") + 1);
  });

  test.for([
    ["a colon", "title: Plan: part two\nowner: @maria\ncount: 3", { owner: "@maria", count: 3 }],
    ["a bare mark", "title: Plan: part two\nalias: `kb`\ntags:\n  - a\n  - b", { alias: "`kb`", tags: ["a", "b"] }],
    ["a tab", 'title: "Plan: part two"\nbad:\t%x\nlist: [a, b]', { bad: "%x", list: ["a", "b"] }],
    ["an open quotation", "quote: \"open\ntitle: 'Plan: part two'\nkey: v", { quote: '"open', key: "v" }],
    ["a key twice", "title: Plan: part two\nk: 1\nk: 2", { k: 2 }],
  ] as const)("in YAML with %s out of place is read line by line", async ([, yaml, properties], { expect }) => {
    const result = await read(`---\n${yaml}\n---\n\n# Heading\n`);
    expect(result.title).toBe("Plan: part two");
    expect(result.properties).toEqual(properties);
    expect(result.sections.map(({ name }) => name)).toEqual(["Heading"]);
  });

  test("in TOML with mistakes is read line by line", async ({ expect }) => {
    const result = await read('+++\ntitle = "Plan"\nowner = maria\ntags = ["a", "b"]\n+++\nBody\n');
    expect(result).toMatchObject({ title: "Plan", text: "Body\n", properties: { owner: "maria", tags: ["a", "b"] } });
  });

  test.for([
    "---\nProse between rules, with: a colon\nand @more of it\n---\nBody\n",
    "{\n[1, 2]\n}\n",
    '{\n  "an": "object"\n',
    "+++\nwords\n+++\n",
  ])("is not %j", async (text, { expect }) => {
    expect(await read(text)).toMatchObject({ text, properties: {} });
  });
});

describe("Markdown of other programs", () => {
  test("has headings without ids, classes and tags of templates", async ({ expect }) => {
    const { sections } = await read(
      "# Uno {#first}\n\n## Dos {: .big #second}\n\n### {% raw %}Tres{% endraw %}\n\n#### Use {braces}\n",
    );
    expect(sections.map(({ name }) => name)).toEqual(["Uno", "Dos", "Tres", "Use {braces}"]);
  });

  test("loses comments of Obsidian, and keeps the number of lines", async ({ expect }) => {
    const text =
      "One %%hidden%% two, 100%% sure and 5%% more.\n\n%%\nhidden\n# hidden\n%%\n\n```\n%% kept %%\n```\n`%%`\nend\n";
    const result = await read(text);
    expect(result.text).toBe("One  two, 100%% sure and 5%% more.\n\n\n\n\n\n\n```\n%% kept %%\n```\n`%%`\nend\n");
    expect((await read("%% never closed\nkept\n")).text).toContain("kept");
  });

  test("loses imports of MDX only there, and pictures that are written out", async ({ expect }) => {
    const text =
      'import Tabs from "@theme/Tabs";\nimport {\n  A,\n} from "./a";\n\nexport const x = 1;\n\nimport duties rise.\n\n![][i]\n\n[i]: <data:image/png;base64,AAAA>\n';
    const mdx = (await read(text, "a.mdx")).text;
    expect(mdx).not.toMatch(/theme|export|\bA,|base64/u);
    expect(mdx).toContain("import duties rise.");
    expect((await read(text)).text).toContain("@theme/Tabs");
  });
});

describe("AsciiDoc", () => {
  test("has a title, fields and sections", async ({ expect }) => {
    const text =
      "// remark\n= The *Łódź* {what}: a guide\nAna Example <ana@example.com>\nv1.2, 2025-03-04\n:what: plant\n:description: How it runs\n:toc:\n\n[[start]]\n== Before xref:a.adoc[you] start\n\n----\n== not one\n----\n\n////\nhiddenword\n////\n\n=== Deeper\n";
    const result = await read(text, "index.adoc");
    expect(result).toMatchObject({ title: "The Łódź {what}: a guide", firstLine: 1 });
    expect(result.properties).toEqual({
      author: "Ana Example <ana@example.com>",
      version: "1.2",
      date: "2025-03-04",
      description: "How it runs",
    });
    expect(result.sections.map(({ name, level }) => [name, level])).toEqual([
      ["The Łódź {what}: a guide", 1],
      ["Before you start", 2],
      ["Deeper", 3],
    ]);
    expect(result.text).not.toMatch(/hiddenword|remark/u);
    expect(result.text.split("\n")).toHaveLength(text.split("\n").length);
  });

  test.for([
    ["an example", "====\n\n== no\n\n----\n== no\n====\n----\n\n===="],
    ["a sidebar", "****\n== no\n****"],
    ["a quotation that begins with code", "____\n----\n== no\n----\n\nNo\n--\n____"],
    ["an open block", "--\n== no\n--"],
    ["a table", "|===\n|a\n\n== no\n|==="],
    ["a literal", "....\n== no\n:author: no\n...."],
    ["a fence", "```adoc\n== no\n```"],
    ["a passthrough", "++++\n== no\n++++"],
    ["a paragraph of code", "[source,asciidoc]\n== no\nNo\n~~"],
    ["an indented paragraph", " == no\n == no"],
  ] as const)("has no headings in %s", async ([, block], { expect }) => {
    const { sections, text } = await read(`= T\n\ntext\n\n${block}\n\n== Real\n\ntext\n`, "a.adoc");
    expect(sections.map(({ name }) => name)).toEqual(["T", "Real"]);
    expect(text).toContain(block);
  });

  test("keeps its headings behind a block that never ends", async ({ expect }) => {
    const { sections } = await read("= T\n\n====\n\n****\n\n== Real\n\n****\n", "a.adoc");
    expect(sections.map(({ name }) => name)).toEqual(["T"]);
    const other = await read("= T\n\n====\n\n--\n\n== Real\n", "a.adoc");
    expect(other.sections.map(({ name }) => name)).toEqual(["T", "Real"]);
  });

  test("has titles of two lines", async ({ expect }) => {
    const result = await read("Manual\n======\n\nFirst\n-----\n\ntext\n\nSub\n~~~\n", "a.adoc");
    expect(result.title).toBe("Manual");
    expect(result.sections.map(({ name, level, start }) => [name, level, start])).toEqual([
      ["Manual", 1, 0],
      ["First", 2, 15],
      ["Sub", 3, 34],
    ]);
  });
});

describe("reStructuredText", () => {
  test("has a title, fields and sections, by the order of their marks", async ({ expect }) => {
    const text =
      ".. hiddenremark\n   hiddenmore\n\n.. _top:\n\n~~~~~~~~~~~~\nGuía ``kb``\n~~~~~~~~~~~~\n\n:Author: Ana\n:Date: 2025-03-04\n\nInstall :ref:`it <x>`\n---------------------\n\n=====  =====\nA      B\n=====  =====\n\nDeeper\n''''''\n\n.. note:: keptword\n\n----\n\nLast\n----\n";
    const result = await read(text, "readme.rst");
    expect(result).toMatchObject({ title: "Guía kb", properties: { author: "Ana", date: "2025-03-04" } });
    expect(result.sections.map(({ name, level }) => [name, level])).toEqual([
      ["Guía kb", 1],
      ["Install it", 2],
      ["Deeper", 3],
      ["Last", 2],
    ]);
    expect(result.text).toContain("keptword");
    expect(result.text).not.toContain("hidden");
    for (const { name, start } of result.sections.slice(1, 3))
      expect(result.text.slice(start)).toContain(name.slice(0, 4));
  });
});

describe("reStructuredText's literals", () => {
  test.for([
    ["a block behind two colons", "Like this::\n\n    No\n    --\n\n    .. kept\n    :Author: no"],
    ["two colons in a line of their own", "In ``setup.py``\n::\n\n  import x"],
    ["code", ".. code-block:: rst\n\n   No\n   ==\n   .. kept"],
    ["a quoted block", "::\n\n> No\n> --"],
    ["a parsed literal", ".. parsed-literal::\n\n   No\n   **\n"],
  ] as const)("are kept and have no headings: %s", async ([, block], { expect }) => {
    const { sections, text, properties } = await read(`Top\n===\n\ntext\n\n${block}\n\nReal\n----\n`, "a.rst");
    expect(sections.map(({ name }) => name)).toEqual(["Top", "Real"]);
    expect(text).toContain(block);
    expect(properties).toEqual({});
  });
});

describe("Org", () => {
  test.for(["src", "example", "export", "quote", "verse", "center", "comment"])(
    "has no headings in %s, and all of them where it never ends",
    async (kind, { expect }) => {
      const names = async (text: string) => (await read(text, "a.org")).sections.map(({ name }) => name);
      const block = `#+begin_${kind}\n* no\n#+TITLE: no\n`;
      expect(await names(`* One\n${block}#+END_${kind}\n* Two\n`)).toEqual(["One", "Two"]);
      expect(await names(`* One\n#+begin_${kind}\ntext\n* Two\n`)).toEqual(["One", "Two"]);
      expect((await read(`#+begin_${kind}\nkeptword\n`, "a.org")).text).toContain("keptword");
    },
  );

  test("has a title, fields and sections", async ({ expect }) => {
    const text =
      "#+TITLE: Plan for\n#+TITLE: the year\n#+AUTHOR: Ana\n#+FILETAGS: :work:home:\n# hiddenremark\n\n* TODO [#A] Buy [[https://x.test][milk]] :shop:\n** Sub\n#+BEGIN_SRC org\n,* not one\n#+END_SRC\n* COMMENT hiddenpart\nhiddentext\n** hiddensub\n* Last\nkeptword\n";
    const result = await read(text, "plan.org");
    expect(result).toMatchObject({ title: "Plan for the year", properties: { author: "Ana", tags: ":work:home:" } });
    expect(result.sections.map(({ name, level }) => [name, level])).toEqual([
      ["Buy milk", 1],
      ["Sub", 2],
      ["Last", 1],
    ]);
    expect(result.text).toContain("keptword");
    expect(result.text).not.toContain("hidden");
  });
});

test("a table of Excel that names its delimiter has no row of it", async ({ expect }) => {
  const result = await textOf("a.csv", "\ufeffsep=;\r\nNome;Città\r\nZoë, R.;Cefalù\r\n");
  expect(result.text).toBe("| Nome | Città |\n| --- | --- |\n| Zoë, R. | Cefalù |\n");
  expect(result.properties["rows"]).toBe("1");
});
