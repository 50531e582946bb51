import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { createInterface } from "node:readline";
import { parseQuery } from "#text/query.ts";
import type { Corpus } from "./search-corpus.ts";

/** How the peer learns what a viewer sees: a term set in the query, or a bit set made once and kept. */
export type PeerAccess = "terms" | "kept";

export interface TantivyQuestion {
  order: "relevance" | "recency";
  /** How many of the words an item must have; all of them unless told. */
  minimum?: number | undefined;
  access: PeerAccess;
  words: readonly string[];
  /** As `p<number>`. */
  principals: readonly string[];
}

export interface Tantivy {
  /** `ms` is the search alone, measured in the peer's process; `total` counts the visible items. */
  search(question: TantivyQuestion): Promise<{ ms: number; total: number }>;
  close(): Promise<void>;
}

const SOURCE = path.join(import.meta.dirname, "tantivy");
const TARGET = path.resolve("node_modules/.cache/kb-bench-tantivy");
const PROGRAM = path.join(TARGET, "release/kb-bench-tantivy");

/** Builds the peer with cargo, some minutes the first time; answers false where there is no cargo. */
export function buildTantivy(): boolean {
  try {
    execFileSync("cargo", ["--version"], { stdio: "ignore" });
  } catch {
    return false;
  }
  const manifest = path.join(SOURCE, "Cargo.toml");
  execFileSync("cargo", ["build", "--release", "--locked", "--quiet", "--manifest-path", manifest], {
    env: { ...process.env, CARGO_TARGET_DIR: TARGET },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return true;
}

/** Indexes the documents of a corpus in a folder, unless it is there already; answers with the items per second. */
export async function fillTantivy(folder: string, corpus: Corpus, items: number): Promise<number | undefined> {
  if (existsSync(folder)) return undefined;
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  const child = spawn(PROGRAM, ["build", unfinished], { stdio: ["pipe", "pipe", "inherit"] });
  const answer = firstLine(child);
  let i = 0;
  for (const { document } of corpus.documents(0, items)) {
    const terms = wordsOf(document.text.terms, document.text.weights);
    const line = { terms, principals: corpus.principalsOf(i++), updatedAt: document.updatedAt };
    if (!child.stdin.write(`${JSON.stringify(line)}\n`)) await once(child.stdin, "drain");
  }
  child.stdin.end();
  const seconds = Number(await answer);
  renameSync(unfinished, folder);
  return Math.round(items / seconds);
}

/** The peer as a process that answers one question after another. */
export function openTantivy(folder: string): Tantivy {
  const child = spawn(PROGRAM, ["search", folder], { stdio: ["pipe", "pipe", "inherit"] });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async search({ order, minimum, access, words, principals }) {
      const { units } = parseQuery(words.join(" "));
      const terms = units.flatMap((unit) => (unit.type === "word" ? [unit.term] : []));
      const numbers = principals.map((principal) => Number(principal.slice(1)));
      child.stdin.write(
        `${JSON.stringify({ order, minimum: minimum ?? terms.length, access, terms, principals: numbers })}\n`,
      );
      const answer = await answers.next();
      if (answer.done === true) throw new Error("Tantivy ended");
      return JSON.parse(answer.value);
    },
    async close() {
      child.stdin.end();
      await once(child, "exit");
    },
  };
}

async function firstLine(child: ChildProcess): Promise<string> {
  if (child.stdout === null) throw new Error("no standard output");
  for await (const line of createInterface({ input: child.stdout })) return line;
  throw new Error("Tantivy ended");
}

/** Each term as often as it counts; exact forms (`=running`) serve quoted words, which the peer isn't asked for. */
function wordsOf(terms: string, weights: Uint8Array): string {
  return terms
    .split("\n")
    .flatMap((term, i) => (term.startsWith("=") ? [] : Array.from({ length: weights[i] ?? 0 }, () => term)))
    .join(" ");
}
