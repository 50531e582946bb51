import ts from "typescript-api";

export interface FileSize {
  path: string;
  tree: ts.SourceFile;
  nodes: number;
  lines: number;
  comments: string[];
  commentWords: number;
}

/** What is in a file. */
export function measure(path: string, text: string): FileSize {
  const kind = path.endsWith("x") ? ts.ScriptKind.TSX : ts.ScriptKind.TS;
  const tree = ts.createSourceFile(path, text, ts.ScriptTarget.ESNext, true, kind);
  const comments = commentsOf(tree, text);
  const commentWords = comments.reduce((sum, comment) => sum + (comment.match(/[\p{L}\p{N}]+/gu)?.length ?? 0), 0);
  return { path, tree, nodes: countNodes(tree), lines: text.split("\n").length - 1, comments, commentWords };
}

function countNodes(node: ts.Node): number {
  let nodes = 1;
  ts.forEachChild(node, (child) => void (nodes += countNodes(child)));
  return nodes;
}

/** Every comment once: those before a token, and those behind it on its line. */
function commentsOf(tree: ts.SourceFile, text: string): string[] {
  const comments = new Map<number, string>();
  const take = (ranges: readonly ts.CommentRange[] | undefined) => {
    for (const { pos, end } of ranges ?? []) comments.set(pos, text.slice(pos, end));
  };
  const visit = (node: ts.Node): void => {
    take(ts.getLeadingCommentRanges(text, node.getFullStart()));
    take(ts.getTrailingCommentRanges(text, node.getEnd()));
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return [...comments.values()];
}

/** Each node below, itself first. */
export function* nodesOf(node: ts.Node): Generator<ts.Node, void> {
  yield node;
  const children: ts.Node[] = [];
  ts.forEachChild(node, (child) => void children.push(child));
  for (const child of children) yield* nodesOf(child);
}
