import type { Cut } from "./cut.ts";

const BEGIN = /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;
const END = "-----END";
/** The largest real ones have some 13,000 characters. */
const MAX_KEY_CHARS = 20_000;
/** A key has long lines of base64; a text about keys has not. The breaks may be escaped, as in JSON. */
const BODY = /[A-Za-z0-9+/=]{40}/;
/** Lines of a key whose end was cut off. */
const LINES = /(?:(?:\s|\\n|\\r){1,8}(?:[A-Z][A-Za-z-]{1,40}: [^\n]{0,200}|[A-Za-z0-9+/=]{1,200}(?=\s|\\|$))){0,400}/y;

/** Private keys in their armour (PEM, OpenSSH, PGP) and PuTTY's files, with or without an end. */
export function findPrivateKeys(text: string): Cut[] {
  const cuts: Cut[] = [];
  if (text.includes("PRIVATE KEY")) {
    for (const begin of text.matchAll(BEGIN)) {
      const bodyStart = begin.index + begin[0].length;
      const bodyEnd = endOfBody(text, bodyStart);
      if (!BODY.test(text.slice(bodyStart, bodyEnd))) continue;
      cuts.push(cutOf(text, begin.index, afterEndLine(text, bodyEnd)));
    }
  }
  for (const putty of text.matchAll(/PuTTY-User-Key-File-[23]: (?:.{0,300}\n){2,400}?Private-MAC: [0-9a-f]{40,64}/g)) {
    cuts.push(cutOf(text, putty.index, putty.index + putty[0].length));
  }
  return cuts;
}

/** The line feeds stay: what follows keeps the number of its line. */
function cutOf(text: string, start: number, end: number): Cut {
  const lineFeeds = text.slice(start, end).replaceAll(/[^\n]+/g, "");
  return { start, end, mask: `[removed: private key]${lineFeeds}` };
}

/** Where the base64 ends: at the end line, or where the lines stop looking like a key's. */
function endOfBody(text: string, start: number): number {
  const ahead = text.slice(start, start + MAX_KEY_CHARS);
  const end = ahead.indexOf(END);
  const next = ahead.indexOf("-----BEGIN");
  if (end >= 0 && (next < 0 || next > end)) return start + end;
  LINES.lastIndex = start;
  return start + (LINES.exec(text)?.[0].length ?? 0);
}

function afterEndLine(text: string, bodyEnd: number): number {
  if (!text.startsWith(END, bodyEnd)) return bodyEnd;
  const close = text.indexOf("-----", bodyEnd + END.length);
  return close < 0 || close - bodyEnd > 80 ? bodyEnd + END.length : close + "-----".length;
}
