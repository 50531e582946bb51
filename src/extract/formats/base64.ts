/** True for bytes written as text: 256 characters of base64 or more, in long runs, and nothing else. */
export function isBase64(text: string): boolean {
  if (text.length < MIN_LENGTH) return false;
  const runs = text.trim().split(/\s+/u);
  const length = runs.reduce((sum, run) => sum + run.length, 0);
  return length >= MIN_LENGTH && length / runs.length >= MIN_RUN && /^[\w+/-]+={0,2}$/u.test(runs.join(""));
}

const MIN_LENGTH = 256;
/** Lines of base64 have 60 to 76 characters; words of any language are shorter. */
const MIN_RUN = 40;
