import { describe, test } from "vitest";
import { extractFile, textOf } from "../documents.ts";
import { makeTnef } from "../tnef-files.ts";
import { signed } from "../signed-files.ts";

const HEAD = "From: Ana <ana@one.test>\r\nTo: bo@two.test\r\nDate: Tue, 5 Mar 2024 10:11:12 +0100\r\nSubject: Plan\r\n";

describe("a mail", () => {
  test.for(["\r\n\r\n", "\n", "\ufeff\n\n"])("is one with %j first", async (before, { expect }) => {
    const result = await textOf("a.eml", `${before}${HEAD}\r\nwords\r\n`);
    expect(result).toMatchObject({ title: "Plan", properties: { from: "Ana <ana@one.test>" } });
  });

  test.for([`220 ready\r\n${HEAD}`, HEAD.replace("Date:", "no field\r\nDate:"), `Date: x\r\n>y\r\n${HEAD}`])(
    "has its head in %j, with a line that is no field",
    async (head, { expect }) => {
      const result = await textOf("a.eml", `${head}\r\nwords\r\n`);
      expect(result).toMatchObject({ title: "Plan", properties: { from: "Ana <ana@one.test>" } });
    },
  );

  test("whose empty line is missing keeps its words, and parts theirs", async ({ expect }) => {
    expect((await textOf("a.eml", `${HEAD}Dear Bo,\r\nTomorrow: the plan\r\n`)).text).toContain("Dear Bo,\nTomorrow:");
    const forward = "Dear Bo,\r\nFrom: Cy <cy@one.test>\r\nsaid so\r\n";
    expect((await textOf("a.eml", `${HEAD}${forward}`)).text).toContain("Dear Bo,\nFrom: Cy");
    const part = "--b\r\nDear Bo,\r\nTo: be done\r\n--b--\r\n";
    const { text } = await textOf("a.eml", `${HEAD}Content-Type: multipart/mixed; boundary=b\r\n\r\n${part}`);
    expect(text).toContain("Dear Bo,\nTo: be done");
  });

  test("of Apple Mail ends where its length says, without the property list", async ({ expect }) => {
    const message = `${HEAD}\r\nGrüße\r\n`;
    const file = `${Buffer.byteLength(message)}      \n${message}<?xml version="1.0"?><plist><dict><key>flagword</key></dict></plist>`;
    const result = await textOf("1234.emlx", file);
    expect(result.title).toBe("Plan");
    expect(result.text).toContain("Grüße");
    expect(result.text).not.toMatch(/flagword|plist/u);
  });

  test("gives files in its text as parts, and keeps sentences that look alike", async ({ expect }) => {
    const uu = "begin 644 notes.txt\r\n%:&5L;&\\\r\n`\r\nend";
    const base64 = `begin-base64 644 Łódź.txt\r\n${Buffer.from("zażółć").toString("base64")}\r\n====`;
    const result = await textOf(
      "a.eml",
      `${HEAD}Content-Type: text/plain; charset=utf-8\r\n\r\nSee:\r\n${uu}\r\n${base64}\r\nafter\r\nbegin 2024 with care\r\nend\r\n`,
    );
    expect(result.children?.map(({ fileName, bytes }) => [fileName, Buffer.from(bytes).toString()])).toEqual([
      ["notes.txt", "hello"],
      ["Łódź.txt", "zażółć"],
    ]);
    expect(result.text).toContain("after\nbegin 2024 with care\nend\n");
    expect(result.text).not.toContain("begin 644");
  });
});

describe("a mail whose types are malformed", () => {
  const words = async (type: string, body = "<p>Gr\u00fc\u00dfe</p>", more = "") => {
    const { text, children } = await textOf("a.eml", `${HEAD}Content-Type: ${type}\r\n${more}\r\n${body}\r\n`);
    return children === undefined ? text.split("Plan\n\n")[1] : children.map(({ fileName }) => fileName);
  };

  test.for([
    "text/html charset=utf-8",
    '"text/html"; charset="utf-8',
    "text/html, charset=utf-8",
    "html/text",
    "text / html",
    "HTML",
    "text/html:",
  ])("%s is HTML", async (type, { expect }) => expect(await words(type)).toBe("Grüße\n"));

  test.for([
    "text",
    "text/",
    "text/; charset=utf-8",
    "plain/text",
    "text/plain charset='utf-8'",
    "text/x-own; name",
    "; charset=utf-8",
    "text/plain;; =; charset",
    "text/plain; charset",
  ])("%s is text", async (type, { expect }) => expect(await words(type, "Gr\u00fc\u00dfe")).toBe("Grüße\n"));

  test.for([
    "multipart/mixed",
    "multipart/mixed boundary=m",
    "multipart/; boundary=m",
    'multipart/mixed; boundary="m',
    "multipart/mixed; boundary",
    "multipart; boundary=other",
  ])("%s has its parts", async (type, { expect }) => {
    const file =
      'Content-Type: application/pdf; name=my plan.pdf\r\nContent-Disposition: attachment filename="my plan.pdf"\r\n\r\n%PDF';
    const body = `--m\r\nContent-Type: text/plain\r\n\r\nHello\r\n--m\r\n${file}\r\n--m--\r\n`;
    expect(await words(type, body)).toEqual(["my plan.pdf"]);
  });

  test.for(["base64;", '"base64"', "Base64 (packed)"])("%s is unpacked", async (encoding, { expect }) => {
    const more = `Content-Transfer-Encoding: ${encoding}\r\n`;
    expect(await words("text/plain; charset=utf-8", Buffer.from("Grüße").toString("base64"), more)).toBe("Grüße\n");
  });
});

describe("winmail.dat", () => {
  const inner = makeTnef({ subject: "Inner", properties: { 0x1000: "Inner words" } });
  const files = [
    {
      name: "plan.txt",
      bytes: Buffer.from("the plan"),
      properties: { 0x3707: "Der gro\u00dfe Plan.txt", 0x370e: "text/plain" },
    },
    { name: "logo.png", bytes: Buffer.from("x"), properties: { 0x370e: "image/png", 0x3712: "logo@x" } },
    { name: "Inner", properties: { 0x3701: Buffer.concat([Buffer.alloc(16), inner]) } },
  ];
  const tnef = makeTnef({
    subject: "\xcf\xeb\xe0\xed",
    properties: { 0x0c1a: "Ana", 0x0c1f: "ana@one.test", 0x1013: Buffer.from("<p>\xcf\xeb\xe0\xed</p>", "latin1") },
    files,
  });

  test("is its message, whose files are parts", async ({ expect }) => {
    const result = await textOf("winmail.dat", tnef);
    expect(result).toMatchObject({ title: "План", properties: { from: "Ana <ana@one.test>", attachments: "2" } });
    expect(result.text).toBe(
      "From: Ana <ana@one.test>\nSubject: План\n\nПлан\n\nAttachments:\n- Der große Plan.txt\n- Inner.eml\n",
    );
    expect(result.children?.map(({ bytes }) => Buffer.from(bytes).toString())).toEqual([
      "the plan",
      expect.stringContaining("Inner words"),
    ]);
  });

  test("in a mail is no file: its files are the mail's, and its text stands in for a missing one", async ({
    expect,
  }) => {
    const part = `--m\r\nContent-Type: application/ms-tnef; name="winmail.dat"\r\nContent-Transfer-Encoding: base64\r\n\r\n${tnef.toString("base64")}\r\n--m--\r\n`;
    const mail = (text: string) =>
      `${HEAD}Content-Type: multipart/mixed; boundary=m\r\n\r\n--m\r\n\r\n${text}\r\n${part}`;
    const full = await textOf("a.eml", mail("Hello"));
    expect(full.children?.map(({ fileName }) => fileName)).toEqual(["Der große Plan.txt", "Inner.eml"]);
    expect(full.text).toMatch(/Hello\n\nAttachments/u);
    expect((await textOf("a.eml", mail(""))).text).toMatch(/Subject: Plan\n\nПлан\n\nAttachments/u);
  });

  test("of any broken length ends, with what was read until there", async ({ expect }) => {
    for (let length = 7; length < tnef.length; length += 3) await extractFile("winmail.dat", tnef.subarray(0, length));
    const lengths = Buffer.from(tnef);
    for (let at = 6; at + 4 < lengths.length; at += 5) {
      const broken = Buffer.from(tnef);
      broken.writeUInt32LE(0xffffffff, at);
      expect((await extractFile("winmail.dat", broken)).state).toMatch(/ok|no_text/u);
    }
    const many = Array.from({ length: 1_200 }, (_, n) => ({ name: `f${n}`, bytes: Buffer.from("x") }));
    const result = await textOf("winmail.dat", makeTnef({ files: many }));
    expect(result.children).toHaveLength(1_000);
    expect(result.properties["truncated"]).toContain("Only the first");
  });
});

describe("a saved page", () => {
  const part = (type: string, name: string, body: string, more = "") =>
    `--m\r\nContent-Type: ${type}\r\nContent-Location: ${name}\r\n${more}\r\n${body}\r\n`;
  const page = (from: string, html: string, rest = "") =>
    `${from}Subject: =?utf-8?Q?Caf=C3=A9?=\r\nDate: Tue, 3 Jun 2025 09:00:00 +0000\r\nMIME-Version: 1.0\r\nContent-Type: multipart/related; type="text/html"; boundary="m"\r\n\r\n${part("text/html; charset=utf-8", "https://x.test/page", html)}${part("text/css", "cid:css@x", ".cssword{}")}${part("image/png", "https://x.test/a.png", "iVBORw0KGgo=", "Content-Transfer-Encoding: base64\r\n")}${rest}--m--\r\n`;

  test.for([
    ["of Chrome", "a.mhtml", "From: <Saved by Blink>\r\nSnapshot-Content-Location: https://x.test/page\r\n"],
    ["of Internet Explorer", "a.mht", 'From: "Saved by Windows Internet Explorer 11"\r\n'],
    ["of Word", "a.mht", ""],
  ])("%s is its page, without a head and without parts", async ([, name, from], { expect }) => {
    const html = `<html lang="fr"><head><title>Le café</title></head><body><nav>navword</nav><main><h1>Carte</h1><p>${"Les mots de la page. ".repeat(20)}</p></main></body></html>`;
    const result = await textOf(name ?? "", page(from ?? "", html));
    expect(result).toMatchObject({ title: "Le café", language: "fr" });
    expect(result.sections.map((section) => section.name)).toEqual(["Carte"]);
    expect(result.text).not.toMatch(/From:|Blink|cssword|Explorer/u);
    expect(result.children).toBeUndefined();
  });

  test("of frames has the words of the frames", async ({ expect }) => {
    const frames = page(
      "",
      `<html><head><title>T</title></head><frameset><frame src="f.html"></frameset></html>`,
      part("text/html", "https://x.test/f.html", "<p>framedword</p>"),
    );
    expect((await textOf("a.mht", frames)).text).toContain("framedword");
  });

  test("a mail keeps its files beside the pictures of its HTML", async ({ expect }) => {
    const mail = `${HEAD}MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary="m"\r\n\r\n--m\r\nContent-Type: text/html\r\n\r\n<p>hi</p>\r\n--m\r\nContent-Type: application/pdf; name="plan.pdf"\r\nContent-ID: <1>\r\n\r\n%PDF\r\n--m\r\nContent-Type: image/png; name="logo.png"\r\nContent-ID: <2>\r\n\r\nx\r\n--m--\r\n`;
    const result = await textOf("a.eml", mail);
    expect(result.children?.map(({ fileName }) => fileName)).toEqual(["plan.pdf"]);
  });
});

describe("a mailbox without heads", () => {
  test("has the words of its messages, each a section", async ({ expect }) => {
    const { text, sections } = await textOf(
      "old.mbox",
      "From ana@one.test Mon Jun 02 10:00:00 2025\n\nfirstword\n\nFrom here on it was 2024\n\nstill first\n\nFrom bo@two.test Mon Jun  2 11:00:00 2025\n\nsecondword\n",
    );
    expect(text).toContain("firstword");
    expect(text).toContain("From here on it was 2024");
    expect(text).toContain("secondword");
    expect(sections).toHaveLength(2);
  });
});

test.for([
  [
    "a.webarchive",
    `${Buffer.from("bplist00d_WebMainResource plain letters follow here").toString("hex")}`,
    "Safari web archive",
  ],
])("%s is said by its name", async ([name, hex, label], { expect }) => {
  const bytes = Uint8Array.from([...Buffer.from(hex ?? "", "hex"), ...Buffer.from("words ".repeat(800))]);
  const result = await extractFile(name ?? "", bytes);
  expect(result).toMatchObject({ state: "no_text", reason: "unsupported_type" });
  expect(result.state === "no_text" && result.message).toContain(`kb can't read text from ${label} files`);
});

describe.for([false, true])("what a signature wraps, open-ended: %s", (isOpen) => {
  const part = Buffer.from("Content-Type: text/plain; charset=utf-8\r\n\r\nwrappedword grüße\r\n");

  test("is read as the mail's own text, and as the text of a .p7m", async ({ expect }) => {
    const mail = `From: ana@one.test\nSubject: Signed\nMIME-Version: 1.0\nContent-Type: application/pkcs7-mime; smime-type=signed-data; name=smime.p7m\nContent-Disposition: attachment; filename=smime.p7m\nContent-Transfer-Encoding: base64\n\n${signed(part, isOpen).toString("base64")}\n`;
    const { text } = await textOf("signed.eml", mail);
    expect(text).toContain("wrappedword grüße");
    const alone = await extractFile("smime.p7m", signed(part, isOpen));
    expect(alone).toMatchObject({ state: "ok", text: expect.stringContaining("wrappedword grüße") });
  });

  test("is a file in it when it is no mail: an invoice", async ({ expect }) => {
    const found = await extractFile("fattura.xml.p7m", signed(Buffer.from("<Fattura>importo</Fattura>"), isOpen));
    expect(found).toMatchObject({ state: "ok", children: [{ fileName: "fattura.xml" }] });
  });

  test("broken anywhere, it is no text and no error", async ({ expect }) => {
    const whole = signed(part, isOpen);
    for (let length = 30; length < whole.length; length += 7) {
      const { state } = await extractFile("smime.p7m", whole.subarray(0, length));
      expect(["no_text", "ok"]).toContain(state);
    }
  });
});

test("encrypted mail is said to be encrypted", async ({ expect }) => {
  const bytes = Buffer.concat([Buffer.from("30820a0006092a864886f70d010703a0820100", "hex"), Buffer.alloc(400, 1)]);
  expect(await extractFile("smime.p7m", bytes)).toMatchObject({ state: "no_text", reason: "encrypted" });
});
