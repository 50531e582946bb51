/** Runs in TREC's format, for trec_eval and similar tools: `topic Q0 item rank score name` on each line. */
import { linesOf, makeBadLines, quoted } from "./text-lines.ts";

/** Ranked items by topic, best first. */
export type Run = Map<string, string[]>;

const NAME = "kb";

/** Returns the text of a run file. The scores are made up from the rank, because a search returns only the order. */
export function formatRun(run: ReadonlyMap<string, readonly string[]>): string {
  const lines: string[] = [];
  for (const [topic, items] of run) {
    items.forEach((item, at) => lines.push(`${topic} Q0 ${item} ${at + 1} ${items.length - at} ${NAME}\n`));
  }
  return lines.join("");
}

/** Reads a run file. Like trec_eval, it sorts by score and ignores the rank. Throws a usage failure that lists the bad lines. */
export function parseRun(file: string, text: string): Run {
  const scored = new Map<string, { item: string; score: number; line: number }[]>();
  const bad = makeBadLines();
  for (const { line, text: row } of linesOf(text)) {
    const [, topic = "", item = "", last = ""] = /^(\S+)\s+\S+\s+(\S.*?)\s+\S+\s+(\S+)\s+\S+$/.exec(row) ?? [];
    const score = last === "" ? Number.NaN : Number(last);
    if (topic === "") bad.push({ line, why: "not six columns (topic, Q0, item, rank, score, name)" });
    else if (!Number.isFinite(score)) bad.push({ line, why: `the score ${quoted(last)} is not a number` });
    else {
      const items = scored.get(topic) ?? [];
      if (items.length === 0) scored.set(topic, items);
      items.push({ item, score, line });
    }
  }
  bad.refuse(file);
  const run: Run = new Map();
  for (const [topic, items] of scored) {
    const sorted = items.toSorted((a, b) => b.score - a.score || a.line - b.line);
    run.set(topic, [...new Set(sorted.map(({ item }) => item))]);
  }
  return run;
}
