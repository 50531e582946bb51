import { dirname, join, normalize } from "node:path";
import ts from "typescript-api";
import type { FileSize } from "./measure.ts";

export interface Import {
  from: string;
  to: string;
  names: readonly string[];
}

/** Those of our own files, by their paths. */
export function importsOf({ path, tree }: FileSize): Import[] {
  return tree.statements.flatMap((statement): Import[] => {
    if (!ts.isImportDeclaration(statement) || !ts.isStringLiteral(statement.moduleSpecifier)) return [];
    const target = statement.moduleSpecifier.text;
    const isOwn = target.startsWith("#") || target.startsWith(".");
    if (!isOwn) return [];
    const to = target.startsWith("#") ? `src/${target.slice(1)}` : normalize(join(dirname(path), target));
    const named = statement.importClause?.namedBindings;
    const names = named && ts.isNamedImports(named) ? named.elements : [];
    return [{ from: path, to, names: names.map(({ propertyName, name }) => (propertyName ?? name).text) }];
  });
}

export function reachedFrom(start: string, next: ReadonlyMap<string, ReadonlySet<string>>): Set<string> {
  const reached = new Set<string>();
  const open = [...(next.get(start) ?? [])];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (reached.has(at)) continue;
    reached.add(at);
    open.push(...(next.get(at) ?? []));
  }
  return reached;
}
