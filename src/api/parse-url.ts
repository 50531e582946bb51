/**
 * Whether a text is an address, by itself or on a page at `base`. In place of `URL.canParse`, which in Node 20 says no to
 * every address with a letter such as `ü` once a function has called it some thousand times.
 */
export function canParseUrl(text: string, base?: string): boolean {
  try {
    void new URL(text, base);
    return true;
  } catch {
    // Nothing else is thrown for a text.
    return false;
  }
}
