import ignore, { type Ignore } from "ignore";

/** A compiled list of gitignore-style patterns. */
export interface Patterns {
  /** The list's result for a path relative to its own folder; `undefined` when no pattern matches. */
  test(rel: string, isFolder: boolean): "ignored" | "kept" | undefined;
  /** The same list, for paths below a folder that it ignores and an inner list re-included. */
  keeping(folder: string): Patterns;
}

export interface CompiledPatterns {
  patterns: Patterns;
  /** Lines that were refused, as they were written: too long, too complex, too many. */
  refused: string[];
}

/** Limits of one list, so that a planted file can't stall a walk. */
export const PATTERN_LIMITS = {
  maxLines: 2_000,
  maxLineChars: 1_000,
  /** Three `**` of a pattern already take 26 ms on a path of 64 folders, four 344 ms (measured): two is the most. */
  maxDoubleStars: 2,
  /** At 1.6 ms a pattern with two `**` and the deepest path: 32 ms a path. */
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

/** The matcher caches every path it has seen; replacing it with a fresh one of the same rules bounds that. */
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
