/** A link in a text: the range of the link's text, and its address. */
export interface LinkMark {
  start: number;
  end: number;
  address: string;
}

/**
 * Returns the text with the addresses of its links in parentheses. Each address is after the word in which its link ends, because a link may be only
 * part of a word. Adjacent links to the same address, which programs make when the format changes within a link, become one. No address is added to a
 * text that equals its address.
 */
export function withAddresses(text: string, marks: readonly LinkMark[]): string {
  let written = "";
  let at = 0;
  for (const { at: place, address } of addressPlaces(text, marks)) {
    written += `${text.slice(at, place)} (${address})`;
    at = place;
  }
  return written + text.slice(at);
}

/** Returns where in a text the addresses of its links are inserted, in order. */
export function addressPlaces(text: string, marks: readonly LinkMark[]): { at: number; address: string }[] {
  const places: { at: number; address: string }[] = [];
  let last = 0;
  for (const { start, end, address } of joined(text, marks)) {
    if (end <= start || isAddress(text.slice(start, end), address)) continue;
    last = Math.max(last, end + restOfWord(text, end));
    places.push({ at: last, address });
  }
  return places;
}

/** Returns the address of a link if it is a web address or a mailbox. */
export function webAddress(address: string): string | undefined {
  return /^(?:https?:\/\/|mailto:)\S{1,2000}$/iu.test(address) ? address.replace(/^mailto:/iu, "") : undefined;
}

/** Whether the words are the address itself, even if a line end splits it. */
function isAddress(words: string, address: string): boolean {
  return words.trim() === address || (words.includes("\n") && words.replaceAll(/\s+/gu, "") === address);
}

/** Returns the number of code units of the rest of the word that continues at an offset; 0 if no word does. */
export function restOfWord(text: string, at: number): number {
  if (at === 0 || !LETTER.test(text.slice(Math.max(0, at - 2), at))) return 0;
  return REST.exec(text.slice(at, at + MAX_REST))?.[0].length ?? 0;
}

const MAX_REST = 100;
/** Scripts without spaces between words; in them, the address can directly follow the link. */
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
