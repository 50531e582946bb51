import { beforeOpenToken } from "#text/secrets/tokens.ts";

/**
 * Returns the text in the form that is stored: line feeds only, no control characters except tab and line feed, no lone surrogates. Soft hyphens are
 * removed, so that words are whole for every reader. Letters aren't normalized: a person finds the text as it was written, and the analyzer
 * normalizes its own copy. Bidi and tag characters are kept; the renderers remove them where text is shown. Source: S45.
 */
export function cleanText(text: string): string {
  // Most text is clean, which costs one scan and no copy.
  if (!UNCLEAN.test(text)) return text;
  const lines = withoutEscapes(text).replace(LINE_BREAKS, "\n").replace(CONTROLS, "");
  return lines.replace(SOFT_HYPHENS, "").replace(LONE_SURROGATES, "\ufffd");
}

/**
 * Removes terminal sequences: colours, titles, links (their text is kept), and overstruck letters. A cursor movement becomes a space, because words
 * would run together otherwise. Source: ECMA-48.
 */
function withoutEscapes(text: string): string {
  if (!ESCAPE.test(text)) return text;
  return text.replace(STRINGS, "").replace(CURSOR_MOVES, " ").replace(SEQUENCES, "").replace(OVERSTRIKES, "");
}

/**
 * Returns the first `maxLength` code units. It never cuts inside a surrogate pair, nor inside a token, because no mask would recognize half a token.
 */
export function cutText(text: string, maxLength: number): string {
  if (text.length <= maxLength) return text;
  const last = text.charCodeAt(maxLength - 1);
  return beforeOpenToken(text.slice(0, last >= 0xd800 && last <= 0xdbff ? maxLength - 1 : maxLength));
}

/** Returns the text without leading, trailing and doubled white space. */
export function singleSpaced(text: string): string {
  return text.replace(/\s+/gu, " ").trim();
}

/** Returns one line without leading, trailing and doubled white space; for titles, names and properties. */
export function oneLine(text: string, maxLength: number): string {
  return cutText(singleSpaced(cleanText(text)), maxLength);
}

/* oxlint-disable no-control-regex -- removing control characters is what this file is for */
// Doesn't use Unicode mode, which is four times slower. Text with emoji only takes the slower path.
const UNCLEAN = /[\0-\x08\x0b-\x1f\x7f-\x9f\xad\u2028\u2029\ufeff\ud800-\udfff]/;
const ESCAPE = /[\x08\x1b]/;
// Titles, links and device strings end with BEL or ST; one that isn't terminated ends with its line.
const STRINGS = /\x1b[\]PX^_][^\x07\x1b\x9c\n\r]*(?:\x07|\x1b\\|\x9c)/gu;
const CURSOR_MOVES = /\x1b\[[\d;]*[A-Hfd]/gu;
const SEQUENCES = /\x1b\[[0-?]*[ -/]*[@-~]|\x1b[ -/]*[0-~]/gu;
const OVERSTRIKES = /_\x08(?=[^\s])|([^\s])\x08(?=\1)/gu;
// Form feeds and vertical tabs end a page or line; NEL and the Unicode separators are line breaks too.
const LINE_BREAKS = /\r\n?|[\x0b\x0c\x85\u2028\u2029]/gu;
// Soft hyphens mark where a line may divide a word. A soft hyphen after a hyphen is kept: it marks where a line of a PDF divides the word.
const SOFT_HYPHENS = /(?<!-)\xad+/gu;
// In Unicode mode a surrogate pair is one code point, so only lone surrogates match.
const LONE_SURROGATES = /\p{Surrogate}/gu;
const CONTROLS = /[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\ufeff]/gu;
