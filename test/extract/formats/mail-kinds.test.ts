import { describe, test } from "vitest";
import { extractFile, textOf } from "../documents.ts";

const HEAD = "From: Ana <ana@one.test>\r\nTo: bo@two.test\r\nDate: Tue, 5 Mar 2024 10:11:12 +0100\r\nSubject: Plan\r\n";

describe("a mail", () => {
  test.for(["\r\n\r\n", "\n", "\ufeff\n\n"])("is one with %j first", async (before, { expect }) => {
    const result = await textOf("a.eml", `${before}${HEAD}\r\nwords\r\n`);
    expect(result).toMatchObject({ title: "Plan", properties: { from: "Ana <ana@one.test>" } });
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
  ["winmail.dat", "789f3e2201", "winmail.dat (TNEF)"],
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

/** A value of BER, with a length or open-ended. */
function ber(tag: number, content: Buffer, isOpen = false): Buffer {
  if (isOpen) return Buffer.concat([Buffer.from([tag, 0x80]), content, Buffer.alloc(2)]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(content.length);
  return Buffer.concat([Buffer.from([tag, 0x84]), length, content]);
}

/** Signed data that wraps this, in one piece or in pieces of 10 bytes as streams are signed. */
function signed(content: Buffer, isOpen: boolean): Buffer {
  const oid = (hex: string) => Buffer.from(`0609${hex}`, "hex");
  const pieces = Array.from({ length: Math.ceil(content.length / 10) }, (_, n) =>
    content.subarray(n * 10, n * 10 + 10),
  );
  const octets = isOpen ? ber(0x24, Buffer.concat(pieces.map((piece) => ber(0x04, piece))), true) : ber(0x04, content);
  const info = ber(0x30, Buffer.concat([oid("2a864886f70d010701"), ber(0xa0, octets, isOpen)]), isOpen);
  const data = Buffer.concat([
    Buffer.from("020101", "hex"),
    ber(0x31, Buffer.alloc(0)),
    info,
    ber(0x31, Buffer.alloc(0)),
  ]);
  return ber(0x30, Buffer.concat([oid("2a864886f70d010702"), ber(0xa0, ber(0x30, data, isOpen), isOpen)]), isOpen);
}

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
