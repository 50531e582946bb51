import { gzipSync } from "node:zlib";
import { makeCompoundFile, makeTar } from "./containers.ts";
import type { Sample } from "./mutations.ts";
import { makeHostileOffice } from "./office-samples.ts";
import { makeZip } from "./zip-files.ts";

/** Files made to hurt a reader that unfolds, inflates or recurses; each a few kilobytes up to a megabyte. */
export function makeHostileFiles(): Sample[] {
  return [
    { name: "bomb.gz", bytes: gzipSync(Buffer.alloc(100_000_000)) },
    { name: "bomb.tgz", bytes: gzipSync(makeTar({ "zeros.txt": Buffer.alloc(60_000_000) })) },
    { name: "bomb.zip", bytes: makeZip({ "zeros.txt": Buffer.alloc(40_000_000), "b.txt": Buffer.alloc(40_000_000) }) },
    { name: "nested.zip", bytes: nestedZip(10) },
    { name: "many.zip", bytes: makeZip(Object.fromEntries(Array.from({ length: 3_000 }, (_, i) => [`f${i}`, "x"]))) },
    { name: "many.tar", bytes: makeTar(Object.fromEntries(Array.from({ length: 1_500 }, (_, i) => [`f${i}`, "x"]))) },
    text("laughs.xml", laughs()),
    text("deep.xml", "<a>".repeat(300_000)),
    text("wide.xml", `<a>${"<b c='dd'/>".repeat(60_000)}</a>`),
    text("mixed.xml", `<a>${"x<b>".repeat(100_000)}`),
    text("alias.yaml", aliases("openapi: 3.0.0\ninfo: {title: x}\n")),
    text("deep.yaml", `openapi: 3.0.0\ninfo: ${"[".repeat(100_000)}`),
    text("indent.yaml", Array.from({ length: 1_000 }, (_, i) => `${" ".repeat(i)}a:\n`).join("")),
    text("marks.yaml", "---\n".repeat(200_000)),
    text("deep.toml", `a = ${"[".repeat(300_000)}`),
    text("tables.toml", "[a]\n".repeat(150_000)),
    text("deep.ipynb", `{"cells":${"[".repeat(300_000)}`),
    text(
      "cells.ipynb",
      JSON.stringify({
        cells: Array.from({ length: 50_000 }, () => ({ cell_type: "code", source: "x", outputs: [{}] })),
      }),
    ),
    text("ref.json", '{"openapi":"3","info":{},"paths":{"/":{"get":{"requestBody":{"$ref":"#"}}}}}'),
    text("deep.schema.json", deepSchema(5_000)),
    text("parts.eml", `Content-Type: multipart/mixed; boundary=b\n\n${"--b\n\nx\n".repeat(80_000)}`),
    text("nested.eml", nestedMail(800)),
    text("words.eml", `Subject: ${"=?utf-8?q?a?= ".repeat(40_000)}\n\nx`),
    text("address.eml", `From: ${"(".repeat(100_000)}${'"'.repeat(100_000)}\nTo: ${"a@b,".repeat(50_000)}\n\nx`),
    text("parameters.eml", `Content-Type: a/b${"; x*0*=a".repeat(50_000)}\n\nx`),
    text("html.eml", `Content-Type: text/html\n\n${"<div>".repeat(100_000)}x`),
    text("many.mbox", "From a Tue Mar  5 10:11:12 2024\nA: b\n\nx\n\n".repeat(20_000)),
    text("one.mbox", "From ".repeat(200_000)),
    text("days.log", Array.from({ length: 60_000 }, (_, i) => `20${10 + (i % 80)}-01-0${i % 9} x\n`).join("")),
    text("cues.srt", "00:00:00,0 --> \n".repeat(60_000)),
    { name: "circle.msg", bytes: circularMessage() },
    ...makeHostileOffice(),
  ];
}

const text = (name: string, content: string): Sample => ({ name, bytes: Buffer.from(content) });

function laughs(): string {
  const levels = Array.from({ length: 30 }, (_, i) => `<!ENTITY l${i + 1} "${`&l${i};`.repeat(10)}">`).join("");
  return `<?xml version="1.0"?><!DOCTYPE l [<!ENTITY l0 "ha">${levels}<!ENTITY f SYSTEM "file:///etc/passwd">]><l>&l30;&f;</l>`;
}

function aliases(head: string): string {
  const lines = Array.from(
    { length: 40 },
    (_, i) => `a${i + 1}: &a${i + 1} [${Array(10).fill(`*a${i}`).join(", ")}]\n`,
  );
  return `${head}a0: &a0 [x]\n${lines.join("")}paths: *a40\n`;
}

function nestedZip(depth: number): Uint8Array {
  let bytes = makeZip({ "core.txt": "x".repeat(1_000) });
  for (let i = 0; i < depth; i++)
    bytes = makeZip(Object.fromEntries(Array.from({ length: 2 }, (_, n) => [`${n}.zip`, bytes])));
  return bytes.length < 4_000_000 ? bytes : bytes.subarray(0, 4_000_000);
}

function nestedMail(depth: number): string {
  let body = "Content-Type: text/plain\n\nbottom";
  for (let i = 0; i < depth; i++)
    body = `Content-Type: multipart/mixed; boundary=b${i}\n\n--b${i}\n${body}\n--b${i}--\n`;
  return body;
}

function deepSchema(depth: number): string {
  const open = '{"type":"object","properties":{"a":'.repeat(depth);
  return `{"$schema":"https://json-schema.org/x","properties":{"a":${open}{}${"}}".repeat(depth)}}}`;
}

function circularMessage(): Buffer {
  const bytes = makeCompoundFile({
    "__properties_version1.0": Buffer.alloc(32),
    "__substg1.0_1000001F": Buffer.alloc(9_000, 65),
  });
  for (let at = bytes.length - 512; at < bytes.length; at += 4) bytes.writeUInt32LE((at - bytes.length + 512) / 4, at);
  return bytes;
}
