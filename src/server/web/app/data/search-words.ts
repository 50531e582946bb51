import { plural } from "#api/plural.ts";
import type { SearchResult } from "#api/search.ts";

/**
 * Returns the server's notes on an answer for people: with filters by their displayed names, and only helpful notes.
 */
export function noteWords(note: string): string[] {
  if (ALTERNATIVES.test(note)) {
    return [...note.matchAll(ALTERNATIVE)].flatMap(([, filter = "", count = "0"]) =>
      count === "0" ? [] : [`${plural(Number(count), "result")} without the filter ${FILTERS[filter] ?? filter}.`],
    );
  }
  return [note.replace(/^[a-z]/, (letter) => letter.toUpperCase())];
}

/** Matches `without source: 3; without kind=task: 0.` */
const ALTERNATIVES = /^without [^;]+: \d+(?:; without [^;]+: \d+)*\.$/;
const ALTERNATIVE = /without ([^;=]+)(?:=[^;]*)?: (\d+)/g;

const FILTERS: Readonly<Record<string, string>> = {
  kind: "Kind",
  source: "Source",
  people: "Person",
  status: "Status",
  after: "Updated",
};

/** Returns `Gitea / acme/website` for `gitea:acme/website`. The app is shown by its name if the name is known. */
export function sourceWords(source: string, kinds: readonly { providerId: string; name: string }[] = []): string {
  const end = source.indexOf(":");
  const [providerId, place] = end === -1 ? [source, ""] : [source.slice(0, end), source.slice(end + 1)];
  const name = kinds.find((kind) => kind.providerId === providerId)?.name;
  if (name === undefined) return source;
  return place === "" ? name : `${name} / ${place}`;
}

/** Whether a result's passages are Markdown. Texts written in apps and Markdown files are. */
export function isMarkdown({ kind, path, title }: Pick<SearchResult, "kind" | "path" | "title">): boolean {
  return kind !== "file" || /\.(?:md|mdx|markdown)$/i.test(path.at(-1) ?? title);
}

/** Returns part of a Markdown passage without the formatting marks. */
export function withoutMarks(text: string): string {
  return text.replaceAll(/```+\w*|`|\*\*|~~|(?<=^|\s)#{1,6} /g, "");
}
