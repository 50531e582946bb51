import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { BaseSequencer } from "vitest/node";
import { configDefaults, defineConfig } from "vitest/config";

const ROOT = join(import.meta.dirname, "../..");
const CACHE = join(ROOT, "node_modules/.cache/stryker");
const { KB_MUTATE_AREA: area, KB_MUTATE_SAMPLE: size, KB_MUTATE_SEED: seed, KB_MUTATE_TESTS: tests } = process.env;

const named = tests.split(" ");

/** The order in which they were named: quick ones first spare slow ones what they have killed. */
class AsNamed extends BaseSequencer {
  sort(specifications) {
    const rankOf = ({ moduleId }) => named.findIndex((path) => moduleId.includes(`/${path}`));
    return specifications.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

const { files, mutants } = await instrument(area);
const ranked = mutants.toSorted((a, b) => (rankOf(a) < rankOf(b) ? -1 : 1));
const sample = ranked.slice(0, size === "all" ? undefined : Number(size));

/** Runs the tests of an area on its instrumented files, and each of them again on every change that it reaches. */
export default defineConfig({
  root: ROOT,
  plugins: [{ name: "mutants", enforce: "pre", load: (id) => files.get(id.split("?")[0]) }],
  test: {
    include: named.map((path) => (path.endsWith(".ts") ? path : `${path}/**/*.test.ts`)),
    exclude: [...configDefaults.exclude, "test/**/*.system.test.ts"],
    setupFiles: ["test/setup.ts", "test/mutation/setup.mjs"],
    runner: join(import.meta.dirname, "runner.mjs"),
    provide: { sample: sample.map(({ id }) => id) },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    pool: "forks",
    maxWorkers: 1,
    maxConcurrency: 1,
    // One process: what a test has killed, the next ones leave out.
    isolate: false,
    sequence: { sequencer: AsNamed },
    reporters: ["dot", { onTestRunEnd: report }],
  },
});

async function instrument(path) {
  const from = createRequire(join(CACHE, "node_modules/@stryker-mutator/core/package.json"));
  const load = (name) => import(pathToFileURL(from.resolve(name)).href);
  const [{ createInjector }, { createInstrumenter }, { commonTokens }] = [
    await load("typed-inject"),
    await load("@stryker-mutator/instrumenter"),
    await load("@stryker-mutator/api/plugin"),
  ];
  const warn = (...words) => void process.stderr.write(`${words.join(" ")}\n`);
  const logger = { debug() {}, info() {}, warn, isDebugEnabled: () => false };
  const instrumenter = createInjector().provideValue(commonTokens.logger, logger).injectFunction(createInstrumenter);
  const isFile = statSync(join(ROOT, path)).isFile();
  const names = isFile ? [join(ROOT, path)] : filesBelow(join(ROOT, path));
  const sources = names.map((name) => ({ name, content: readFileSync(name, "utf8"), mutate: true }));
  // Another text is no other behaviour: most strings are messages.
  const options = { plugins: null, excludedMutations: ["StringLiteral"], ignorers: [] };
  const made = await instrumenter.instrument(sources, options);
  return {
    files: new Map(made.files.map(({ name, content }) => [name, content])),
    mutants: made.mutants.filter(({ status }) => status !== "Ignored"),
  };
}

function filesBelow(folder) {
  const names = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".ts"));
  return names.toSorted().map((name) => join(folder, name));
}

/** Of the mutant and the seed alone: an edit of one file leaves the sample of the others as it is. */
function rankOf({ fileName, location: { start, end }, replacement }) {
  const place = [fileName.slice(ROOT.length), start.line, start.column, end.line, end.column, replacement];
  return createHash("sha256")
    .update([seed, ...place].join("\n"))
    .digest("hex");
}

/** Says of each file how many of its mutants were seen, and shows the others. */
function report(modules) {
  const metas = modules.flatMap((module) => [...module.children.allTests()].map((test) => test.meta()));
  const setOf = (key) => new Set(metas.flatMap((meta) => meta[key] ?? []));
  const [killed, reached, fixed] = [setOf("killed"), setOf("reached"), setOf("fixed")];
  const tried = sample.filter(({ id }) => reached.has(id) || !fixed.has(id));
  const lines = [];
  for (const mutant of tried.filter(({ id }) => !killed.has(id))) lines.push(shown(mutant, reached.has(mutant.id)));
  for (const name of files.keys()) {
    const own = tried.filter(({ fileName }) => fileName === name);
    if (own.length > 0) lines.push(`${name.slice(ROOT.length + 1)}: ${counted(own, killed)}`);
  }
  const constants = `${sample.length - tried.length} constants of modules left out`;
  lines.push(`In all: ${counted(tried, killed)}, drawn from ${mutants.length}; ${constants}`, "");
  writeFileSync(join(CACHE, "report.txt"), lines.join("\n"));
  process.stdout.write(lines.join("\n"));
}

function counted(some, killed) {
  const seen = some.filter(({ id }) => killed.has(id)).length;
  return `${seen} of ${some.length} killed (${((100 * seen) / some.length).toFixed(1)} %)`;
}

function shown({ fileName, location: { start, end }, replacement }, isReached) {
  const code = readFileSync(fileName, "utf8")
    .split("\n")
    .slice(start.line, end.line + 1);
  const last = code.length - 1;
  const was = code
    .map((line, i) => line.slice(i === 0 ? start.column : 0, i === last ? end.column : undefined))
    .join("\n");
  const cut = (text) => (text.length > 200 ? `${text.slice(0, 200)} …` : text);
  const place = `${fileName.slice(ROOT.length + 1)}:${start.line + 1}:${start.column + 1}`;
  return `${place} ${isReached ? "survived" : "is reached by no test"}\n- ${cut(was)}\n+ ${cut(replacement)}\n  in ${code[0]?.trim()}\n`;
}
