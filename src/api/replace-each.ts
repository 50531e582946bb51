import { textOf } from "./visible.ts";

/** Up to this many matches are replaced one by one. */
const FEW = 1_000;

/**
 * `text.replaceAll(wanted, by)`, restricted to matches that `isMeant` accepts; `isMeant` receives the end of each match. `wanted` is one or two ASCII
 * characters, `by` is longer. No list of the matches is made, because that would take several times as long as the text. Source: S67.
 */
export function replaceEach(
  text: string,
  wanted: string,
  by: string,
  isMeant?: (text: string, end: number) => boolean,
): string {
  const parts: string[] = [];
  let [from, found] = [0, 0];
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) {
    if (++found > FEW) return parts.join("") + replaceMany(text, from, { wanted, by, isMeant });
    if (isMeant && !isMeant(text, at + wanted.length)) continue;
    parts.push(text.slice(from, at), by);
    from = at + wanted.length;
  }
  return parts.length === 0 ? text : parts.join("") + text.slice(from);
}

/**
 * Replaces each of these line breaks with `\n`. With very many replacements, splitting and joining takes a third of the
 * time of a pattern.
 */
export function withLineFeeds(text: string, breaks: readonly string[]): string {
  return breaks.reduce((all, each) => (all.includes(each) ? all.split(each).join("\n") : all), text);
}

type Wish = Record<"wanted" | "by", string> & { isMeant: ((text: string, end: number) => boolean) | undefined };

function replaceMany(text: string, from: number, { wanted, by, isMeant }: Wish): string {
  const units = new Uint16Array((text.length - from) * Math.ceil(by.length / wanted.length));
  const [first, more] = [wanted.charCodeAt(0), wanted.length - 1];
  const second = wanted.charCodeAt(more);
  const added = Uint16Array.from(by, (char) => char.charCodeAt(0));
  let length = 0;
  for (let at = from; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    const isFound = unit === first && (more === 0 || text.charCodeAt(at + 1) === second);
    if (isFound && (isMeant === undefined || isMeant(text, at + wanted.length))) {
      for (let of = 0; of < added.length; of++) units[length++] = added[of] ?? 0;
      at += more;
    } else units[length++] = unit;
  }
  return textOf(units.subarray(0, length));
}
