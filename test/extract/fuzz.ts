import type { Extracted, Extractor, NotExtracted } from "#extract/extractor.ts";
import { requestOf } from "./documents.ts";
import { makeHostileFiles } from "./hostile-files.ts";
import { makeRandom, makeSamples, mutate } from "./mutations.ts";

export interface FuzzReport {
  files: number;
  /** Answers by state or reason. */
  answers: Record<string, number>;
  /** Most resident bytes a child was seen with. */
  maxRssBytes: number;
  slowestMs: number;
  /** What should never be: seeds of files that killed or hung a child. */
  deaths: { seed: number; name: string; message: string }[];
}

/** Sends the files made to hurt, one after the other; gives what became of each, and how long the slowest took. */
export async function tryHostileFiles(
  pool: Extractor,
): Promise<Pick<FuzzReport, "deaths" | "maxRssBytes" | "slowestMs">> {
  const report = { deaths: [] as FuzzReport["deaths"], maxRssBytes: 0, slowestMs: 0 };
  for (const [seed, { name, bytes }] of makeHostileFiles().entries()) {
    const start = performance.now();
    const watch = setInterval(() => noteMemory(pool, report), 50);
    const result = await pool.extract(requestOf(name, bytes, { readsArchives: true }));
    clearInterval(watch);
    noteMemory(pool, report);
    report.slowestMs = Math.max(report.slowestMs, performance.now() - start);
    if (isDeath(result)) report.deaths.push({ seed, name, message: result.message });
  }
  return report;
}

/** Sends so many files at once, each with a text of its own; gives those that came back as another's, or not at all. */
export async function findMisdelivered(pool: Extractor, count: number): Promise<string[]> {
  const texts = Array.from({ length: count }, (_, index) => `file number ${index}`);
  const results = await Promise.all(texts.map((text) => pool.extract(requestOf("a.txt", text))));
  return results.flatMap((result, index) => {
    const got = result.state === "ok" ? result.text : result.reason;
    return got === texts[index] ? [] : [`${texts[index]}: ${got}`];
  });
}

/** Sends mutated files through a pool, some at a time, and counts what came back. Every file is made from its seed. */
export async function fuzzExtractor(pool: Extractor, seeds: { from: number; count: number }): Promise<FuzzReport> {
  const samples = makeSamples();
  const report: FuzzReport = { files: 0, answers: {}, maxRssBytes: 0, slowestMs: 0, deaths: [] };
  let next = seeds.from;
  const work = async () => {
    while (next < seeds.from + seeds.count) {
      const seed = next++;
      const random = makeRandom(seed);
      const sample = samples[seed % samples.length];
      if (sample === undefined) return;
      const { name, bytes } = mutate(sample, samples, random);
      const start = performance.now();
      const result = await pool.extract(requestOf(name, bytes, { readsArchives: true }));
      report.slowestMs = Math.max(report.slowestMs, performance.now() - start);
      const answer = result.state === "ok" ? "ok" : result.reason;
      report.answers[answer] = (report.answers[answer] ?? 0) + 1;
      report.files++;
      if (isDeath(result)) report.deaths.push({ seed, name, message: result.message });
      noteMemory(pool, report);
    }
  };
  await Promise.all(Array.from({ length: 8 }, work));
  return report;
}

function isDeath(result: Extracted | NotExtracted): result is NotExtracted {
  return result.state === "no_text" && /^Reading the file|could not start/u.test(result.message);
}

function noteMemory(pool: Extractor, report: { maxRssBytes: number }): void {
  for (const { rssBytes } of pool.stats()) report.maxRssBytes = Math.max(report.maxRssBytes, rssBytes);
}
