import type { Cut } from "#text/secrets/cut.ts";
import { NUMBER_FORMAT, SECRET_FORMATS, type SecretFormat } from "#text/secrets/formats.ts";
import { makeWebTokenFinder } from "#text/secrets/web-token.ts";

const PART = /^[A-Za-z0-9_\-\\+/=.:@]$/;
const RUN = /[A-Za-z0-9_\-\\+/=.:@]{12}/g;

/** What `findTokens` gives, by trying every format at every place where a word begins in a run of such characters. */
export function findTokensSlowly(text: string): Cut[] {
  const cuts: Cut[] = [];
  const endOfWebToken = makeWebTokenFinder(text);
  for (let at = nextRun(text, 0); at < text.length; at = nextRun(text, at)) {
    for (; PART.test(text.charAt(at)); at++) {
      if (/[A-Za-z0-9]/.test(text.charAt(at - 1)) && !isInner(text, at)) continue;
      const cut = cutAt(text, at, endOfWebToken);
      if (cut === undefined) continue;
      cuts.push(cut);
      at = cut.end - 1;
    }
  }
  return cuts;
}

function isInner(text: string, at: number): boolean {
  return text[at] === "." || (/[A-Z]/.test(text.charAt(at)) && /[a-z]/.test(text.charAt(at - 1)));
}

function nextRun(text: string, from: number): number {
  RUN.lastIndex = from;
  return RUN.exec(text)?.index ?? text.length;
}

function cutAt(text: string, at: number, endOfWebToken: (after: number) => number | undefined): Cut | undefined {
  const number = endOf(NUMBER_FORMAT.rest, text, at);
  if (number !== undefined) return { start: at, end: number, mask: `[removed: ${NUMBER_FORMAT.label}]` };
  for (const format of SECRET_FORMATS) {
    for (const literal of format.starts.flatMap((start) => [start, start.replaceAll("_", "\\_")])) {
      if (!text.startsWith(literal, at)) continue;
      const cut = cutOf(text, at, { after: at + literal.length, format, endOfWebToken });
      if (cut !== undefined) return cut;
    }
  }
  return undefined;
}

function cutOf(
  text: string,
  at: number,
  {
    after,
    format,
    endOfWebToken,
  }: { after: number; format: SecretFormat; endOfWebToken: (after: number) => number | undefined },
): Cut | undefined {
  const from = format.keeps === undefined ? after : endOf(format.keeps, text, after);
  if (from === undefined) return undefined;
  const end = format.rest === "web token" ? endOfWebToken(from) : endOf(format.rest, text, from);
  return end === undefined ? undefined : { start: format.keeps ? from : at, end, mask: `[removed: ${format.label}]` };
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : undefined;
}
