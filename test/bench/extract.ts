import { readdirSync, readFileSync, statSync } from "node:fs";
import { extname, join } from "node:path";
import { analyzeDocument } from "#text/analyzer.ts";
import { makeExtractor } from "#extract/pool.ts";
import { makePdf } from "../extract/documents.ts";

export interface ExtractBenchOptions {
  /** The built child. */
  childPath: string;
  /** Folders whose files are read; sub-folders too. */
  folders: readonly string[];
  /** Files per type at most. */
  filesPerType?: number;
  /** Requests on their way at once. */
  concurrency?: number;
}

export interface ExtractBenchRow {
  type: string;
  files: number;
  meanBytes: number;
  filesPerSecond: number;
  p50Ms: number;
  p95Ms: number;
  /** Most resident bytes of all children together. */
  childrenRssBytes: number;
}

/** Files per second through the pool by type, with latency under that load and the children's memory. */
export async function benchExtract(options: ExtractBenchOptions): Promise<ExtractBenchRow[]> {
  const rows: ExtractBenchRow[] = [];
  for (const [type, files] of collectFiles(options.folders, options.filesPerType ?? 2_000)) {
    rows.push(await benchType(type, files, options));
  }
  return rows;
}

interface BenchFile {
  name: string;
  bytes: Uint8Array;
}

async function benchType(type: string, files: BenchFile[], options: ExtractBenchOptions): Promise<ExtractBenchRow> {
  const quiet = () => undefined;
  const pool = makeExtractor({
    childPath: options.childPath,
    now: () => performance.now(),
    analyze: analyzeDocument,
    log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
  });
  const times: number[] = [];
  let childrenRssBytes = 0;
  let next = 0;
  const work = async () => {
    for (let file = files[next++]; file !== undefined; file = files[next++]) {
      const start = performance.now();
      const { name, bytes } = file;
      await pool.extract({ workspace: "bench", bytes, fileName: name, title: name, path: [], labels: [] });
      times.push(performance.now() - start);
      childrenRssBytes = Math.max(
        childrenRssBytes,
        pool.stats().reduce((sum, child) => sum + child.rssBytes, 0),
      );
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: options.concurrency ?? 32 }, work));
  const seconds = (performance.now() - start) / 1000;
  await pool.close();
  times.sort((a, b) => a - b);
  const at = (share: number) => Math.round(times[Math.floor(times.length * share)] ?? 0);
  const meanBytes = Math.round(files.reduce((sum, file) => sum + file.bytes.length, 0) / files.length);
  const filesPerSecond = Math.round(files.length / seconds);
  return { type, files: files.length, meanBytes, filesPerSecond, p50Ms: at(0.5), p95Ms: at(0.95), childrenRssBytes };
}

const TYPES = [".md", ".ts", ".js", ".json", ".html"];

function collectFiles(folders: readonly string[], limit: number): Map<string, BenchFile[]> {
  const found = new Map(TYPES.map((type): [string, BenchFile[]] => [type, []]));
  const visit = (folder: string) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) visit(path);
      const files = found.get(extname(entry.name));
      if (!entry.isFile() || files === undefined || files.length >= limit || statSync(path).size > 1_000_000) continue;
      files.push({ name: entry.name, bytes: readFileSync(path) });
    }
  };
  for (const folder of folders) visit(folder);
  const line = "A line of text on a page of a small document that was made for this. ".repeat(20);
  found.set(
    ".pdf",
    Array.from({ length: 100 }, (_, index) => ({ name: `${index}.pdf`, bytes: makePdf(Array(10).fill(line)) })),
  );
  for (const [type, files] of found) if (files.length === 0) found.delete(type);
  return found;
}
