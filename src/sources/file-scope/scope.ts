import { ApiError } from "#api/errors.ts";
import type { Scope } from "#core/scope.ts";
import { plainPath } from "./paths.ts";
import { compilePatterns } from "./patterns.ts";

/** A compiled scope. Paths are ids: relative to the root, with `/` between segments. */
export interface CompiledScope {
  /** Returns true if an exclude entry matches this path or a folder above it. */
  excludes(rel: string, isFolder: boolean): boolean;
  /** Returns true if an include entry matches the file, or if there are no include entries. */
  includes(rel: string): boolean;
  /** Returns false if no file below this folder can be included, so that the folder need not be entered. */
  mayContainIncluded(rel: string): boolean;
}

/**
 * Compiles a scope. An entry is a gitignore-style pattern. If an entry is literally the path of a file or folder, as
 * browsing shows it, it also matches that path even if it contains `*` or `[`.
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

/**
 * Returns the path prefixes at which the include entries can begin to match; `undefined` if an entry can match
 * anywhere.
 */
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
    // The entry is also matched as a plain path.
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

/** Caches the last compiled scope, because the engine checks all stored items one after another with the same scope. */
export function rememberScope(): (scope: Scope) => CompiledScope {
  let last: { scope: Scope; compiled: CompiledScope } | undefined;
  return (scope) => {
    if (last?.scope !== scope) last = { scope, compiled: compileScope(scope) };
    return last.compiled;
  };
}

/** Makes a function that returns whether a scope names a file by its path, or names a folder that contains the file. */
export function makeInScope(): (scope: Scope, path: string) => boolean {
  const compiled = rememberScope();
  return (scope, path) => {
    const { excludes, includes } = compiled(scope);
    return !excludes(path, false) && includes(path);
  };
}
