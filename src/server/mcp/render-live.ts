import { formatDay } from "#api/days.ts";
import { LIVE_PROBLEMS, type LiveAnswer } from "#api/live-search.ts";
import { plural } from "#api/plural.ts";
import type { ToolLiveResult, ToolSearchResult } from "#api/tools.ts";
import { shorten } from "./entry.ts";
import { fits, mostThatFits, type Rendered } from "./fitting.ts";
import type { CountTokens } from "./tokens.ts";

export interface LiveRendering {
  maxTokens: number;
  count: CountTokens;
  timeZone: string;
}

/**
 * Adds the live hits as a separate block, in the tokens that the indexed part leaves of `maxTokens`. The indexed part
 * stays the same, byte for byte.
 */
export async function addLive(
  indexed: Rendered<ToolSearchResult>,
  live: LiveAnswer,
  rendering: LiveRendering,
): Promise<Rendered<ToolSearchResult> & { live?: string }> {
  const shown = shownBy(live, rendering.timeZone);
  const withHits = (count: number, snippetChars: number) => {
    const hits = shown(count, snippetChars);
    return { text: indexed.text, structured: { ...indexed.structured, live: hits }, live: liveText(hits) };
  };
  const formsOf = ({ structured, live: block }: ReturnType<typeof withHits>) => [
    `${indexed.text}\n${block}`,
    JSON.stringify(structured),
  ];
  const all = live.hits.length;
  for (const snippetChars of [500, 240, SHORTEST]) {
    const form = withHits(all, snippetChars);
    if (await fits(formsOf(form), rendering)) return form;
  }
  return (await mostThatFits(all - 1, (count) => withHits(count, SHORTEST), formsOf, rendering)) ?? indexed;
}

/** The shortest length of a snippet when few tokens are left, in characters. */
const SHORTEST = 120;

/** Returns a function that makes the block with the given numbers of hits and of characters per snippet. */
function shownBy({ hits, connections }: LiveAnswer, timeZone: string) {
  const failures = connections.flatMap(({ server, problem }) =>
    problem === null ? [] : [`${server} ${LIVE_PROBLEMS[problem]} (${problem}).`],
  );
  const notes = connections.length === 0 ? [NOBODY_ASKED] : failures;
  return (count: number, snippetChars: number): ToolLiveResult => {
    const cut = count < hits.length ? [`${plural(hits.length - count, "more live hit")}: raise maxTokens.`] : [];
    return {
      hits: hits.slice(0, count).map(({ server, title, url, updatedAt, text }, at) => ({
        n: at + 1,
        from: server,
        title,
        ...(url !== null && { url }),
        ...(updatedAt !== null && { updated: formatDay(Date.parse(updatedAt), timeZone) }),
        snippet: shorten(text, snippetChars),
      })),
      ...(notes.length + cut.length > 0 && { notes: [...notes, ...cut] }),
    };
  };
}

const NOBODY_ASKED = "no live search: it needs words, and a connection of this person with a mapped search tool.";

/** Returns the block's text. Only these lines begin with `[live n]` and `live, from:`. */
function liveText({ hits, notes = [] }: ToolLiveResult): string {
  const blocks = hits.map(({ n, from, title, url, updated, snippet }) => {
    const facts = [
      `live, from: ${from}`,
      ...(updated === undefined ? [] : [`updated: ${updated}`]),
      ...(url === undefined ? [] : [`URL: ${url}`]),
    ];
    return [`[live ${n}] ${title}`, facts.join(" | "), snippet === "" ? "snippet: none" : `> ${snippet}`].join("\n");
  });
  return [
    `${plural(hits.length, "live hit")} from this person's own connections, not indexed and in no number above.`,
    ...blocks,
    [...notes.map((note) => `Note: ${note}`), "End of live hits."].join("\n"),
  ].join("\n\n");
}
