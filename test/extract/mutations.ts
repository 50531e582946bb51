import { brotliCompressSync, gzipSync } from "node:zlib";
import { makeJpeg, makeMp3, makeMsg, makeTar, makeTgz } from "./containers.ts";
import { makePdf } from "./documents.ts";
import { makeOfficeSamples, mutateMember } from "./office-samples.ts";
import { signed } from "./signed-files.ts";
import { makeTnef } from "./tnef-files.ts";
import { makeZip } from "./zip-files.ts";

/** A small generator of pseudo-random numbers in [0, 1): a failing file can be made again from its seed (mulberry32). */
export function makeRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export interface Sample {
  name: string;
  bytes: Uint8Array;
}

/** Whole documents of every kind that extraction knows, small enough to be mutated often. */
export function makeSamples(): Sample[] {
  const words = "Words of a document that is read again and again. ".repeat(20);
  const texts: Record<string, string> = {
    "a.txt": words,
    "a.md": `---\ntitle: A\ntags: [x, y]\n---\n# One\n${words}\n<!-- c -->\n![i](https://x.test)\n\`\`\`\ncode\n\`\`\`\n`,
    "a.html": `<!doctype html><html lang=en><title>T</title><body><nav>menu</nav><main><h1>H</h1><p>${words}</p><table><tr><td>1<td>2</table><pre>x</pre><ul><li>a<li>b</ul></main>`,
    "flat.html": `<html><body><div><p>${words}</p><p style="display:none">h</p><p>${words}</p></div></body></html>`,
    "a.csv": `a,b,"c ""d"""\n${"1,2,3\n".repeat(60)}`,
    "a.json": JSON.stringify({ title: "t", list: [1, { a: words }], deep: [[[[[]]]]] }),
    "a.jsonl": '{"a":1}\n{"a":[2,3]}\n'.repeat(20),
  };
  return [
    ...Object.entries(texts).map(([name, text]) => ({ name, bytes: Buffer.from(text) })),
    { name: "utf16.txt", bytes: Buffer.from(`\ufeff${words}`, "utf16le") },
    { name: "a.pdf", bytes: makePdf([words.slice(0, 200), "", "third"], { info: { Title: "T" } }) },
    { name: "a.gz", bytes: gzipSync(words) },
    { name: "a.br", bytes: brotliCompressSync(words) },
    ...makeStructured(words),
    ...makeContainers(words),
    ...makeOfficeSamples(words),
  ];
}

function makeStructured(words: string): Sample[] {
  const cells = [
    { cell_type: "markdown", source: ["# A\n", words] },
    { cell_type: "code", source: "print(1)", outputs: [{ output_type: "stream", text: ["1\n"] }] },
  ];
  const schema = { type: "object", properties: { name: { type: "string", description: words } } };
  const paths = { "/a/{b}": { get: { summary: "Get", parameters: [{ name: "b", in: "path", schema }] } } };
  const api = { openapi: "3.1.0", info: { title: "A" }, paths, components: { schemas: { A: schema } } };
  const texts: Record<string, string> = {
    "a.ipynb": JSON.stringify({ nbformat: 4, metadata: { title: "N" }, cells }),
    "api.json": JSON.stringify(api),
    "schema.json": JSON.stringify({ $schema: "https://json-schema.org/draft/2020-12/schema", ...schema }),
    "api.yaml": `openapi: 3.0.0\ninfo: &i {title: A, description: ${words}}\npaths:\n  /a:\n    get: {summary: *i}\n`,
    "a.yaml": `---\nkind: A\nmetadata:\n  name: b\n---\ntitle: "x"\ntext: |\n  ${words}\n`,
    "a.toml": `title = "T"\n[a.b]\nx = """\n${words}\n"""\n[[c]]\ny = 1\n`,
    "a.xml": `<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><a><title>T</title><p x="y">${words}<em>d</em> &b;</p></a>`,
    "a.xls": `<?xml version="1.0"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet ss:Name="S"><Table><Row ss:Index="2"><Cell><Data ss:Type="String">${words}</Data><Comment><Data>c</Data></Comment></Cell></Row></Table></Worksheet></Workbook>`,
    "w.xml": `<?xml version="1.0"?><w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml" xmlns:o="urn:schemas-microsoft-com:office:office"><o:DocumentProperties><o:Title>T</o:Title></o:DocumentProperties><w:styles><w:style w:type="paragraph" w:styleId="H1"><w:name w:val="heading 1"/></w:style></w:styles><w:body><w:p><w:pPr><w:pStyle w:val="H1"/></w:pPr><w:r><w:t>Head</w:t></w:r></w:p><w:p><w:r><w:t>${words}</w:t></w:r><w:r><w:footnote><w:p><w:r><w:t>n</w:t></w:r></w:p></w:footnote></w:r></w:p></w:body></w:wordDocument>`,
    "feed.rss": `<?xml version="1.0"?><rss version="2.0"><channel><title>News</title><item><title>First</title><author>Ana</author><description>&lt;p&gt;${words}&lt;/p&gt;</description></item><item><title>Second</title></item></channel></rss>`,
    "a.tex": `\\documentclass{article}\n\\title{T}\n\\begin{document}\n\\section{One}\nM{\\"u}ller: ${words}\n\\end{document}\n`,
    "a.adoc": `= Title\n:author: Ana\n\n== One\n\n${words}\n\n[source]\n----\ncode\n----\n\n== Two\n\n|===\n|a |b\n|===\n`,
    "a.rst": `Title\n=====\n\n:author: Ana\n\nOne\n---\n\n${words}\n\n.. note:: n\n\nTwo\n---\n\n::\n\n  code\n`,
    "a.org": `#+TITLE: T\n#+AUTHOR: Ana\n\n* One :tag:\n:PROPERTIES:\n:ID: 1\n:END:\n${words}\n* Two\n| a | b |\n`,
    "a.ics": `BEGIN:VCALENDAR\r\nVERSION:2.0\r\nBEGIN:VEVENT\r\nUID:1\r\nDTSTART:20240305T101112Z\r\nSUMMARY:S\r\nATTENDEE;CN=Ana:mailto:ana@x.test\r\nDESCRIPTION:${words}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n`,
    "a.vcf": `BEGIN:VCARD\r\nVERSION:4.0\r\nFN:Ana\r\nEMAIL:ana@x.test\r\nNOTE:${words}\r\nEND:VCARD\r\n`,
    "a.ass": `[Script Info]\n[Events]\nFormat: Start, Name, Text\nDialogue: 0:00:01.00,Ana,${words}\n`,
    "a.log": `2024-01-01 10:00:00 ${words}\n at x\n2024-01-02 11:00:00 b\n`,
    "a.srt": `1\n00:00:01,000 --> 00:00:02,000\n<i>${words}</i>\n\n2\n00:06:01,000 --> 00:06:02,000\nb\n`,
    "a.vtt": `WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ana>${words}\n`,
  };
  return Object.entries(texts).map(([name, text]) => ({ name, bytes: Buffer.from(text) }));
}

function makeContainers(words: string): Sample[] {
  const head =
    "From: =?utf-8?q?A=C3=A4?= <a@x.test>\r\nTo: b@x.test\r\nDate: Tue, 5 Mar 2024 10:11:12 +0100\r\nSubject: S\r\n";
  const mail = `${head}Content-Type: multipart/mixed; boundary="b"\r\n\r\n--b\r\nContent-Type: text/html; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n<p>${words}=C3=A4</p>\r\n--b\r\nContent-Type: message/rfc822\r\n\r\n${head}\r\nx\r\n--b\r\nContent-Type: text/plain; name*0*=utf-8''%C3%A4; name*1=".txt"\r\nContent-Transfer-Encoding: base64\r\n\r\neHg=\r\n--b--\r\n`;
  const files = { "a.txt": words, "b/c.md": "# x", "d.zip": makeZip({ "e.txt": words }) };
  return [
    { name: "a.eml", bytes: Buffer.from(mail) },
    { name: "a.mbox", bytes: Buffer.from(`From a Tue Mar  5 10:11:12 2024\n${mail}\n\n`.repeat(3)) },
    { name: "a.msg", bytes: makeMsg("Subject", words) },
    {
      name: "winmail.dat",
      bytes: makeTnef({
        subject: "S",
        properties: { 0x1000: words },
        files: [{ name: "a.txt", bytes: Buffer.from(words) }],
      }),
    },
    { name: "a.p7m", bytes: signed(Buffer.from(`Content-Type: text/plain\r\n\r\n${words}\r\n`), false) },
    { name: "a.zip", bytes: makeZip(files) },
    { name: "a.tar", bytes: makeTar(files) },
    { name: "a.tgz", bytes: makeTgz(files) },
    { name: "a.jpg", bytes: makeJpeg({ description: words, artist: "A", model: "M", comment: "c" }) },
    { name: "a.mp3", bytes: makeMp3({ title: words, artist: "A", album: "B" }) },
  ];
}

/** The sample with a few of: flipped bits, lost or doubled stretches, a cut end, foreign bytes, another's name. */
export function mutate(sample: Sample, samples: readonly Sample[], random: () => number): Sample {
  const pick = (count: number) => Math.floor(random() * count);
  // Half of the archives are changed inside: the directory and the packed bytes hide what is in them.
  const inside =
    random() < 0.5 ? mutateMember(sample, (member) => mutate(member, samples, random).bytes, pick) : undefined;
  if (inside !== undefined) return inside;
  let bytes: Uint8Array = Uint8Array.from(sample.bytes);
  for (let round = pick(4); round >= 0; round--) {
    const at = pick(bytes.length);
    const end = Math.min(bytes.length, at + pick(200));
    const kind = pick(6);
    if (kind === 0)
      for (let flip = pick(20); flip >= 0 && bytes.length > 0; flip--) bytes[pick(bytes.length)] = pick(256);
    else if (kind === 1) bytes = bytes.subarray(0, at);
    else if (kind === 2) bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
    else if (kind === 3)
      bytes = Buffer.concat([
        bytes.subarray(0, end),
        ...Array<Uint8Array>(pick(200)).fill(bytes.subarray(at, end)),
        bytes.subarray(end),
      ]);
    else if (kind === 4)
      bytes = Buffer.concat([
        bytes.subarray(0, at),
        (samples[pick(samples.length)] ?? sample).bytes,
        bytes.subarray(at),
      ]);
    else
      bytes = Buffer.concat([
        bytes.subarray(0, at),
        Buffer.from(DIGITS[pick(DIGITS.length)] ?? "0"),
        bytes.subarray(end),
      ]);
  }
  const name = random() < 0.3 ? (samples[pick(samples.length)] ?? sample).name : sample.name;
  return { name, bytes };
}

/** Numbers that parsers of lengths and counts dislike, and marks that open what is never closed. */
const DIGITS = [
  "0",
  "-1",
  "4294967295",
  "99999999999",
  "1e309",
  "<<",
  "[[[[",
  "((((",
  '"',
  "<table>",
  "<!--",
  "stream\n",
  "&#x110000;",
  "=?utf-8?b?",
  "--b\r\n",
  "<!ENTITY x '&x;'>",
  "&a [*a]",
  "\n---\n",
  "\xff\xff\xff\x7f",
  "\0",
];
