import { ApiError } from "#api/errors.ts";
import type { Scope } from "#core/scope.ts";
import { plainPath } from "./paths.ts";
import { compilePatterns } from "./patterns.ts";

/** A scope ready to match. Paths are ids: relative to the root, `/` between segments. */
export interface CompiledScope {
  /** True when an exclude entry matches this path or a folder above it. */
  excludes(rel: string, isFolder: boolean): boolean;
  /** True when an include entry matches the file, or there are no include entries. */
  includes(rel: string): boolean;
  /** False when no file below this folder can be included: it need not be entered. */
  mayContainIncluded(rel: string): boolean;
}

/**
 * Compiles a scope. An entry is a gitignore-style pattern; one that is literally the path of a file or folder, as
 * browsing shows it, also matches that path even if it contains `*` or `[`.
 *
 * @throws ApiError `connector_scope_invalid` with the field and the invalid entry
 */
export function compileScope(scope: Scope): CompiledScope {
  const included = compileList(scope.include, "include");
  const excluded = compileList(scope.exclude, "exclude");
  const prefixes = literalPrefixes(scope.include);
  return {
    excludes: excluded,
    includes: (rel) => scope.include.length === 0 || included(rel, false),
    mayContainIncluded: (rel) =>
      prefixes === undefined || prefixes.some((prefix) => isOnOneLine(rel, prefix)) || included(rel, true),
  };
}

type Names = (rel: string, isFolder: boolean) => boolean;

function compileList(entries: readonly string[], field: "include" | "exclude"): Names {
  const { patterns, refused } = compilePatterns(entries);
  if (refused[0] !== undefined) {
    throw new ApiError("connector_scope_invalid", {
      message: `The pattern ${JSON.stringify(refused[0].slice(0, 200))} is not valid: a pattern can have at most two ** and 1,000 characters.`,
      field,
    });
  }
  const literal = new Set(entries.map(trimSlashes).filter((entry) => entry !== ""));
  return (rel, isFolder) => patterns.test(plainPath(rel), isFolder) === "ignored" || isInLiteral(rel, literal);
}

/** Whether the path or a folder above it is in the set. */
function isInLiteral(rel: string, literal: ReadonlySet<string>): boolean {
  if (literal.size === 0) return false;
  for (let end = rel.length; end > 0; end = rel.lastIndexOf("/", end - 1)) {
    if (literal.has(rel.slice(0, end))) return true;
  }
  return false;
}

/** Where each include entry can begin to match; `undefined` as soon as one can match anywhere. */
function literalPrefixes(entries: readonly string[]): string[] | undefined {
  const prefixes: string[] = [];
  for (const entry of entries) {
    if (entry.startsWith("!") || entry.startsWith("#") || entry.trim() === "") continue;
    const isAnchored = entry.slice(0, -1).includes("/");
    const segments = trimSlashes(entry).split("/");
    const firstWild = segments.findIndex((segment) => /[*?[\]\\]|\s$/.test(segment));
    const fixed = firstWild === -1 ? segments : segments.slice(0, firstWild);
    if (!isAnchored || fixed.length === 0) return undefined;
    prefixes.push(fixed.join("/"));
    // The entry as a plain path, too.
    prefixes.push(trimSlashes(entry));
  }
  return prefixes.length === 0 ? undefined : prefixes;
}

function isOnOneLine(a: string, b: string): boolean {
  return a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
}

function trimSlashes(entry: string): string {
  return entry.replace(/^\/|\/$/g, "");
}

/** Compiles the last scope once: the engine judges every stored item in a row. */
export function rememberScope(): (scope: Scope) => CompiledScope {
  let last: { scope: Scope; compiled: CompiledScope } | undefined;
  return (scope) => {
    if (last?.scope !== scope) last = { scope, compiled: compileScope(scope) };
    return last.compiled;
  };
}

/** Whether a scope names a file by its path, or a folder that holds it. */
export function makeInScope(): (scope: Scope, path: string) => boolean {
  const compiled = rememberScope();
  return (scope, path) => {
    const { excludes, includes } = compiled(scope);
    return !excludes(path, false) && includes(path);
  };
}
