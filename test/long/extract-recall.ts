/**
 * Compares the extraction of real files with that of other programs by word recall: the share of the reference's
 * distinct words (runs of letters or digits, case folded) that are also in ours.
 *
 *   npx tsx test/long/extract-recall.ts <folder with a folder of files per format> [--formats docx,odt] [--most 100]
 *     [--cache <folder for reference texts>] [--worst 5]
 *
 * Ends with 1 when a format of ten files or more has a median below 0.98 or a tenth percentile below 0.90.
 */
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { parseArgs } from "node:util";
import { analyzeDocument } from "#text/analyzer.ts";
import { makeExtractor } from "#extract/pool.ts";
import type { Extractor } from "#extract/extractor.ts";
import { buildChildren } from "../extract/build-child.ts";
import { requestOf } from "../extract/documents.ts";
import { referenceText } from "./reference-text.ts";

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    formats: { type: "string" },
    most: { type: "string", default: "100" },
    cache: { type: "string" },
    worst: { type: "string", default: "5" },
  },
});
const root = positionals[0];
if (root === undefined) throw new Error("Name a folder that has a folder of files per format.");

interface FileResult {
  name: string;
  recall: number | undefined;
  missed: string[];
  answer: string;
  characters: number;
  ms: number;
}

const MIN_WORDS = 3;
const GOALS = { files: 10, median: 0.98, tenth: 0.9 };

const folder = await buildChildren(`recall-${process.pid}`, { extractor: "src/extract/child.ts" });
const quiet = () => undefined;
const pool = makeExtractor({
  childPath: join(folder, "extractor.js"),
  now: () => performance.now(),
  analyze: analyzeDocument,
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  size: 1,
});
try {
  const formats = options.formats?.split(",") ?? readdirSync(root).sort();
  for (const format of formats) await runFormat(join(root, format), format);
} finally {
  await pool.close();
  rmSync(folder, { recursive: true, force: true });
}

async function runFormat(formatFolder: string, format: string): Promise<void> {
  const names = pickEvenly(readdirSync(formatFolder).sort(), Number(options.most));
  const results: FileResult[] = [];
  const memory = { maxRssBytes: 0 };
  for (const name of names) {
    const path = join(formatFolder, name);
    if (statSync(path).isFile()) results.push(await runFile(pool, path, memory));
  }
  report(format, results, memory.maxRssBytes);
}

async function runFile(extractor: Extractor, path: string, memory: { maxRssBytes: number }): Promise<FileResult> {
  const bytes = readFileSync(path);
  const watch = setInterval(() => {
    for (const { rssBytes } of extractor.stats()) memory.maxRssBytes = Math.max(memory.maxRssBytes, rssBytes);
  }, 20);
  const start = performance.now();
  const result = await extractor.extract(requestOf(basename(path), bytes));
  const ms = performance.now() - start;
  clearInterval(watch);
  const text = result.state === "ok" ? result.text : "";
  const answer = result.state === "ok" ? "ok" : `${result.reason}: ${result.message}`;
  const wanted = wordsOf((await cachedReference(path, bytes)) ?? "");
  const ours = wordsOf(text);
  const missed = [...wanted].filter((word) => !ours.has(word));
  // Too few words say nothing; what is not extracted at all counts, unless the reference found nothing either.
  const recall = wanted.size < MIN_WORDS ? undefined : 1 - missed.length / wanted.size;
  return { name: basename(path), recall, missed, answer, characters: text.length, ms };
}

async function cachedReference(path: string, bytes: Uint8Array): Promise<string | undefined> {
  if (options.cache === undefined) return referenceText(path);
  mkdirSync(options.cache, { recursive: true });
  const file = join(options.cache, createHash("sha256").update(bytes).update(path.slice(-5)).digest("hex"));
  if (!existsSync(file)) writeFileSync(file, (await referenceText(path)) ?? "");
  return readFileSync(file, "utf8");
}

function wordsOf(text: string): Set<string> {
  const folded = text.normalize("NFKC").replaceAll("\u00ad", "").toLowerCase();
  return new Set(folded.match(/\p{L}[\p{L}\p{M}]*|\p{N}+/gu) ?? []);
}

function report(format: string, results: readonly FileResult[], maxRssBytes: number): void {
  const compared = results.filter((result) => result.recall !== undefined);
  const recalls = compared.map(({ recall = 0 }) => recall).sort((a, b) => a - b);
  const times = results.map(({ ms }) => ms).sort((a, b) => a - b);
  const median = percentile(recalls, 0.5);
  const tenth = percentile(recalls, 0.1);
  const extracted = results.filter(({ answer }) => answer === "ok");
  const characters = results.reduce((sum, result) => sum + result.characters, 0);
  say(
    `${format}: ${results.length} files, ${extracted.length} extracted, ${compared.length} compared; ` +
      `recall median ${median.toFixed(4)}, 10th percentile ${tenth.toFixed(4)}; ${characters} characters; ` +
      `p95 ${Math.round(percentile(times, 0.95))} ms, slowest ${Math.round(times.at(-1) ?? 0)} ms; ` +
      `peak ${Math.round(maxRssBytes / 1_048_576)} MiB`,
  );
  const reasons = new Map<string, string[]>();
  for (const { answer, name } of results)
    if (answer !== "ok") reasons.set(answer, [...(reasons.get(answer) ?? []), name]);
  for (const [reason, names] of reasons) say(`  ${names.length} × ${reason} (${names.slice(0, 3).join(", ")})`);
  const worst = [...compared].sort((a, b) => (a.recall ?? 0) - (b.recall ?? 0)).slice(0, Number(options.worst));
  for (const { name, recall = 0, missed } of worst)
    if (recall < 1) say(`  ${recall.toFixed(3)} ${name}: ${missed.slice(0, 12).join(" ")}`);
  if (compared.length >= GOALS.files && (median < GOALS.median || tenth < GOALS.tenth)) process.exitCode = 1;
}

function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Up to so many of a list, spread over all of it. */
function pickEvenly<T>(list: readonly T[], most: number): T[] {
  const step = Math.max(1, list.length / most);
  return list.filter((_, index) => Math.floor(index / step) !== Math.floor((index - 1) / step));
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
