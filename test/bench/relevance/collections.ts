/** Collections with judged questions: what a ranking is measured on. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

export interface Collection {
  name: string;
  documents: readonly { id: string; title: string; text: string }[];
  /** `id` counts from 1: factors are chosen on odd questions and reported on even ones. */
  questions: readonly { id: number; text: string; relevant: ReadonlySet<string> }[];
}

/**
 * The collections that can be read here: Cranfield where its folder is given (1,400 abstracts, questions of people, judged
 * by hand), and two that every checkout has, in which a question has one answer: the README of an installed package by the
 * package's description, and a source file by the comment on the first thing that it declares. The answer's own copy of
 * the question is taken out of it.
 */
export function readCollections(cranfield: string | undefined): Collection[] {
  return [
    ...(cranfield === undefined ? [] : [readCranfield(cranfield)]),
    readPackages("node_modules"),
    readSources("src"),
  ];
}

/** `cran.all.1400`, `cran.qry` and `cranqrel`; judgements taken as relevant or not. */
function readCranfield(folder: string): Collection {
  const read = (name: string) => readFileSync(path.join(folder, name), "utf8").replaceAll("\r", "");
  const records = (text: string) => text.split(/^\.I /m).slice(1);
  const field = (record: string, name: string) =>
    (new RegExp(`^\\.${name}\\n([\\s\\S]*?)(?=^\\.[A-Z]\\n|(?![\\s\\S]))`, "m").exec(record)?.[1] ?? "").trim();
  const relevant = new Map<number, Set<string>>();
  for (const line of read("cranqrel").trim().split("\n")) {
    const [question = "", , document = "", code = ""] = line.trim().split(/\s+/);
    if (Number(code) < 1 || Number(code) > 4) continue;
    const known = relevant.get(Number(question)) ?? new Set();
    relevant.set(Number(question), known.add(document));
  }
  return {
    name: "Cranfield",
    documents: records(read("cran.all.1400")).map((record) => ({
      id: String(Number.parseInt(record, 10)),
      title: field(record, "T"),
      text: field(record, "W"),
    })),
    // Judgements number the questions by their place, not by the number written beside them.
    questions: records(read("cran.qry")).map((record, i) => ({
      id: i + 1,
      text: field(record, "W"),
      relevant: relevant.get(i + 1) ?? new Set(),
    })),
  };
}

/** The names of packages are in no question: who looks for one by what it does doesn't know it. */
function readPackages(folder: string): Collection {
  const packages = packageFolders(folder).flatMap((at) => {
    const { name, description } = JSON.parse(readFileSync(path.join(at, "package.json"), "utf8"));
    const readme = readdirSync(at).find((file) => /^readme(\.md)?$/i.test(file));
    if (typeof description !== "string" || typeof name !== "string" || readme === undefined) return [];
    const text = readFileSync(path.join(at, readme), "utf8").slice(0, 20_000);
    return [{ id: name, title: name, text: without(text, description), question: description }];
  });
  return oneAnswer("package descriptions", packages);
}

function packageFolders(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => !name.startsWith("."));
  const all = names.flatMap((name) =>
    name.startsWith("@") ? readdirSync(path.join(folder, name)).map((sub) => path.join(name, sub)) : [name],
  );
  return all.sort().flatMap((name) => {
    const at = path.join(folder, name);
    return existsSync(path.join(at, "package.json")) ? [at] : [];
  });
}

function readSources(folder: string): Collection {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((file) => /\.tsx?$/.test(file) && !file.includes("generated"))
    .sort()
    .flatMap((file) => {
      const text = readFileSync(path.join(folder, file), "utf8");
      const comment = /\/\*\*([\s\S]*?)\*\//.exec(text);
      const words = (comment?.[1] ?? "").replace(/^\s*\*/gm, " ").replace(/@\w+|Source: .*/g, " ");
      const question = words.replace(/\s+/g, " ").trim();
      return [{ id: file, title: path.basename(file), text: text.replace(comment?.[0] ?? "", ""), question }];
    });
  return oneAnswer("code comments", files);
}

interface Answered {
  id: string;
  title: string;
  text: string;
  question: string;
}

/** Questions of three words and more; the same one twice has two answers. */
function oneAnswer(name: string, items: readonly Answered[]): Collection {
  const answers = new Map<string, Set<string>>();
  for (const { id, question } of items) {
    if (question.split(" ").length >= 3) answers.set(question, (answers.get(question) ?? new Set()).add(id));
  }
  const questions = [...answers].map(([text, relevant], i) => ({ id: i + 1, text, relevant }));
  return { name, documents: items.map(({ id, title, text }) => ({ id, title, text })), questions };
}

/** Without the lines that repeat the question. */
function without(text: string, question: string): string {
  const plain = (line: string) =>
    line
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, " ")
      .trim();
  const said = plain(question);
  return text
    .split("\n")
    .filter((line) => !plain(line).includes(said) && (plain(line) === "" || !said.includes(plain(line))))
    .join("\n");
}
