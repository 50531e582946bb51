import { parseDocument } from "yaml";

/**
 * What YAML says, as plain values with string keys (`Map`s with `mapAsMap`); undefined where that can't be told: aliases that
 * unfold to gigabytes, or more levels than there is stack. A module of its own, to be loaded when there is YAML: a bundled
 * CommonJS package gives its names to a static import only.
 *
 * @param isStrict true = YAML with mistakes says nothing
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
    // Too many aliases or levels: not worth reading, so it stays text.
    return undefined;
  }
}

/** True for YAML with mistakes, however much of it could be read. */
export function isBrokenYaml(source: string): boolean {
  return parseDocument(source, { logLevel: "silent", stringKeys: true }).errors.length > 0;
}
