import ignore, { type Ignore } from "ignore";

/** A compiled list of gitignore-style patterns. */
export interface Patterns {
  /** Returns the list's result for a path relative to the list's own folder; `undefined` if no pattern matches. */
  test(rel: string, isFolder: boolean): "ignored" | "kept" | undefined;
  /** Returns the same list for paths below a folder that this list ignores but an inner list included again. */
  keeping(folder: string): Patterns;
}

export interface CompiledPatterns {
  patterns: Patterns;
  /** Lines that were refused, in their original form: too long, too complex, or beyond the maximum number. */
  refused: string[];
}

/** Limits of one list, so that a planted file can't stall a walk. */
export const PATTERN_LIMITS = {
  maxLines: 2_000,
  maxLineChars: 1_000,
  /** The most `**` in a pattern. On a path of 64 folders, three already take 26 ms, and four take 344 ms (measured). */
  maxDoubleStars: 2,
  /** The most patterns with two `**`. Each takes 1.6 ms with the deepest path, so all take 32 ms a path. */
  maxComplexLines: 20,
} as const;

/** Compiles patterns, one per line; blank lines and comments are skipped. Case-sensitive, as in git on Linux. */
export function compilePatterns(lines: readonly string[]): CompiledPatterns {
  const refused: string[] = [];
  const taken: string[] = [];
  let complexLines = 0;
  for (const line of lines) {
    if (line.trim() === "" || line.startsWith("#")) continue;
    const doubleStars = line.split("**").length - 1;
    if (doubleStars === PATTERN_LIMITS.maxDoubleStars) complexLines += 1;
    const isTooComplex = doubleStars > PATTERN_LIMITS.maxDoubleStars || complexLines > PATTERN_LIMITS.maxComplexLines;
    const isTooMuch = line.length > PATTERN_LIMITS.maxLineChars || taken.length >= PATTERN_LIMITS.maxLines;
    if (isTooComplex || isTooMuch || !compiles(line)) refused.push(line);
    else taken.push(line);
  }
  return { patterns: makePatterns(taken), refused };
}

/**
 * The most paths in a matcher's cache. The matcher caches every path it has seen, so it is replaced with a fresh one of
 * the same rules at this number.
 */
const MAX_CACHED_PATHS = 4_096;

function makePatterns(lines: readonly string[]): Patterns {
  const rules = newMatcher().add([...lines]);
  let matcher = rules;
  let tests = 0;
  return {
    test(rel, isFolder) {
      if (lines.length === 0) return undefined;
      tests += 1;
      if (tests % MAX_CACHED_PATHS === 0) matcher = newMatcher().add(rules);
      const { ignored, unignored } = matcher.test(isFolder ? `${rel}/` : rel);
      if (ignored) return "ignored";
      return unignored ? "kept" : undefined;
    },
    keeping: (folder) => makePatterns([...lines, `!/${folder.replace(/[\\*?[ ]/g, "\\$&")}/`]),
  };
}

function compiles(line: string): boolean {
  try {
    newMatcher().add(line).test("probe");
    return true;
  } catch {
    // A pattern that isn't a valid regular expression (`[z-a]`) is refused instead of failing the walk.
    return false;
  }
}

function newMatcher(): Ignore {
  return ignore({ ignorecase: false, allowRelativePaths: true });
}
