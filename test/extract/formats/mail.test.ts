import * as fc from "fast-check";
import { describe, test } from "vitest";
import { splitMailbox } from "#extract/formats/mbox.ts";
import { readAddresses } from "#extract/mail/address.ts";
import { readMailDate } from "#extract/mail/date.ts";
import { decodeWords, readParameterField } from "#extract/mail/header.ts";
import { textOf } from "../documents.ts";

const HEAD = "From: Ana <ana@one.test>\nTo: bo@two.test\nDate: Tue, 5 Mar 2024 10:11:12 +0100\nSubject: Plan";
const mail = (rest: string) => `${HEAD}\nMIME-Version: 1.0\n${rest}`.replaceAll("\n", "\r\n");
const base64 = (text: string) => Buffer.from(text).toString("base64");

describe("a mail", () => {
  test("is its head and its text, with people, date and subject as properties", async ({ expect }) => {
    const result = await textOf(
      "a.eml",
      mail("Message-ID: <1@one.test>\nCc: C <c@three.test>\n\nHello Bo.\n> quoted\n"),
    );
    expect(result.text).toBe(
      "From: Ana <ana@one.test>\nTo: bo@two.test\nCc: C <c@three.test>\nDate: 2024-03-05T10:11:12+01:00\nSubject: Plan\n\nHello Bo.\n> quoted\n",
    );
    expect(result).toMatchObject({
      mimeType: "message/rfc822",
      title: "Plan",
      sections: [{ name: "Plan", level: 1, start: 0, kind: "part", ref: "1" }],
      properties: {
        from: "Ana <ana@one.test>",
        to: "bo@two.test",
        cc: "C <c@three.test>",
        date: "2024-03-05T10:11:12+01:00",
        subject: "Plan",
        messageId: "<1@one.test>",
      },
    });
    expect(result.children).toBeUndefined();
  });

  test("shows the plain form of an alternative, and the HTML when the plain one is empty", async ({ expect }) => {
    const both = (plain: string) =>
      mail(
        `Content-Type: multipart/alternative; boundary=b\n\n--b\nContent-Type: text/plain\n\n${plain}\n--b\nContent-Type: text/html\n\n<p>From <b>HTML</b></p>\n--b--\n`,
      );
    expect((await textOf("a.eml", both("From plain"))).text).toMatch(/\n\nFrom plain\n$/u);
    expect((await textOf("a.eml", both(" "))).text).toMatch(/\n\nFrom \*{0,2}HTML\*{0,2}\n$/u);
  });

  test("hands over attachments and mails in it as parts, and names them", async ({ expect }) => {
    const inner = "From: C <c@x.test>\nSubject: Inner\nDate: Tue, 5 Mar 2024 10:11:12 +0100\n\nDeep words";
    const result = await textOf(
      "a.eml",
      mail(
        `Content-Type: multipart/mixed; boundary="x y"\n\npreamble\n--x y\n\nSee below.\n--x y\nContent-Type: application/pdf\nContent-Transfer-Encoding: base64\nContent-Disposition: attachment; filename*0*=utf-8''%C3%9Cber; filename*1="sicht.pdf"\n\n${base64("%PDF-")}\n--x y\nContent-Type: message/rfc822\n\n${inner}\n--x y\nContent-Type: image/png\nContent-ID: <logo>\nContent-Disposition: attachment; filename=a.png\n\nPNG\n--x y--\nepilogue`,
      ),
    );
    expect(result.text).toMatch(/See below\.\n\nAttachments:\n- Übersicht\.pdf\n- Inner\.eml\n- a\.png\n$/u);
    expect(result.text).not.toContain("Deep words");
    expect(result.children?.map(({ bytes, ...part }) => ({ ...part, bytes: Buffer.from(bytes).toString() }))).toEqual([
      { id: "1/Übersicht.pdf", fileName: "Übersicht.pdf", mimeType: "application/pdf", bytes: "%PDF-" },
      { id: "2/Inner.eml", fileName: "Inner.eml", mimeType: "message/rfc822", bytes: inner.replaceAll("\n", "\r\n") },
      { id: "3/a.png", fileName: "a.png", mimeType: "image/png", bytes: "PNG" },
    ]);
  });

  test("leaves out pictures of its layout and signatures", async ({ expect }) => {
    const result = await textOf(
      "a.eml",
      mail(
        "Content-Type: multipart/related; boundary=b\n\n--b\nContent-Type: text/html\n\n<p>Hi</p>\n--b\nContent-Type: image/png; name=logo.png\nContent-ID: <1>\n\nPNG\n--b\nContent-Type: application/pgp-signature; name=s.asc\n\nxx\n--b--",
      ),
    );
    expect(result.children).toBeUndefined();
  });

  test.for([
    ["quoted-printable", "utf-8", "Gr=C3=BC=\r\n=C3=9Fe =XX", "Grüße =XX"],
    ["base64", "iso-8859-1", Buffer.from("Grüße", "latin1").toString("base64"), "Grüße"],
    ["7bit", "iso-2022-jp", "\x1b$B$3$s$K$A$O\x1b(B", "こんにちは"],
    ["base64", "gb18030", "xOO6ww==", "你好"],
    ["8bit", "us-ascii", "Grüße", "Grüße"],
    ["x-uuencode", "utf-8", "begin 644 a\r\n%:&5L;&\\\r\n`\r\nend", "hello"],
    ["unknown", "unknown", "plain", "plain"],
  ] as const)("decodes %s in %s", async ([encoding, charset, body, expected], { expect }) => {
    const type = `Content-Type: text/plain; charset=${charset}\nContent-Transfer-Encoding: ${encoding}\n\n`;
    expect((await textOf("a.eml", mail(type) + body)).text.split("\n\n")[1]).toBe(`${expected}\n`);
  });

  test("is known by its first lines when its name says nothing; a patch stays a patch", async ({ expect }) => {
    const text = mail("\nHello");
    expect((await textOf("1712.M5P6.host:2,S", text)).mimeType).toBe("message/rfc822");
    expect((await textOf("saved.txt", text)).mimeType).toBe("message/rfc822");
    expect((await textOf("0001-fix.patch", `From 12ab Mon Sep 17 00:00:00 2001\n${text}`)).mimeType).toBe("text/plain");
    expect((await textOf("notes.txt", "Note: From: is a field\nand this is none\n\nDate: x")).mimeType).toBe(
      "text/plain",
    );
  });

  test("that is broken still gives what it has", async ({ expect }) => {
    expect((await textOf("a.eml", "no head at all")).text).toContain("no head at all");
    const open = mail("Content-Type: multipart/mixed; boundary=b\n\n--b\n\nfirst\n--b\n\nsecond, cut");
    expect((await textOf("a.eml", open)).text).toMatch(/first\n\nsecond, cut\n$/u);
    const none = mail("Content-Type: multipart/mixed; boundary=b\n\nno part anywhere");
    expect((await textOf("a.eml", none)).text).toContain("no part anywhere");
  });

  test("nested a thousand deep ends soon", async ({ expect }) => {
    let body = "Content-Type: text/plain\n\nbottom";
    for (let i = 0; i < 1_000; i++)
      body = `Content-Type: multipart/mixed; boundary=b${i}\n\n--b${i}\n${body}\n--b${i}--\n`;
    expect((await textOf("a.eml", mail(body))).state).toBe("ok");
  });
});

describe("the words of a head", () => {
  test("encoded words beside each other are one text", ({ expect }) => {
    expect(decodeWords("=?utf-8?B?w5w=?= =?UTF-8?q?_b=C3=A4r?= x")).toBe("Ü bär x");
    expect(decodeWords("=?utf-8?B?w5w?= =?utf-8?B?w?=")).toContain("Ü");
    expect(decodeWords("=?iso-2022-jp?B?GyRCJUYlOSVIGyhC?= =?iso-2022-jp?B?GyRCJUYlOSVIGyhC?=")).toBe("テストテスト");
    expect(decodeWords("=?utf-8*de?q?a?= =?broken?")).toBe("a =?broken?");
  });

  test("parameters may be quoted, numbered and in an encoding", ({ expect }) => {
    expect(readParameterField(`Text/Plain; charset="u;t\\"f"; a*0=x; a*1*=%20y; n="=?utf-8?q?=C3=9C?=" (c)`)).toEqual({
      value: "text/plain",
      parameters: { charset: 'u;t"f', a: "x y", n: "Ü" },
    });
    expect(readParameterField("a/b; __proto__=x").parameters["__proto__"]).toBe("x");
  });

  test("addresses have names, groups and comments", ({ expect }) => {
    expect(
      readAddresses('"Last, First" <a@x.test>, b@x.test (Bo), Team: c@x.test, d@x.test;, undisclosed-recipients:;'),
    ).toEqual([
      { name: "Last, First", email: "a@x.test" },
      { name: "Bo", email: "b@x.test" },
      { name: "", email: "c@x.test" },
      { name: "", email: "d@x.test" },
    ]);
  });

  test("dates become RFC 3339", ({ expect }) => {
    expect(readMailDate("Fri, 21 Nov 1997 09:55:06 -0600 (CST)")).toBe("1997-11-21T09:55:06-06:00");
    expect(readMailDate("1 Jan 99 0:00 EST")).toBe("1999-01-01T00:00:00-05:00");
    expect(readMailDate("31 Foo 2020 10:00:00 GMT")).toBeUndefined();
    expect(readMailDate("yesterday")).toBeUndefined();
  });
});

describe("a mailbox", () => {
  const one = (subject: string, body: string) =>
    `From a@x.test Tue Mar  5 10:11:12 2024\nFrom: a@x.test\nSubject: ${subject}\n\n${body}\n\n`;

  test("of several messages is their list, each a section and a part", async ({ expect }) => {
    const result = await textOf("in.mbox", one("First", "Alpha\n>From here") + one("Second", "From the start\nBeta"));
    expect(result.text).toBe("From: a@x.test\nSubject: First\n\nFrom: a@x.test\nSubject: Second\n");
    expect(result.sections.map(({ name, ref }) => [name, ref])).toEqual([
      ["First", "1"],
      ["Second", "2"],
    ]);
    expect(result.children?.map(({ id, fileName }) => [id, fileName])).toEqual([
      ["1", "First.eml"],
      ["2", "Second.eml"],
    ]);
    expect(Buffer.from(result.children?.[0]?.bytes ?? []).toString()).toContain("\nFrom here");
  });

  test("of one message is that message", async ({ expect }) => {
    const result = await textOf("in.mbox", one("First", "Alpha"));
    expect(result.text).toBe("From: a@x.test\nSubject: First\n\nAlpha\n");
    expect(result.children).toBeUndefined();
  });

  test("gives parts that stay the same when another message goes, by their message ids", async ({ expect }) => {
    const message = (id: string) => one(id, "x").replace("\nSubject", `\nMessage-ID: <${id}@x>\nSubject`);
    const before = await textOf("in.mbox", message("a") + message("b") + message("b"));
    expect(before.children?.map(({ id }) => id)).toEqual(["a@x", "b@x", "b@x#2"]);
    const after = await textOf("in.mbox", message("b") + message("c"));
    expect(after.children?.map(({ id }) => id)).toEqual(["b@x", "c@x"]);
  });

  test("splits into as many messages as were joined", ({ expect }) => {
    const body = fc.array(fc.constantFrom("From x\n", ">From x\n", "text\n", "\n", "\r\n", ": a\n"), { maxLength: 8 });
    fc.assert(
      fc.property(fc.array(body, { minLength: 1, maxLength: 5 }), (bodies) => {
        const box = bodies.map((lines) => one("s", lines.join(""))).join("");
        expect(splitMailbox(Buffer.from(box)).length).toBe(bodies.length);
      }),
    );
  });
});

test("whatever the bytes of a mail are, there is text or a reason", async ({ expect }) => {
  const pieces = fc.constantFrom(
    "\n",
    "\r\n",
    "--b",
    "--b--",
    "Content-Type: multipart/mixed; boundary=b\n",
    "=?utf-8?b?",
    "?=",
    "From x 2020\n",
    'a="',
    "(",
    "<",
    "=C3",
    "x: y\n",
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.oneof(pieces, fc.string()), { maxLength: 30 }),
      fc.constantFrom("a.eml", "a.mbox", "a"),
      async (parts, name) => {
        const { extractFile } = await import("../documents.ts");
        const result = await extractFile(name, `From: a\n${parts.join("")}`);
        expect(["ok", "no_text"]).toContain(result.state);
        expect(result.state === "no_text" && result.reason === "failed").toBe(false);
      },
    ),
    { numRuns: 100 },
  );
});
