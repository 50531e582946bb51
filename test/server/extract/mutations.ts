import { brotliCompressSync, gzipSync } from "node:zlib";
import { makePdf } from "./documents.ts";

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
  ];
}

/** The sample with a few of: flipped bits, lost or doubled stretches, a cut end, foreign bytes, another's name. */
export function mutate(sample: Sample, samples: readonly Sample[], random: () => number): Sample {
  const pick = (count: number) => Math.floor(random() * count);
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
  "\0",
];
