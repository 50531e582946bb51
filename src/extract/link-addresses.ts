/** A link in a text: where its words are, and where it leads. */
export interface LinkMark {
  start: number;
  end: number;
  address: string;
}

/**
 * The text with the addresses of its links in parentheses, each behind the word that its link ends in: a link may be a part of a word.
 * Neighbours that lead to the same place, as programs make them when formats change within a link, are one. Words that are the address
 * stay alone.
 */
export function withAddresses(text: string, marks: readonly LinkMark[]): string {
  let written = "";
  let at = 0;
  for (const { start, end, address } of joined(text, marks)) {
    if (end <= start || text.slice(start, end).trim() === address) continue;
    const place = Math.max(at, end + restOfWord(text, end));
    written += `${text.slice(at, place)} (${address})`;
    at = place;
  }
  return written + text.slice(at);
}

/** Letters that belong to the word that ends at an offset, in UTF-16 code units; 0 where none does. */
export function restOfWord(text: string, at: number): number {
  if (at === 0 || !LETTER.test(text.slice(Math.max(0, at - 2), at))) return 0;
  return REST.exec(text.slice(at, at + MAX_REST))?.[0].length ?? 0;
}

const MAX_REST = 100;
/** Scripts that write no spaces between words: a link's end there is as good a place as any. */
const NO_SPACES = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`;
const LETTER = new RegExp(String.raw`(?![${NO_SPACES}])[\p{L}\p{N}\p{M}]$`, "u");
const REST = new RegExp(String.raw`^(?:['’\u2010\u00ad\u200c\u200d-]?(?![${NO_SPACES}])[\p{L}\p{N}\p{M}])+`, "u");

function joined(text: string, marks: readonly LinkMark[]): LinkMark[] {
  const found: LinkMark[] = [];
  for (const mark of [...marks].sort((a, b) => a.end - b.end)) {
    const last = found.at(-1);
    const isNext = last?.address === mark.address && !/\S/u.test(text.slice(last.end, Math.max(last.end, mark.start)));
    if (last !== undefined && isNext) last.end = mark.end;
    else found.push({ ...mark });
  }
  return found;
}
