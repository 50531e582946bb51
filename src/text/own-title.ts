import { isDefaultTitle } from "./default-titles.ts";

const MAX_TITLE_CHARS = 300;
/** Only this many characters are processed, because a document may state a title of any length. */
const LOOKED_AT_CHARS = 4 * MAX_TITLE_CHARS;

/**
 * Returns the title that a document states, for a file that otherwise has only a name. Undefined if the document states no title, or one that is less
 * useful than the name.
 *
 * @param stated  from its properties, front matter, `<title>`, subject or first heading
 */
export function ownTitle(stated: string | undefined, fileName: string): string | undefined {
  const title = wholeCharacters((stated ?? "").slice(0, LOOKED_AT_CHARS).replace(/\s+/gu, " ").trim());
  if (!/[\p{L}\p{N}]/u.test(title) || isDefaultTitle(title)) return undefined;
  if (title === fileName) return undefined;
  return title.length <= MAX_TITLE_CHARS ? title : shortened(title);
}

/** Returns the title of an item that is analyzed and shown, and its name if the name adds something. */
export function titleAndName(
  item: { title: string; hasFileTitle?: boolean },
  stated: string | undefined,
): { title: string; name?: string } {
  const own = item.hasFileTitle === true ? ownTitle(stated, item.title) : undefined;
  return own === undefined ? { title: item.title } : { title: own, name: item.title };
}

function shortened(title: string): string {
  const head = title.slice(0, MAX_TITLE_CHARS - 1);
  const word = head.lastIndexOf(" ");
  return `${wholeCharacters(word > MAX_TITLE_CHARS / 2 ? head.slice(0, word) : head)}…`;
}

function wholeCharacters(text: string): string {
  return text.replace(/\p{Surrogate}$/u, "");
}
