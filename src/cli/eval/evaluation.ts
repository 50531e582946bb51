/** Measures the live search against judgements, and against an earlier run. */
import type { Api } from "#cli/calls/api.ts";
import { CliFailure } from "#cli/host/failure.ts";
import { askSearch, findJudged, forEachOf, type Asking, type Missing } from "./ask.ts";
import { addGrade, type Judged } from "./judgements.ts";
import { chanceOf, meanOf, scoresOf, type Measure, type Scores } from "./measures.ts";
import type { Run } from "./run-file.ts";

export interface Evaluation {
  /** How many hits of each query are judged. */
  k: number;
  /** The mean values; null when no query could be judged. */
  measures: Scores | null;
  questions: QuestionResult[];
  /** Judged items that weren't found; the measures exclude them. Hidden and nonexistent items can't be distinguished. */
  missing: { item: string; reason: Missing; questions: number }[];
  /** Queries without an existing relevant item: the measures exclude them. */
  leftOut: { id: string; question: string }[];
  /** Queries that the search rejected: the measures exclude them. */
  failed: { id: string; question: string; code: string; message: string }[];
  /** kbIds by query, as returned by the search. */
  run: Run;
  /** Grades by query, then by kbId. */
  grades: ReadonlyMap<string, ReadonlyMap<string, number>>;
  /** The kbId of each judged name that was found. */
  kbIds: ReadonlyMap<string, string>;
}

export interface QuestionResult extends Scores {
  id: string;
  question: string;
  /** Number of relevant items that exist. */
  relevant: number;
}

export type OnStep = (label: "Asking" | "Looking up", done: number, total: number) => void;

/** Runs every query and judges the answers. Throws CliFailure when the server can't be reached or rejects the caller. */
export async function evaluate(
  api: Api,
  deps: Asking,
  judged: readonly Judged[],
  k: number,
  onStep: OnStep,
): Promise<Evaluation> {
  const failed: Evaluation["failed"] = [];
  const run = await askAll(api, deps, judged, k, onStep, (failure) => failed.push(failure));
  const asked = judged.filter(({ id }) => run.has(id));
  const { kbIds, missing } = await lookUp(api, deps, asked, run, onStep);
  const questions: QuestionResult[] = [];
  const leftOut: Evaluation["leftOut"] = [];
  const gradesOf = new Map<string, Map<string, number>>();
  for (const { id, question, grades: byName } of asked) {
    const grades = new Map<string, number>();
    for (const [item, grade] of byName) {
      const kbId = kbIds.get(item);
      if (kbId !== undefined) addGrade(grades, kbId, grade);
    }
    const relevant = [...grades.values()].filter((grade) => grade > 0).length;
    gradesOf.set(id, grades);
    if (relevant === 0) leftOut.push({ id, question });
    else questions.push({ id, question, ...scoresOf(run.get(id) ?? [], grades, k), relevant });
  }
  const measures = questions.length === 0 ? null : meanOf(questions);
  return { k, measures, questions, missing, leftOut, failed, run, grades: gradesOf, kbIds };
}

async function askAll(
  api: Api,
  deps: Asking,
  judged: readonly Judged[],
  k: number,
  onStep: OnStep,
  onFailure: (failure: Evaluation["failed"][number]) => void,
): Promise<Run> {
  const answers = new Map<string, string[]>();
  let done = 0;
  await forEachOf(judged, async ({ id, question }) => {
    try {
      answers.set(id, await askSearch(api, deps, question, k));
    } catch (error) {
      // A failure that concerns only this query: it was too slow, or the search rejected it.
      if (!(error instanceof CliFailure) || !OF_ONE_QUESTION.has(error.code)) throw error;
      onFailure({ id, question, code: error.code, message: error.message });
    }
    onStep("Asking", ++done, judged.length);
  });
  // In the order of the judgements, even if the answers arrived in another order.
  const run: Run = new Map();
  for (const { id } of judged) {
    const items = answers.get(id);
    if (items !== undefined) run.set(id, items);
  }
  return run;
}

const OF_ONE_QUESTION = new Set(["search_timeout", "invalid_argument", "no_such_person", "invalid_request"]);

/** Looks up every judged name once. A kbId that the search returned is known to exist. */
async function lookUp(
  api: Api,
  deps: Asking,
  judged: readonly Judged[],
  run: Run,
  onStep: OnStep,
): Promise<Pick<Evaluation, "kbIds" | "missing">> {
  const found = new Set([...run.values()].flat());
  const asking = new Map<string, number>();
  for (const { grades } of judged) for (const name of grades.keys()) asking.set(name, (asking.get(name) ?? 0) + 1);
  const kbIds = new Map<string, string>();
  for (const name of asking.keys()) if (found.has(name)) kbIds.set(name, name);
  const unknown = [...asking.keys()].filter((name) => !kbIds.has(name));
  const reasons = new Map<string, Missing>();
  let done = 0;
  await forEachOf(unknown, async (name) => {
    const meant = await findJudged(api, deps, name);
    if (typeof meant === "object") kbIds.set(name, meant.kbId);
    else reasons.set(name, meant);
    onStep("Looking up", ++done, unknown.length);
  });
  const missing = unknown.flatMap((item) => {
    const reason = reasons.get(item);
    return reason === undefined ? [] : [{ item, reason, questions: asking.get(item) ?? 0 }];
  });
  return { kbIds, missing };
}

export interface Comparison {
  /** Number of queries answered in both runs; the others aren't compared. */
  compared: number;
  notCompared: number;
  /** Means over the compared queries. `chance` is the p-value of a paired randomization test. */
  measures: Record<Measure, { before: number; now: number; chance: number }>;
  /** Queries by their change in nDCG, the largest change first. */
  changed: { id: string; question: string; before: number; now: number }[];
}

/** Compares with an earlier run of the same queries, whose items may be named as in the judgements. Null when the runs share no query. */
export function compareRuns({ questions, grades, kbIds, k }: Evaluation, earlier: Run): Comparison | null {
  const pairs = questions.flatMap((now) => {
    const ranked = earlier.get(now.id)?.map((name) => kbIds.get(name) ?? name);
    return ranked === undefined ? [] : [{ now, before: scoresOf(ranked, grades.get(now.id) ?? new Map(), k) }];
  });
  if (pairs.length === 0) return null;
  const before = meanOf(pairs.map((pair) => pair.before));
  const now = meanOf(pairs.map((pair) => pair.now));
  const compared = (measure: Measure) => ({
    before: before[measure],
    now: now[measure],
    chance: chanceOf(pairs.map((pair) => pair.now[measure] - pair.before[measure])),
  });
  const changeOf = (pair: (typeof pairs)[number]): number => pair.now.ndcg - pair.before.ndcg;
  return {
    compared: pairs.length,
    notCompared: questions.length - pairs.length,
    measures: {
      ndcg: compared("ndcg"),
      mrr: compared("mrr"),
      recall: compared("recall"),
      success: compared("success"),
    },
    changed: pairs
      .filter((pair) => changeOf(pair) !== 0)
      .toSorted((a, b) => Math.abs(changeOf(b)) - Math.abs(changeOf(a)))
      .map((pair) => ({
        id: pair.now.id,
        question: pair.now.question,
        before: pair.before.ndcg,
        now: pair.now.ndcg,
      })),
  };
}
