const MAX_CHARS = 500;

/**
 * Returns a source's error text in a form that is safe to store for the connector's owner: no credentials, no query
 * strings, no long opaque values, one line, at most 500 characters. Source: S43.
 */
export function redact(text: string): string {
  const safe = text
    // Cut before matching: the tail isn't needed, and patterns over megabytes of a response's body are slow.
    .slice(0, MAX_CHARS * 4)
    .replace(/\b(bearer|basic|token)\s+[\w.~+/=-]{6,}/gi, "$1 …")
    .replace(/\b(authorization|cookie|set-cookie|x-api-key)\s*[:=]\s*\S+/gi, "$1: …")
    // The match starts only at the beginning of a scheme. If it started at each letter, it would take quadratic time.
    .replace(/(?<![a-z0-9+.-])([a-z0-9+.-]+:\/\/)[^\s/@]*@/gi, "$1…@")
    .replace(/(https?:\/\/[^\s?#"')]+)[?#][^\s"')]*/gi, "$1")
    .replace(/\b(password|passwd|secret|token|key|code|signature)=[^\s&"']+/gi, "$1=…")
    .replace(/[\w+/=-]{32,}/g, "…")
    .replace(/\s+/g, " ")
    .trim();
  return safe.length > MAX_CHARS ? `${safe.slice(0, MAX_CHARS - 1)}…` : safe;
}
