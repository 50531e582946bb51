/**
 * The long form of the kill test: `npx tsx test/long/sync-kill.ts ROOT [KILLS] [--each] [--seed N] [--calm FILE]` syncs the folder once
 * in peace and once killed KILLS times (10) at random moments of one run, or with `--each` killed once in each of KILLS
 * runs, and compares the end states: the digest of all records and 500 questions. Prints the figures; exit code 1 when
 * states differ or a kill met no running sync. `--calm` names the database of the calm run, which is kept there and used
 * again by the next run over the same folder.
 *
 * `npx tsx test/long/sync-kill.ts --reference [ROUNDS] [--seed N]` (after `npm run build`) does it with the reference source,
 * its people and its changes: in each round (1) ten kills over four passes, each with a random request and a moment later.
 * Compared are the records and what the runs counted.
 */
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { isDeepStrictEqual, parseArgs } from "node:util";
import { makeRandom } from "../extract/mutations.ts";
import { answersOf, drawQuestions, firstDifference, type Answer, type Question } from "../server/sync/kill/queries.ts";
import { syncReference } from "../server/sync/kill/reference.ts";
import { endStateOf, syncKilling, type EndState, type KilledSync, type KillMoment } from "../server/sync/kill/run.ts";

const QUESTIONS = 500;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    each: { type: "boolean", default: false },
    seed: { type: "string" },
    calm: { type: "string" },
    reference: { type: "boolean", default: false },
  },
});
const seed = Number(values.seed ?? Date.now() % 1_000_000);
const random = makeRandom(seed);
const dir = mkdtempSync(join(tmpdir(), "kb-sync-kill-"));
try {
  if (values.reference) await killReference(Number(positionals[0] ?? 1));
  else await killFolder(positionals);
} finally {
  rmSync(dir, { recursive: true, force: true });
}

async function killFolder([root, kills = "10"]: string[]): Promise<void> {
  if (root === undefined) throw new Error("Usage: sync-kill.ts ROOT [KILLS] [--each] [--seed N] [--calm FILE]");
  say(`seed ${seed}; ${describeFolder(root)}`);
  const calmFile = values.calm ?? join(dir, "calm.db");
  const calm = existsSync(calmFile) ? await endStateOf(calmFile) : await syncCalmly(calmFile, root);
  say(`calm: ${calm.items} items, digest ${calm.digest}`);
  const moments = drawMoments(Number(kills), calm.items);
  let asked: Asked | undefined;
  const runs = values.each ? moments.map((moment) => [moment]) : [moments];
  for (const [at, run] of runs.entries()) {
    const file = join(dir, `killed-${at}.db`);
    const killed = await syncKilling(file, root, run);
    const { questions, answers } = (asked ??= await askCalm(calmFile));
    const difference = firstDifference(answers, await answersOf(file, questions));
    const isSame = killed.digest === calm.digest && difference === undefined;
    say(`${describeRun(run, killed)}: ${isSame ? "same end state" : "DIFFERENT end state"}`);
    if (killed.digest !== calm.digest) say("  the records differ");
    if (difference !== undefined) say(`  ${difference}`);
    if (!isSame || killed.hits.length < run.length) process.exitCode = 1;
    for (const suffix of ["", "-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
  }
}

async function killReference(rounds: number): Promise<void> {
  say(`seed ${seed}; the reference source`);
  const ends: (() => void)[] = [];
  const atEnd = (end: () => void) => void ends.push(end);
  try {
    const calm = await syncReference({ file: join(dir, "calm.db"), atEnd });
    const program = ["--import", "tsx", join(import.meta.dirname, "../server/sync/kill/reference-child.ts")];
    for (let round = 0; round < rounds; round++) {
      const passes = [4, 3, 2, 1].map((kills, at) =>
        Array.from({ length: kills }, () => ({
          requests: 1 + Math.floor((random() * (calm.requests[at] ?? 0)) / kills),
          delayMs: random() * 40,
        })),
      );
      const kills = { program, passes, hasThread: true };
      const killed = await syncReference({ file: join(dir, `killed-${round}.db`), kills, atEnd });
      const differing = Object.keys(calm.rows).filter((name) => !isDeepStrictEqual(calm.rows[name], killed.rows[name]));
      if (!isDeepStrictEqual(calm.runs, killed.runs)) differing.push("runs");
      const said = differing.length === 0 ? "same end state" : `DIFFERENT ${differing.join(", ")}`;
      say(`round ${round + 1}: ${killed.hits} kills met work, ${calm.runs.length} runs: ${said}`);
      for (const name of differing) tellDifference(calm.rows[name] ?? calm.runs, killed.rows[name] ?? killed.runs);
      if (differing.length > 0) process.exitCode = 1;
    }
  } finally {
    for (const end of ends) end();
  }
}

function tellDifference(wanted: readonly string[], got: readonly string[]): void {
  for (const row of wanted) if (!got.includes(row)) say(`  - ${row}`);
  for (const row of got) if (!wanted.includes(row)) say(`  + ${row}`);
}

async function syncCalmly(file: string, folder: string): Promise<EndState> {
  const calm = await syncKilling(file, folder, []);
  say(`calm: ${Math.round(calm.tookMs)} ms, ${Math.round((calm.items * 1_000) / calm.tookMs)} items/s`);
  return calm;
}

interface Asked {
  questions: Question[];
  answers: Answer[];
}

async function askCalm(file: string): Promise<Asked> {
  const questions = await drawQuestions(file, QUESTIONS, makeRandom(seed));
  const answers = await answersOf(file, questions);
  say(describeQuestions(questions, answers));
  return { questions, answers };
}

/** One moment in each equal part of the run, in order; the first may come before the first item. */
function drawMoments(count: number, items: number): KillMoment[] {
  return Array.from({ length: count }, (_, at) => ({
    items: at === 0 ? 0 : Math.floor(((at + random()) / count) * items * 0.99),
    delayMs: random() * 400,
  }));
}

function describeRun(run: readonly KillMoment[], { hits, items, digest, tookMs, requests }: KilledSync): string {
  const at = hits.length === 0 ? "" : `, with ${hits.join(", ")} items in the file`;
  const rest = `${items} items in ${requests} run${requests === 1 ? "" : "s"}, the last run ${Math.round(tookMs)} ms, digest ${digest.slice(0, 12)}`;
  return `${hits.length} of ${run.length} kills met the running sync${at}; ${rest}`;
}

function describeQuestions(questions: readonly Question[], answers: readonly Answer[]): string {
  const counts = countEach(questions.map(({ form }) => form)).join(", ");
  const hits = answers.reduce((sum, answer) => sum + answer.hits.length, 0);
  const found = answers.filter(({ total }) => total > 0).length;
  return `${questions.length} questions (${counts}): ${found} find something, ${hits} hits to compare`;
}

function describeFolder(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const bytes = files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
  const types = countEach(files.map(({ name }) => extname(name).toLowerCase() || "none"));
  return `${files.length} files of ${types.length} types, ${bytes} bytes: ${types.slice(0, 12).join(", ")}`;
}

/** "3 md", the most frequent first. */
function countEach(names: readonly string[]): string[] {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return [...counts].toSorted((a, b) => b[1] - a[1]).map(([name, count]) => `${count} ${name}`);
}

function say(line: string): void {
  process.stdout.write(`${new Date().toISOString()} ${line}\n`);
}
