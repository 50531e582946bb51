import { createHash } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { type AnalyzedText, analyzeDocument } from "#text/analyzer.ts";
import { STOP_WORDS } from "#text/stop-words.ts";
import type { IndexedDocument } from "#storage/search-index.ts";

/** A corpus cut and resampled from real text, as in the engine comparison: titles, 50–400 words, skewed accesses. */
export interface Corpus {
  hash: string;
  distinctWords: number;
  documents(from: number, to: number): Generator<{ document: IndexedDocument; title: string; body: string }>;
  /** Principals of each access list; the list of document `i` is `lists[listOf(i)]`. */
  principalsOf(i: number): number[];
  viewers: { principals: string[] }[];
  /** Words of a question with the viewer who asks it. */
  questions: { words: string[]; viewer: number }[];
  longQuestions: { words: string[]; viewer: number }[];
}

const PRINCIPALS = 2_000;
const DAY_MS = 86_400_000;

interface Paragraph {
  title: string;
  text: string;
  words: number;
  /** Term vectors of text and title, made at first use: a million documents are put together from some thousand. */
  analyzed?: AnalyzedText;
  analyzedTitle?: AnalyzedText;
}

/** Reads the Markdown and text files under a folder and prepares documents from them; `seed` fixes everything. */
export function makeCorpus(folder: string, seed = 12_345): Corpus {
  const hash = createHash("sha256");
  const paragraphs: Paragraph[] = [];
  for (const file of textFiles(folder)) {
    const text = readFileSync(file, "utf8");
    hash.update(text);
    paragraphs.push(...cutParagraphs(text, path.basename(file)));
  }
  if (paragraphs.length === 0) throw new Error(`No Markdown or text files under ${folder}`);
  const rest = { paragraphs, seed };
  const documents = function* (from: number, to: number) {
    for (let i = from; i < to; i++) yield makeDocument(rest, i);
  };
  const words = new Set(paragraphs.flatMap(({ text }) => text.toLowerCase().match(/[a-z0-9]+/g) ?? []));
  return {
    hash: hash.digest("hex").slice(0, 12),
    distinctWords: words.size,
    documents,
    principalsOf: (i) => principalsOf(seed, i),
    viewers: makeViewers(seed),
    ...makeQuestions(rest),
  };
}

function* textFiles(folder: string): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))) {
    const full = path.join(folder, entry.name);
    if (entry.isDirectory()) yield* textFiles(full);
    else if (/\.(?:md|rst|txt)$/i.test(entry.name)) yield full;
  }
}

function cutParagraphs(text: string, name: string): Paragraph[] {
  let title = name;
  const found: Paragraph[] = [];
  for (const raw of text.split(/\n\s*\n/)) {
    title = /^#+\s+(.{3,120})$/m.exec(raw)?.[1]?.replace(/[#*`]/g, "").trim() ?? title;
    const words = raw.trim().split(/\s+/);
    for (let i = 0; i < words.length; i += 150) {
      const cut = words.slice(i, i + 150);
      if (cut.length >= 8) found.push({ title, text: cut.join(" "), words: cut.length });
    }
  }
  return found;
}

function makeDocument({ paragraphs, seed }: { paragraphs: Paragraph[]; seed: number }, i: number) {
  const random = makeRandom(seed + i * 7_919);
  const wanted = Math.round(Math.max(50, Math.min(400, Math.exp(4.75 + 0.55 * gauss(random)))));
  const first = pick(paragraphs, random);
  const chosen = [first];
  for (let words = first.words; words < wanted;) {
    const next = pick(paragraphs, random);
    chosen.push(next);
    words += next.words;
  }
  const key = `OPS-${100_000 + i}`;
  const body = `${chosen.map(({ text }) => text).join("\n")}\n${key}`;
  const kinds = ["task", "message", "file", "page"] as const;
  const place = Math.floor(random() ** 2 * 8);
  let vector: AnalyzedText | undefined;
  const document: IndexedDocument = {
    kbId: kbIdOf(seed, i),
    kind: pick(kinds, random),
    status: null,
    providerId: ["github", "slack", "web"][place % 3] ?? "web",
    source: `place:${place}`,
    connectorId: `con_${place}`,
    aclId: i + 1,
    // Only made for a caller that asks: the peer takes the text itself.
    get text() {
      return (vector ??= combine([titleVector(first), ...chosen.map(textVector), analyze({ text: key })]));
    },
    updatedAt: Date.UTC(2026, 10, 1) - Math.floor(random() ** 2 * 2_100) * DAY_MS - Math.floor(random() * DAY_MS),
    createdAt: null,
    dueAt: null,
    people: [`ent_${Math.floor(random() * 500)}`],
    assignees: [],
    containers: [`ent_c${place}`],
    fields: [],
  };
  return { document, title: first.title, body };
}

function analyze({ title = "", text = "" }: { title?: string; text?: string }): AnalyzedText {
  return analyzeDocument({ title, path: [], labels: [], text });
}

function textVector(paragraph: Paragraph): AnalyzedText {
  return (paragraph.analyzed ??= analyze({ text: paragraph.text }));
}

function titleVector(paragraph: Paragraph): AnalyzedText {
  return (paragraph.analyzedTitle ??= analyze({ title: paragraph.title }));
}

/** The vector of texts put together: what the analyzer gives for the whole. */
function combine(vectors: readonly AnalyzedText[]): AnalyzedText {
  const sums = new Map<string, number>();
  for (const { terms, weights } of vectors) {
    terms.split("\n").forEach((term, i) => sums.set(term, (sums.get(term) ?? 0) + (weights[i] ?? 0)));
  }
  sums.delete("");
  const terms = [...sums.keys()].sort();
  return {
    terms: terms.join("\n"),
    weights: Uint8Array.from(terms, (term) => Math.min(255, sums.get(term) ?? 0)),
    length: vectors.reduce((sum, { length }) => sum + length, 0),
  };
}

/** Looks like the service's ids: random order, 20 characters. */
function kbIdOf(seed: number, i: number): string {
  return `kbi_${createHash("sha256").update(`${seed} ${i}`).digest("hex").slice(0, 16)}`;
}

function principalsOf(seed: number, i: number): number[] {
  const random = makeRandom(seed * 31 + i);
  const count = 1 + Math.floor(random() * 5);
  const found = new Set<number>(random() < 0.3 ? [0] : []);
  while (found.size < count) found.add(1 + Math.floor(random() ** 2.2 * (PRINCIPALS - 1)));
  return [...found];
}

/** 200 viewers of 5–50 principals; a fifth are guests without "everyone" (principal 0). */
function makeViewers(seed: number): { principals: string[] }[] {
  const random = makeRandom(seed + 1);
  return Array.from({ length: 200 }, (_, v) => {
    const count = 5 + Math.floor(random() * 46);
    const found = new Set<number>(v % 5 === 0 ? [] : [0]);
    while (found.size < count)
      found.add(1 + Math.floor((random() < 0.5 ? random() ** 2.2 : random()) * (PRINCIPALS - 1)));
    return { principals: [...found].map((n) => `p${n}`).sort() };
  });
}

function makeQuestions({ paragraphs, seed }: { paragraphs: Paragraph[]; seed: number }) {
  const random = makeRandom(seed + 2);
  const wordsOf = (text: string) => (text.toLowerCase().match(/[a-z0-9]+/g) ?? []).filter((word) => word.length < 25);
  const telling = (text: string) => wordsOf(text).filter((word) => word.length > 2 && !STOP_WORDS.has(word));
  const questions: Corpus["questions"] = [];
  while (questions.length < 300) {
    const words = telling(pick(paragraphs, random).text);
    const count = 1 + Math.floor(random() * 4);
    const chosen = new Set<string>();
    for (let tries = 0; tries < 50 && chosen.size < count && words.length > 0; tries++) chosen.add(pick(words, random));
    if (chosen.size === count) questions.push({ words: [...chosen], viewer: Math.floor(random() * 200) });
  }
  const longQuestions: Corpus["questions"] = [];
  while (longQuestions.length < 60) {
    const words = wordsOf(pick(paragraphs, random).text);
    const count = 6 + Math.floor(random() * 5);
    if (words.length < count + 20) continue;
    const start = Math.floor(random() * (words.length - count));
    longQuestions.push({ words: words.slice(start, start + count), viewer: Math.floor(random() * 200) });
  }
  return { questions, longQuestions };
}

function pick<T>(values: readonly T[], random: () => number): T {
  const value = values[Math.floor(random() * values.length)];
  if (value === undefined) throw new Error("Nothing to pick from");
  return value;
}

function gauss(random: () => number): number {
  return Math.sqrt(-2 * Math.log(random() + 1e-12)) * Math.cos(2 * Math.PI * random());
}

/** mulberry32 */
export function makeRandom(seed: number): () => number {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
