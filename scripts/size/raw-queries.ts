/**
 * Queries of a workspace's table that are not begun by `inWorkspace`, and don't say why. A query of a subquery is not
 * among them: what it is of, the query around it has bounded. The reason stands in a comment with `Raw:` above the query, or
 * above what it is in.
 */
import ts from "typescript-api";
import { type FileSize, nodesOf } from "./measure.ts";

const BEGINNINGS = new Set(["selectFrom", "insertInto", "updateTable", "deleteFrom"]);

/** As `path:line table`. */
export function unexplainedQueries(files: readonly FileSize[]): string[] {
  const tables = tablesOfWorkspaces(files);
  return files.flatMap((file) =>
    [...nodesOf(file.tree)].flatMap((node) => {
      const table = tableOf(node);
      if (table === undefined || !tables.has(table) || isExplained(node, file.tree)) return [];
      const { line } = file.tree.getLineAndCharacterOfPosition(node.getEnd());
      return [`${file.path}:${line + 1} ${table}`];
    }),
  );
}

/** Those that a description names together with `workspaceId`. */
function tablesOfWorkspaces(files: readonly FileSize[]): Set<string> {
  const described = files
    .filter(({ path }) => path.startsWith("src/storage/tables/"))
    .flatMap(({ tree }) => [...nodesOf(tree)])
    .filter((node) => ts.isCallExpression(node) && node.expression.getText() === "table");
  return new Set(described.flatMap((node) => /^table\(\s*"(\w+)".*\bworkspaceId\b/s.exec(node.getText())?.[1] ?? []));
}

/** The table that a query outside of another one begins with, or that `acrossWorkspaces` begins queries of. */
function tableOf(node: ts.Node): string | undefined {
  if (!ts.isCallExpression(node)) return undefined;
  if (node.expression.getText() === "acrossWorkspaces") return node.arguments[1]?.getText().toLowerCase();
  if (!ts.isPropertyAccessExpression(node.expression)) return undefined;
  const { name, expression: of } = node.expression;
  const [table] = node.arguments;
  const isInside = ts.isIdentifier(of) && of.text === "eb";
  if (!BEGINNINGS.has(name.text) || isInside || !table || !ts.isStringLiteral(table)) return undefined;
  return table.text.split(" ")[0];
}

function isExplained(node: ts.Node, tree: ts.SourceFile): boolean {
  for (let at = node; at !== tree; at = at.parent) {
    const comments = ts.getLeadingCommentRanges(tree.text, at.getFullStart()) ?? [];
    if (comments.some(({ pos, end }) => tree.text.slice(pos, end).includes("Raw:"))) return true;
  }
  return false;
}
