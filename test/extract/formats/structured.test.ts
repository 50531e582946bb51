import { describe, test } from "vitest";
import { textOf } from "../documents.ts";

const sectionsOf = ({ sections }: Awaited<ReturnType<typeof textOf>>) =>
  sections.map(({ name, ref, level }) => [name, ref ?? level]);

describe("a notebook", () => {
  test("has what a cell shows as HTML or LaTeX, where its text only names that", async ({ expect }) => {
    const shown = (data: Record<string, string>) => ({ output_type: "display_data", data });
    const outputs = [
      shown({ "text/plain": "<IPython.core.display.HTML object>", "text/html": "<table><tr><td>a<td>b</table>" }),
      shown({ "text/plain": "<Figure size 640x480 with 1 Axes>", "text/latex": "" }),
      shown({ "text/latex": "$x^2$" }),
      shown({ "text/plain": "   a\n0  1", "text/html": "<table></table>" }),
    ];
    const bytes = JSON.stringify({ nbformat: 4, metadata: {}, cells: [{ cell_type: "code", source: "x", outputs }] });
    const { text } = await textOf("a.ipynb", bytes);
    expect(text).toMatch(/```\n\| a \| b \|[^`]*<Figure size 640x480 with 1 Axes>\n\$x\^2\$\n {3}a\n0 {2}1\n```/u);
    const ticks = JSON.stringify({
      nbformat: 4,
      metadata: {},
      cells: [{ cell_type: "code", source: "```\n".repeat(150_000), outputs: [] }],
    });
    expect((await textOf("a.ipynb", ticks)).text.startsWith("````\n```\n")).toBe(true);
  });

  const cell = (type: string, source: string | string[], outputs?: unknown[]) => ({
    cell_type: type,
    source,
    ...(outputs && { outputs }),
  });
  const notebook = (cells: unknown[], metadata = {}) => JSON.stringify({ nbformat: 4, metadata, cells });

  test("is prose and code in their order with what the code printed, each cell a section", async ({ expect }) => {
    const result = await textOf(
      "a.ipynb",
      notebook(
        [
          cell("markdown", [
            "# Tides\n",
            "![x](data:image/png;base64,AAAABBBBCCCCDDDDEEEEFFFFGGGGHHHHIIIIJJJJKKKKLLLL)\n",
          ]),
          cell("code", "print('```')", [
            { output_type: "stream", text: ["high\n", "low\n"] },
            { output_type: "display_data", data: { "image/png": "iVBORw0KGgo", "text/plain": "<Figure>" } },
            { output_type: "error", ename: "E", evalue: "bad", traceback: ["\u001b[31mE\u001b[0m: bad"] },
          ]),
        ],
        { language_info: { name: "python" }, authors: [{ name: "Ana" }] },
      ),
    );
    expect(result.text).toBe(
      "# Tides\n![x]()\n\n```python\nprint('```')\n```\n\n```\nhigh\nlow\n\n<Figure>\nE: bad\n```\n",
    );
    expect(sectionsOf(result)).toEqual([
      ["Tides", "1"],
      ["Cell 2: print('```')", "2"],
    ]);
    expect(result).toMatchObject({
      title: "Tides",
      properties: { cells: "2", programmingLanguage: "python", author: "Ana" },
    });
  });

  test("of version 3 is read, and what only has the name is JSON", async ({ expect }) => {
    const old = JSON.stringify({ nbformat: 3, worksheets: [{ cells: [{ cell_type: "code", input: "x = 1" }] }] });
    expect((await textOf("a.ipynb", old)).text).toBe("```\nx = 1\n```\n");
    expect((await textOf("a.ipynb", '{"a": 1}')).text).toBe("a: 1\n");
    expect((await textOf("a.ipynb", "{broken")).text).toBe("{broken");
  });
});

describe("YAML", () => {
  test("has the letters that it writes as numbers", async ({ expect }) => {
    expect((await textOf("a.yaml", 'a: "\\u041f\\u043b\\u0430\\u043d"\n')).text).toBe('a: "План"\n');
    expect((await textOf("a.json", '{"a": "\\u041f\\u043b", // why\n}')).text).toBe('{"a": "Пл", // why\n}');
  });

  test("stays as it is, with its outermost keys as sections", async ({ expect }) => {
    const text = "# why\ntitle: 'The x'\nlist:\n- a: 1\ntext: |\n  key: none\nbase: &b {a: *b}\n";
    const result = await textOf("a.yaml", text);
    expect(result).toMatchObject({ text, title: "The x", mimeType: "application/yaml" });
    expect(sectionsOf(result)).toEqual([
      ["title", 1],
      ["list", 1],
      ["text", 1],
      ["base", 1],
    ]);
  });

  test("of several documents has each as a section, by kind and name", async ({ expect }) => {
    const result = await textOf("a.yml", "---\nkind: Service\nmetadata:\n  name: web\n---\nkind: Deployment\n");
    expect(sectionsOf(result)).toEqual([
      ["Document 1: Service web", 1],
      ["kind", 2],
      ["metadata", 2],
      ["Document 2: Deployment", 1],
      ["kind", 2],
    ]);
  });
});

describe("TOML", () => {
  test("stays as it is, with its tables as sections; marks inside a text are none", async ({ expect }) => {
    const text = 'title = "T"\n[package] # c\nname = "kb"\n[a.b]\nx = """\n[no]\n"""\n[[c]]\n';
    const result = await textOf("a.toml", text);
    expect(result).toMatchObject({ text, title: "T", properties: { name: "kb" } });
    expect(sectionsOf(result)).toEqual([
      ["package", 1],
      ["a.b", 2],
      ["c", 1],
    ]);
  });
});

describe("XML", () => {
  test("a line break parts words", async ({ expect }) => {
    const { text } = await textOf(
      "a.ttml",
      '<?xml version="1.0"?><tt><body><p>Hello<br/>there <b>bold</b>er</p></body></tt>',
    );
    expect(text).toBe("  p: Hello there bolder\n");
  });

  test("is its words by element, inline elements within their sentence, attributes that say something", async ({
    expect,
  }) => {
    const result = await textOf(
      "a.xml",
      '<?xml version="1.0"?><!-- no --><b:book xmlns:b="urn:x"><info><title>A &amp; B</title><author>Ana</author></info><p n="1">Hello <em>my <i>dear</i></em> world&#33;</p><p><em>First</em> then</p><item name="One" x="7"/><![CDATA[raw <x>]]></b:book>',
    );
    expect(result.text).toBe(
      "  title: A & B\n  author: Ana\np: Hello my dear world!\np: First then\nitem: name: One\nbook: raw <x>\n",
    );
    expect(result).toMatchObject({ title: "A & B", properties: { author: "Ana" } });
    expect(sectionsOf(result)).toEqual([["One", 1]]);
  });

  test("unfolds no entity of its own", async ({ expect }) => {
    const bomb = `<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "${"&a;".repeat(50)}"><!ENTITY c SYSTEM "file:///etc/passwd">]><x>&b; &c; end</x>`;
    expect((await textOf("a.xml", bomb)).text).toBe("x: &b; &c; end\n");
  });

  test("that is broken or nests without end gives what it has", async ({ expect }) => {
    expect((await textOf("a.xml", "<a><b>one</c><d>two")).text).toContain("two");
    expect((await textOf("a.xml", `${"<a>".repeat(1_000)}deep`)).text).toContain("deep");
    expect((await textOf("a.xml", `<a>top<b/>${"<a>".repeat(50_000)}deep`)).properties["truncated"]).toBeDefined();
  });
});

describe("a description of an API", () => {
  const api = {
    openapi: "3.1.0",
    info: { title: "Pets", version: "1", description: "All of them" },
    paths: {
      "/pets/{id}": {
        get: {
          summary: "Get one",
          operationId: "getPet",
          parameters: [{ name: "id", in: "path", schema: { type: "string" }, description: "its id" }],
          responses: {
            200: {
              description: "fine",
              content: { "application/json": { schema: { $ref: "#/components/schemas/Pet" } } },
            },
          },
        },
      },
    },
    components: {
      schemas: { Pet: { type: "object", properties: { name: { type: "string", description: "Its name" } } } },
    },
  };

  test("has each operation and each schema as a section, from JSON and YAML alike", async ({ expect }) => {
    const result = await textOf("api.json", JSON.stringify(api));
    expect(result.text).toBe(
      "# Pets\nAll of them\n\n## GET /pets/{id}\nGet one\nOperation: getPet\n- id (path) [string]: its id\nAnswer 200: fine\n  Pet\n\n## Pet\n- name [string]: Its name\n",
    );
    expect(sectionsOf(result)).toEqual([
      ["GET /pets/{id}", 2],
      ["Pet", 2],
    ]);
    const { stringify } = await import("yaml");
    expect((await textOf("api.yaml", stringify(api))).text).toBe(result.text);
  });

  test("whose aliases unfold without end stays text", async ({ expect }) => {
    const bomb = `openapi: 3.0.0\ninfo: {title: x}\na: &a [x]\n${Array.from(
      { length: 30 },
      (_, i) =>
        `b${i}: &b${i} [${Array(10)
          .fill(i === 0 ? "*a" : `*b${i - 1}`)
          .join(", ")}]`,
    ).join("\n")}\npaths: {}\n`;
    expect((await textOf("api.yaml", bomb)).text).toBe(bomb);
  });

  test("a JSON Schema is its fields, and one that refers to itself ends", async ({ expect }) => {
    const schema = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      title: "Thing",
      properties: { kind: { enum: ["x", "y"] }, list: { type: "array", items: { $ref: "#" } } },
    };
    expect((await textOf("s.json", JSON.stringify(schema))).text).toBe(
      "## Thing\n- kind\n  One of: x, y\n- list [array of #]\n    #\n",
    );
  });
});

describe("a log", () => {
  test.for([
    ["2024-01-31 10:00:00 one\n  at x\n2024-02-01T10:00 two\n", ["2024-01-31", "2024-02-01"]],
    [
      '1.2.3.4 - - [31/Jan/2024:10:00:00 +0000] "GET"\n1.2.3.4 - - [01/Feb/2024:10:00:00 +0000] "GET"\n',
      ["2024-01-31", "2024-02-01"],
    ],
    ["Jan 31 10:00:00 host a\nFeb  1 10:00:00 host b\n", ["01-31", "02-01"]],
    ["starting\n2024-01-31 one\n", []],
    ["one\ntwo\n", []],
  ] as const)("stays as it is, by days where they are clear", async ([text, days], { expect }) => {
    const result = await textOf("app.log", text);
    expect(result.text).toBe(text);
    expect(result.sections.map(({ name }) => name)).toEqual(days);
  });
});

describe("subtitles", () => {
  test("of SubStation Alpha are what is said, in its order, without marks and remarks", async ({ expect }) => {
    const said = (time: string, name: string, text: string) =>
      `Dialogue: 0,${time},0:09:00.00,Default,${name},0,0,0,,${text}\n`;
    const ass = `[Script Info]\nTitle: T\n\n[V4+ Styles]\nFormat: Name, Fontname\nStyle: Default,Arial\n\n[Events]\nFormat: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text\n${said("0:05:01.00", "", "later")}${said("0:00:01.00", "Ana", "{\\i1}Hello{\\i0}, dear\\Nworld")}Comment: 0,0:00:01.00,0:00:02.00,Default,,0,0,0,,remark\n`;
    for (const name of ["a.ass", "a.ssa"]) {
      const { text, sections, properties } = await textOf(name, ass);
      expect(text).toBe("Ana: Hello, dear world\n\nlater\n");
      expect(sections.map((section) => section.name)).toEqual(["00:00:00", "00:05:00"]);
      expect(properties).toEqual({ captions: "2" });
    }
  });

  test("are what is said, without times, by five minutes", async ({ expect }) => {
    const srt =
      "1\n00:00:01,000 --> 00:00:02,000\n<i>Hello</i>\n{\\an8}there\n\n2\n00:06:01,000 --> 00:06:02,000\nLater\n3\n00:06:03,000 --> 00:06:04,000\nLater\n";
    const result = await textOf("a.srt", srt);
    expect(result.text).toBe("Hello there\n\nLater\n");
    expect(sectionsOf(result)).toEqual([
      ["00:00:00", "00:00:00"],
      ["00:05:00", "00:05:00"],
    ]);
    const vtt =
      "WEBVTT - a\n\nSTYLE\n::cue {}\n\nNOTE x\n\nid\n00:01.000 --> 00:02.000 align:start\n<v Ana>Hi &amp; <c.x>all</c>\n";
    expect((await textOf("a.vtt", vtt)).text).toBe("Ana: Hi & all\n");
  });
});
