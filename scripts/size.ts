/**
 * How much there is of `src`, and what of it should not be: syntax nodes, lines, comments and files of each folder, and the
 * structural figures. Nodes are counted by TypeScript's parser, so that denser lines and dropped comments save nothing.
 *
 *   npx tsx scripts/size.ts                     the whole tree
 *   npx tsx scripts/size.ts --change [REF]      what a commit adds and removes, against its parent; HEAD by default
 *   npx tsx scripts/size.ts --check             exit code 1 if a structural figure is above its bound in `size/bounds.ts`
 */
import { execFileSync } from "node:child_process";
import { parseArgs } from "node:util";
import { compareWithBounds } from "./size/bounds.ts";
import { measure, type FileSize } from "./size/measure.ts";
import { structureOf } from "./size/structure.ts";
import { isCounted, readTree, ROOT } from "./size/tree.ts";

const { values, positionals } = parseArgs({
  options: { change: { type: "boolean", default: false }, check: { type: "boolean", default: false } },
  allowPositionals: true,
});
if (values.change) showChange(positionals[0] ?? "HEAD");
else if (values.check) checkBounds();
else showTree();

function checkBounds(): void {
  const { above, below } = compareWithBounds(structureOf(readTree()));
  for (const line of [...above, ...below]) process.stdout.write(`${line}\n`);
  if (above.length > 0) process.exitCode = 1;
}

function showTree(): void {
  const files = readTree();
  print(["folder", "nodes", "lines", "comment words", "files"]);
  for (const [folder, some] of byFolder(files)) print([folder, ...sums(some)]);
  print(["in all", ...sums(files)]);
  process.stdout.write("\n");
  for (const [name, value] of structureOf(files)) process.stdout.write(`${String(value).padStart(7)}  ${name}\n`);
}

function byFolder(files: readonly FileSize[]): [string, FileSize[]][] {
  const folders = new Map<string, FileSize[]>();
  for (const file of files) {
    const folder = file.path.split("/").slice(1, -1).slice(0, 2).join("/") || ".";
    folders.set(folder, [...(folders.get(folder) ?? []), file]);
  }
  return [...folders].sort(([a], [b]) => (a < b ? -1 : 1));
}

function sums(files: readonly FileSize[]): number[] {
  const sum = (of: (file: FileSize) => number) => files.reduce((total, file) => total + of(file), 0);
  return [sum(({ nodes }) => nodes), sum(({ lines }) => lines), sum(({ commentWords }) => commentWords), files.length];
}

/** Nodes by file, so that what moves counts in both columns. */
function showChange(ref: string): void {
  const paths = git("diff", "--name-only", "--no-renames", `${ref}~1`, ref).split("\n").filter(isCounted);
  const nodesAt = (commit: string, path: string) => {
    const text = textAt(commit, path);
    return text === undefined ? 0 : measure(path, text).nodes;
  };
  let [added, removed] = [0, 0];
  for (const path of paths) {
    const change = nodesAt(ref, path) - nodesAt(`${ref}~1`, path);
    if (change > 0) added += change;
    else removed -= change;
  }
  const subject = git("log", "-1", "--format=%h %s", ref).trim();
  process.stdout.write(`${subject}: ${added} syntax nodes added, ${removed} removed in ${paths.length} files of src\n`);
}

function textAt(commit: string, path: string): string | undefined {
  try {
    return git("show", `${commit}:${path}`);
  } catch {
    return undefined;
  }
}

function git(...args: string[]): string {
  return execFileSync("git", args, {
    cwd: ROOT,
    encoding: "utf8",
    maxBuffer: 1 << 28,
    stdio: ["ignore", "pipe", "ignore"],
  });
}

function print([name, ...numbers]: (string | number)[]): void {
  process.stdout.write(String(name).padEnd(26) + numbers.map((each) => String(each).padStart(14)).join("") + "\n");
}
