import { parseDocument } from "yaml";

/**
 * Parses YAML to plain values with string keys (`Map`s with `mapAsMap`). Undefined if the value can't be built, because aliases expand to gigabytes,
 * or the nesting exceeds the stack. This module is loaded only when there is YAML; it is separate because a bundled CommonJS package exports its
 * names only to a static import.
 *
 * @param isStrict true = returns undefined for YAML with mistakes
 */
export function valueOfYaml(
  source: string,
  { isStrict = false, ...options }: { maxAliasCount: number; mapAsMap?: boolean; isStrict?: boolean },
): unknown {
  try {
    const document = parseDocument(source, { logLevel: "silent", stringKeys: true });
    if (isStrict && document.errors.length > 0) return undefined;
    return document.toJS(options) as unknown;
  } catch {
    // With too many aliases or levels, the value isn't worth reading, so the text is kept as it is.
    return undefined;
  }
}

/** Returns true for YAML with mistakes, even if most of it could be read. */
export function isBrokenYaml(source: string): boolean {
  return parseDocument(source, { logLevel: "silent", stringKeys: true }).errors.length > 0;
}
