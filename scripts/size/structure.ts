/** What of a tree should not be there, or should be less: each figure by a rule that a script can hold. */
import { dirname } from "node:path";
import ts from "typescript-api";
import { RETIRED_WORDS } from "../../test/docs/retired-words.ts";
import { type Import, importsOf, reachedFrom } from "./imports.ts";
import { KEPT_INTERFACES, oneImplementation } from "./interfaces.ts";
import { type FileSize, nodesOf } from "./measure.ts";
import { unexplainedQueries } from "./raw-queries.ts";

/** By name; those that must not rise come first. */
export function structureOf(files: readonly FileSize[]): [string, number][] {
  const all = files.flatMap((file) => [...nodesOf(file.tree)].map((node) => ({ file, node })));
  const imports = files.flatMap((file) => importsOf(file));
  const casts = all.filter(({ node }) => ts.isAsExpression(node) && !ts.isConstTypeReference(node.type));
  const raw = all.filter(({ file, node }) => !file.path.startsWith("src/storage/") && isRawQuery(node));
  const clauses = all.filter(({ node }) => isWorkspaceClause(node));
  const comments = files.flatMap(({ comments: some }) => some);
  const single = oneImplementation(all.map(({ node }) => node));
  const kept = Object.keys(KEPT_INTERFACES);
  return [
    ["pairs of folders that import each other, through others too", pairsInCircles(foldersOf(imports))],
    ["circles of files", pairsInCircles(imports)],
    ["interfaces of methods with one implementation", single.filter((name) => !(name in KEPT_INTERFACES)).length],
    ["interfaces that are kept and have another", kept.filter((name) => !single.includes(name)).length],
    ["queries of a table outside storage", raw.length],
    ["clauses that name the workspace by hand", clauses.length],
    ["queries of a workspace's table that don't say why they are raw", unexplainedQueries(files).length],
    ["casts", casts.length],
    ["casts in storage/records", casts.filter(({ file }) => file.path.startsWith("src/storage/records/")).length],
    ["retired words", files.reduce((sum, file) => sum + retiredIn(file), 0)],
    ["comments that begin with a What clause", comments.filter((each) => /^\/[/*]+\s*What\b/.test(each)).length],
    ["comments with nobody or somebody", comments.filter((each) => /\b(?:no|some)body\b/i.test(each)).length],
    ["comments with a Source:", comments.filter((each) => each.includes("Source:")).length],
    ["comments with a number", comments.filter((each) => /\d/.test(each)).length],
    ["exported functions with one user", oneUser(files, imports)],
    ["files under 30 lines with one importer", smallWithOneImporter(files, imports)],
  ];
}

function foldersOf(imports: readonly Import[]): Import[] {
  return imports
    .map(({ from, to, names }) => ({ from: dirname(from), to: dirname(to), names }))
    .filter(({ from, to }) => from !== to);
}

/** How many pairs lead to each other: of a circle of three that is three. */
function pairsInCircles(imports: readonly Import[]): number {
  const next = new Map<string, Set<string>>();
  for (const { from, to } of imports) next.set(from, (next.get(from) ?? new Set()).add(to));
  const reach = new Map([...next.keys()].map((start) => [start, reachedFrom(start, next)]));
  let pairs = 0;
  for (const [from, to] of reach) for (const each of to) if (from < each && reach.get(each)?.has(from)) pairs++;
  return pairs;
}

const QUERIES = new Set(["selectFrom", "insertInto", "updateTable", "deleteFrom"]);

function isRawQuery(node: ts.Node): boolean {
  return (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    QUERIES.has(node.expression.name.text)
  );
}

function isWorkspaceClause(node: ts.Node): boolean {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const [column] = node.arguments;
  return (
    node.expression.name.text === "where" &&
    !!column &&
    ts.isStringLiteral(column) &&
    /(?:^|\.)workspaceId$/.test(column.text)
  );
}

function retiredIn({ path, tree }: FileSize): number {
  const words = RETIRED_WORDS.filter(({ only, allowed = {} }) => (only?.test(path) ?? true) && !(path in allowed));
  const lines = tree.text.split("\n");
  return lines.reduce((sum, line) => sum + words.filter(({ pattern }) => pattern.test(line)).length, 0);
}

function oneUser(files: readonly FileSize[], imports: readonly Import[]): number {
  const users = new Map<string, number>();
  for (const { to, names } of imports)
    for (const name of names) users.set(`${to} ${name}`, (users.get(`${to} ${name}`) ?? 0) + 1);
  return files
    .flatMap(({ path, tree }) => exportedFunctions(tree).map((name) => `${path} ${name}`))
    .filter((name) => users.get(name) === 1).length;
}

function exportedFunctions({ statements }: ts.SourceFile): string[] {
  return statements.flatMap((statement) => {
    const isExported =
      ts.isFunctionDeclaration(statement) &&
      statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
    return isExported && statement.name ? [statement.name.text] : [];
  });
}

function smallWithOneImporter(files: readonly FileSize[], imports: readonly Import[]): number {
  const importers = new Map<string, Set<string>>();
  for (const { from, to } of imports) importers.set(to, (importers.get(to) ?? new Set()).add(from));
  return files.filter(({ path, lines }) => lines < 30 && importers.get(path)?.size === 1).length;
}
