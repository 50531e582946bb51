/** Returns the media type of a field, which is often malformed: `"text/html"`, `text/plain charset=utf-8`, `text`, `html/text`. */
export function mediaType(value: string): string {
  const bare = value.replaceAll('"', "").trim();
  const whole = /^([a-z0-9!#$&^_.+-]{1,80})\s*\/\s*([a-z0-9!#$&^_.+-]{1,80})(?![^\s,;:])/u.exec(bare);
  if (bare.startsWith("multipart")) return whole === null ? "multipart/mixed" : `${whole[1]}/${whole[2]}`;
  if (TURNED.test(bare) || /^(?:x-)?html?(?:$|[^a-z])/u.test(bare))
    return bare.includes("htm") ? "text/html" : "text/plain";
  if (whole !== null) return `${whole[1]}/${whole[2]}`;
  return bare.startsWith("text") && bare.includes("htm") ? "text/html" : bare.startsWith("text") ? "text/plain" : "";
}

const TURNED = /^(?:plain|html)\s*\/\s*text\b/u;

/** Guesses the boundary of a multipart whose header doesn't declare one: a line that begins with two hyphens, before the header of a part. */
export function guessBoundary(body: Buffer): string | undefined {
  const start = body.toString("latin1", 0, MAX_START_BYTES);
  return /(?:^|\n)--([^\s-][^\r\n]{0,100}?|-{1,60}[^\r\n]{1,100}?)[ \t]*\r?\n(?:content-[a-z-]{1,40}:|\r?\n)/iu.exec(
    start,
  )?.[1];
}

const MAX_START_BYTES = 16_384;
