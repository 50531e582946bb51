import { parseDocument } from "yaml";

/**
 * The value of a YAML text, as plain values with string keys (`Map`s with `mapAsMap`); undefined if it can't be built:
 * aliases that expand to gigabytes, or more levels than there is stack. A separate module, loaded when there is YAML: a
 * bundled CommonJS package exports its names to a static import only.
 *
 * @param isStrict true = YAML with mistakes gives undefined
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
