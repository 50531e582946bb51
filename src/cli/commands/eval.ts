/** `kb eval JUDGEMENTS`: measures how well the live search answers queries whose answers are known. */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import { count, plural } from "#api/plural.ts";
import { type CommandData, type InputOf, ownFields, several } from "#cli/line/command.ts";
import { EXIT } from "#cli/host/exit-codes.ts";
import { failure, usageFailure } from "#cli/host/failure.ts";
import { compareRuns, evaluate, type Comparison, type Evaluation } from "#cli/eval/evaluation.ts";
import { readJudgements } from "#cli/eval/judgements.ts";
import { measureName, MEASURES, type Measure } from "#cli/eval/measures.ts";
import { formatRun, parseRun, type Run } from "#cli/eval/run-file.ts";
import { readText } from "#cli/eval/text-lines.ts";
import type { Output } from "#cli/terminal/output.ts";
import { makeProgress } from "#cli/terminal/progress.ts";
import { parseInteger, parsePair } from "#cli/line/values.ts";
import { remoteCommand } from "#cli/calls/remote-command.ts";
import { flexible } from "#cli/terminal/table.ts";

const DEFAULT_K = 10;
/** The largest page of a search. */
const MAX_K = 50;
const SHOWN = 10;

const EVAL = {
  summary: "Measure the live search with questions whose answers you know.",
  details:
    "JUDGEMENTS is YAML (question: [items], each a kbId, URL, key, path or title) or TREC qrels, whose questions are in --queries: a topic, a tab and the question on each line. Items that aren't there or that you can't see are listed and left out. --save writes the run in TREC's form; --compare shows what changed since that run, with the probability (p) that it is chance.",
  arguments: { "<judgements>": "a .yaml file, or qrels" },
  options: {
    "--queries <file>": "the file with the questions for qrels",
    "--k <n>": `how many hits count, 1 to ${MAX_K} (default: ${DEFAULT_K})`,
    "--min <measure=value>": several("exit with 1 if a measure is below this, as in ndcg=0.4; may be repeated"),
    "--save <file>": "write this run to a file",
    "--compare <file>": "compare with a run that --save wrote",
  },
  examples: ["kb eval questions.yaml", "kb eval qrels.txt --queries queries.tsv --compare before.run --min ndcg=0.4"],
  exitCodes: [6, 8, 130],
  fields: ownFields<EvaluationJson>("k", "measures", "questions", "missing", "leftOut", "failed", "comparison"),
} as const satisfies CommandData;

/** The output of `--json`. */
interface EvaluationJson extends Omit<Evaluation, "run" | "grades" | "kbIds"> {
  comparison?: Comparison | null;
}

/** Runs every query of a judgement file. Exit code 1 if a measure is below its `--min`, 8 if the search rejected queries. */
export const evaluateSearch = remoteCommand(EVAL, async ({ api, output, args, options, deps }) => {
  const { queries, save } = options;
  const k = parseInteger(options.k, "--k", 1, MAX_K) ?? DEFAULT_K;
  const floors = options.min.map(parseFloor);
  const judged = await readJudgements(args.judgements, queries, deps.cwd);
  const before = await readRun({ args, options }, deps.cwd);
  let progress: { label: string; show: ReturnType<typeof makeProgress> } | undefined;
  const evaluation = await evaluate(api, deps, judged.questions, k, (label, done, total) => {
    if (progress?.label !== label) {
      progress?.show.stop();
      progress = { label, show: makeProgress(deps, label, label === "Asking" ? "questions" : "items") };
    }
    progress.show.update({ done, total });
  }).finally(() => progress?.show.stop());
  if (save !== undefined) await saveRun(resolve(deps.cwd, save), evaluation.run);
  const comparison = before === undefined ? undefined : compareRuns(evaluation, before);
  const { run: _run, grades: _grades, kbIds: _kbIds, ...shown } = evaluation;
  const json: EvaluationJson = { ...shown, ...(comparison !== undefined && { comparison }) };
  output.result(json, () => print(evaluation, comparison, output));
  talkOfOmissions(evaluation, judged.withoutQuestion, output);
  return verdict(evaluation, floors, output);
});

type EvalInput = InputOf<typeof EVAL>;

async function readRun({ options: { compare } }: EvalInput, cwd: string): Promise<Run | undefined> {
  return compare === undefined ? undefined : parseRun(compare, await readText(compare, cwd));
}

async function saveRun(path: string, run: Run): Promise<void> {
  await writeFile(path, formatRun(run)).catch((cause: Error) => {
    throw usageFailure(`Can't write ${path}: ${cause.message}.`);
  });
}

interface Floor {
  measure: Measure;
  value: number;
}

function parseFloor(text: string): Floor {
  const [name, number] = parsePair(text, "--min");
  const measure = MEASURES.find((each) => each === name);
  const value = number.trim() === "" ? Number.NaN : Number(number);
  if (measure === undefined) throw usageFailure(`--min "${name}" is not one of ${MEASURES.join(", ")}.`);
  if (!(value >= 0 && value <= 1)) throw usageFailure(`--min ${name}: "${number}" is not a number from 0 to 1.`);
  return { measure, value };
}

function print(
  { questions, measures, k }: Evaluation,
  comparison: Comparison | null | undefined,
  output: Output,
): void {
  output.record([
    ["questions", count(questions.length)],
    ...MEASURES.map(
      (measure) => [measureName(measure, k), measures === null ? "" : digits(measures[measure])] as const,
    ),
  ]);
  if (comparison === null) output.talk("The run to compare with has none of these questions.");
  if (comparison === null || comparison === undefined) return;
  output.line("");
  output.table(
    MEASURES.map((measure) => ({ measure, ...comparison.measures[measure] })),
    {
      measure: ({ measure }) => measureName(measure, k),
      before: ({ before }) => digits(before),
      now: ({ now }) => digits(now),
      change: ({ before, now }) => signed(now - before),
      p: ({ chance }) => digits(chance),
    },
    "",
  );
  output.line("");
  output.table(
    comparison.changed.slice(0, SHOWN),
    {
      change: ({ before, now }) => signed(now - before),
      before: ({ before }) => digits(before),
      now: ({ now }) => digits(now),
      question: flexible(({ question }) => question),
    },
    "No question changed.",
  );
  const rest = comparison.changed.length - SHOWN;
  if (rest > 0) output.talk(`${plural(rest, "more question")} changed: --json comparison`);
  if (comparison.notCompared > 0) {
    output.talk(
      `${plural(comparison.notCompared, "question")} of these ${isAre(comparison.notCompared)} not in the earlier run.`,
    );
  }
}

function talkOfOmissions({ missing, leftOut, failed }: Evaluation, withoutQuestion: string[], output: Output): void {
  const say = (lines: readonly string[], heading: string): void => {
    if (lines.length === 0) return;
    const rest = lines.length > SHOWN ? [`  and ${count(lines.length - SHOWN)} more`] : [];
    output.talk([heading, ...lines.slice(0, SHOWN).map((line) => `  ${line}`), ...rest].join("\n"));
  };
  const named = (isWanted: (item: Evaluation["missing"][number]) => boolean): string[] =>
    missing.filter(isWanted).map(({ item }) => item);
  const hidden = named(({ reason }) => reason === "not_found");
  const ambiguous = named(({ reason }) => reason === "ambiguous");
  say(hidden, `Left out: ${plural(hidden.length, "judged item")} not found, or not visible to you:`);
  say(ambiguous, `Left out: ${plural(ambiguous.length, "name")} that several items have. Write the kbId or the URL:`);
  say(
    leftOut.map(({ question }) => question),
    `Left out: ${plural(leftOut.length, "question")} without a relevant item that you can see:`,
  );
  say(withoutQuestion, `Left out: ${plural(withoutQuestion.length, "topic")} that the file of questions doesn't have:`);
  say(
    failed.map(({ question, message }) => `${question}: ${message}`),
    `The search refused ${plural(failed.length, "question")}:`,
  );
}

function verdict({ measures, failed, k }: Evaluation, floors: readonly Floor[], output: Output): number {
  if (measures === null) {
    throw failure(
      "failure",
      "nothing_judged",
      "None of the questions could be judged.",
      "Sign in as someone who can see the judged items: kb whoami",
    );
  }
  const below = floors.filter(({ measure, value }) => measures[measure] < value);
  for (const { measure, value } of below) {
    output.talk(`${measureName(measure, k)} is ${digits(measures[measure])}, below the ${value} that --min asks for.`);
  }
  if (below.length > 0) return EXIT.failure;
  return failed.length > 0 ? EXIT.finishedWithErrors : EXIT.ok;
}

function digits(value: number): string {
  return value.toFixed(4);
}

function signed(value: number): string {
  return `${value > 0 ? "+" : ""}${digits(value)}`;
}

function isAre(value: number): string {
  return value === 1 ? "is" : "are";
}
