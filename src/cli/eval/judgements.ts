/** Judgement files: which items answer a query. TREC qrels with their queries, or YAML. */
import { createHash } from "node:crypto";
import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  parseDocument,
  type Document,
  type Node,
  type Pair,
} from "yaml";
import { usageFailure } from "#cli/host/failure.ts";
import { linesOf, makeBadLines, quoted, readText, type BadLines } from "./text-lines.ts";

/** A query and the items that answer it. */
export interface Judged {
  /** The topic in the qrels. In YAML, the query's `id`, or an id derived from the query. It has no spaces. */
  id: string;
  question: string;
  /** Grades by item as named in the file: by kbId, URL, key, path or title. 0 means not relevant. */
  grades: Map<string, number>;
}

export interface Judgements {
  questions: Judged[];
  /** Topics of the qrels that aren't in the file of queries. */
  withoutQuestion: string[];
}

/** Maximum length of a name by which the server looks up an item. */
const MAX_NAME = 2_000;
const MAX_QUESTION = 1_000;
const MAX_GRADE = 1_000;

/**
 * Reads judgements: YAML if the file extension says so, otherwise qrels, whose queries are in the file `queries`.
 *
 * @throws CliFailure 2 that lists the bad lines
 */
export async function readJudgements(file: string, queries: string | undefined, cwd: string): Promise<Judgements> {
  const isYaml = /\.ya?ml$/i.test(file);
  if (isYaml && queries !== undefined) throw usageFailure("--queries belongs to qrels; YAML has its own questions.");
  const text = await readText(file, cwd);
  if (!isYaml && queries === undefined) {
    throw usageFailure(
      `${file} has judgements by topic (qrels), without the questions. Give them with --queries FILE: a topic, a tab and the question on each line.`,
      "To keep both in one file, use YAML: its name ends in .yaml.",
    );
  }
  const found =
    queries === undefined
      ? { questions: parseYaml(file, text), withoutQuestion: [] }
      : join(parseQueries(queries, await readText(queries, cwd)), parseQrels(file, text));
  if (found.questions.length === 0) {
    throw usageFailure(
      found.withoutQuestion.length > 0
        ? `${queries} has no question for any topic of ${file}.`
        : `${file} has no judged questions.`,
    );
  }
  return found;
}

function join(questions: ReadonlyMap<string, string>, grades: ReadonlyMap<string, Map<string, number>>): Judgements {
  const joined: Judgements = { questions: [], withoutQuestion: [] };
  for (const [id, items] of grades) {
    const question = questions.get(id);
    if (question === undefined) joined.withoutQuestion.push(id);
    else joined.questions.push({ id, question, grades: items });
  }
  return joined;
}

/** Parses columns `topic iteration item grade`; an item may contain spaces. A grade of 0 or less means not relevant. */
function parseQrels(file: string, text: string): Map<string, Map<string, number>> {
  const topics = new Map<string, Map<string, number>>();
  const bad = makeBadLines();
  for (const { line, text: row } of linesOf(text)) {
    const [, topic = "", item = "", last = ""] = /^(\S+)\s+\S+\s+(\S.*?)\s+(\S+)$/.exec(row) ?? [];
    const grade = gradeOf(last);
    const why =
      topic === ""
        ? "not four columns (topic, iteration, item, grade)"
        : grade === undefined
          ? `the grade ${quoted(last)} is not a number up to ${MAX_GRADE}`
          : whyNotName(item);
    if (why !== undefined || grade === undefined) bad.push({ line, why: why ?? "" });
    else addGrade(mapOf(topics, topic), item, grade);
  }
  bad.refuse(file);
  return topics;
}

/** Parses lines with a topic, a tab and the topic's query. */
function parseQueries(file: string, text: string): Map<string, string> {
  const questions = new Map<string, string>();
  const bad = makeBadLines();
  for (const { line, text: row } of linesOf(text)) {
    const [, topic = "", question = ""] = /^(\S+)\t\s*(\S.*)$/.exec(row) ?? [];
    if (topic === "") bad.push({ line, why: "not a topic, a tab and a question" });
    else if (questions.has(topic)) bad.push({ line, why: `the topic ${quoted(topic)} is there already` });
    else if (question.length > MAX_QUESTION) bad.push({ line, why: TOO_LONG });
    else questions.set(topic, question);
  }
  bad.refuse(file);
  return questions;
}

const TOO_LONG = `the question is longer than ${MAX_QUESTION} characters`;

/** Parses `question: [items]`, or a list of `{id, question, items}`; an item is a name, or `{item, grade}`. */
function parseYaml(file: string, text: string): Judged[] {
  const lines = new LineCounter();
  const document = parsed(file, text, lines);
  const bad = makeBadLines();
  for (const { pos, message } of document.errors) {
    bad.push({ line: lines.linePos(pos[0]).line, why: message.split("\n", 1)[0] ?? "" });
  }
  bad.refuse(file);
  const reader = makeReader(bad, (node) => lines.linePos(node.range?.[0] ?? 0).line);
  const { contents } = document;
  if (isMap(contents)) for (const pair of contents.items) reader.addPair(pair as Pair<Node, Node | null>);
  else if (isSeq(contents)) for (const node of contents.items) reader.addRecord(node as Node);
  else bad.push({ line: 1, why: "not a mapping of questions to items, and not a list of questions" });
  bad.refuse(file);
  return reader.questions;
}

/** Maximum nesting; judgements have four levels. */
const MAX_DEPTH = 1_000;

/** Checks the nesting first, because the parser needs almost a kilobyte per level. */
function isTooDeep(text: string): boolean {
  let brackets = 0;
  let dashes = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === "[" || token === "{") brackets++;
    else if (token === "]" || token === "}") brackets--;
    else if (token === "-") dashes++;
    else if (token.endsWith("\n")) dashes = 0;
    if (brackets + dashes > MAX_DEPTH) return true;
  }
  return false;
}

function parsed(file: string, text: string, lineCounter: LineCounter): Document {
  if (isTooDeep(text)) throw usageFailure(`${file} is nested too deeply.`);
  try {
    // The reader checks for duplicate keys, because the parser compares each key with all keys before it.
    return parseDocument(text, { lineCounter, uniqueKeys: false, prettyErrors: false, schema: "failsafe" });
  } catch (cause) {
    // The parser recurses for each level, so deep nesting exhausts the stack.
    if (cause instanceof RangeError) throw usageFailure(`${file} is nested too deeply.`);
    throw cause;
  }
}

/** Makes a reader that collects queries from nodes, and errors in `bad`. */
function makeReader(bad: BadLines, lineOf: (node: Node) => number) {
  const questions: Judged[] = [];
  const seen = new Map<string, number>();

  function refuse(node: Node, why: string): void {
    bad.push({ line: lineOf(node), why });
  }

  function textOf(node: unknown): string | undefined {
    return isScalar(node) && typeof node.value === "string" && node.value.trim() !== "" ? node.value.trim() : undefined;
  }

  function add(at: Node, id: string | undefined, question: string | undefined, items: unknown): void {
    if (question === undefined) return refuse(at, "no question");
    if (question.length > MAX_QUESTION) return refuse(at, TOO_LONG);
    if (id !== undefined && /\s/.test(id)) return refuse(at, `the id ${quoted(id)} has a space in it`);
    const name = id ?? idOf(question);
    const former = seen.get(name);
    if (former !== undefined) {
      return refuse(at, `the same ${id === undefined ? "question" : "id"} as in line ${former}`);
    }
    seen.set(name, lineOf(at));
    const grades = new Map<string, number>();
    for (const node of isSeq(items) ? items.items : [items]) addItem(grades, (node as Node | null) ?? at, at);
    questions.push({ id: name, question, grades });
  }

  function addItem(grades: Map<string, number>, node: Node, at: Node): void {
    const item = isMap(node) ? textOf(node.get("item", true)) : textOf(node);
    const grade = isMap(node) ? gradeOf(textOf(node.get("grade", true)) ?? "1") : 1;
    if (isAlias(node)) return refuse(at, "aliases (*name) are not read");
    if (item === undefined) return refuse(node, "not an item: write a kbId, a URL or a title, or {item, grade}");
    if (grade === undefined) return refuse(node, `the grade is not a number up to ${MAX_GRADE}`);
    const why = whyNotName(item);
    if (why !== undefined) return refuse(node, why);
    addGrade(grades, item, grade);
  }

  return {
    questions,
    addPair: ({ key, value }: Pair<Node, Node | null>): void => add(key, undefined, textOf(key), value),
    addRecord(node: Node): void {
      if (!isMap(node)) return refuse(node, "not a question: write question: and items:");
      const known = new Set(["id", "question", "items"]);
      const strange = node.items.map(({ key }) => textOf(key)).find((key) => key === undefined || !known.has(key));
      if (strange !== undefined) return refuse(node, `${quoted(strange)} is not one of id, question, items`);
      add(node, textOf(node.get("id", true)), textOf(node.get("question", true)), node.get("items", true));
    },
  };
}

/** Returns an id that is the same for the same query at any position in the file, so that runs can be compared. */
function idOf(question: string): string {
  return `q-${createHash("sha256").update(question).digest("hex").slice(0, 12)}`;
}

function gradeOf(text: string): number | undefined {
  if (!/^-?\d{1,4}(\.\d{1,6})?$/.test(text)) return undefined;
  const grade = Number(text);
  return grade <= MAX_GRADE ? Math.max(0, grade) : undefined;
}

function whyNotName(item: string): string | undefined {
  return item.length > MAX_NAME ? `the item is longer than ${MAX_NAME} characters` : undefined;
}

/** Adds a grade. An item that is judged twice gets the higher grade. */
export function addGrade(grades: Map<string, number>, item: string, grade: number): void {
  grades.set(item, Math.max(grade, grades.get(item) ?? 0));
}

function mapOf(topics: Map<string, Map<string, number>>, topic: string): Map<string, number> {
  const known = topics.get(topic);
  if (known !== undefined) return known;
  const fresh = new Map<string, number>();
  topics.set(topic, fresh);
  return fresh;
}
