import type { Cut } from "./cut.ts";

const BEGIN = /-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----/g;
const END = "-----END";
/** Maximum length of a private key; the largest real keys have some 13,000 characters. */
const MAX_KEY_CHARS = 20_000;
/** A key contains long lines of base64, which a text about keys doesn't. The line breaks may be escaped, as in JSON. */
const BODY = /[A-Za-z0-9+/=]{40}/;
/** Lines of a key whose end was cut off. The lines end where the next key begins, so that no line is read again from each beginning. */
const LINES =
  /(?:(?:\s|\\n|\\r){1,8}(?:[A-Z][A-Za-z-]{1,40}: (?:(?!-----BEGIN)[^\n]){0,200}|[A-Za-z0-9+/=]{1,200}(?=\s|\\|$))){0,400}/y;

/** PuTTY's files begin with a distinctive line and end with their checksum. */
const PUTTY = /PuTTY-User-Key-File-[23]: /g;
const PUTTY_END = /Private-MAC: [0-9a-f]{40,64}/g;

/**
 * Finds private keys in their armour (PEM, OpenSSH, PGP), with or without an end, and PuTTY's files. Takes time in
 * proportion to the text: the end of a key is searched for once, not from each beginning. Source: S67.
 */
export function findPrivateKeys(text: string): Cut[] {
  const cuts: Cut[] = [];
  if (text.includes("PRIVATE KEY")) {
    const nextEnd = makeNext(text, END);
    const nextBegin = makeNext(text, "-----BEGIN");
    for (const begin of text.matchAll(BEGIN)) {
      const bodyStart = begin.index + begin[0].length;
      const bodyEnd = endOfBody(text, bodyStart, nextEnd(bodyStart), nextBegin(bodyStart));
      if (!BODY.test(text.slice(bodyStart, bodyEnd))) continue;
      cuts.push(cutOf(text, begin.index, afterEndLine(text, bodyEnd)));
    }
  }
  return text.includes("PuTTY-User-Key-File") ? [...cuts, ...findPuttyKeys(text)] : cuts;
}

/** A PuTTY key starts at the earliest header that is followed closely enough by a checksum. No part of the text is searched twice. */
function findPuttyKeys(text: string): Cut[] {
  const cuts: Cut[] = [];
  let searchedTo = 0;
  for (const { 0: found, index } of text.matchAll(PUTTY_END)) {
    const end = index + found.length;
    PUTTY.lastIndex = Math.max(searchedTo, end - MAX_KEY_CHARS);
    const start = PUTTY.lastIndex < index ? PUTTY.exec(text)?.index : undefined;
    if (start !== undefined && start < index) cuts.push(cutOf(text, start, end));
    searchedTo = end;
  }
  return cuts;
}

/** Finds the next occurrence of a text; `Infinity` if there is none. Call it with ascending positions, so that each part is searched once. */
function makeNext(text: string, wanted: string): (from: number) => number {
  let next = -1;
  return (from) => {
    if (next < from) {
      const found = text.indexOf(wanted, from);
      next = found < 0 ? Infinity : found;
    }
    return next;
  };
}

/** The line feeds are kept, so that the text after the key keeps its line numbers. */
function cutOf(text: string, start: number, end: number): Cut {
  const lineFeeds = text.slice(start, end).replaceAll(/[^\n]+/g, "");
  return { start, end, mask: `[removed: private key]${lineFeeds}` };
}

/** Returns where the base64 ends: at the end line, or at the first line that doesn't look like a key's. */
function endOfBody(text: string, start: number, end: number, next: number): number {
  if (end < next && end + END.length <= start + MAX_KEY_CHARS) return end;
  LINES.lastIndex = start;
  return start + (LINES.exec(text)?.[0].length ?? 0);
}

function afterEndLine(text: string, bodyEnd: number): number {
  if (!text.startsWith(END, bodyEnd)) return bodyEnd;
  const close = text.indexOf("-----", bodyEnd + END.length);
  return close < 0 || close - bodyEnd > 80 ? bodyEnd + END.length : close + "-----".length;
}
