import { formatDay } from "#api/days.ts";
import { LIVE_PROBLEMS, type LiveAnswer } from "#api/live-search.ts";
import { plural } from "#api/plural.ts";
import type { ToolLiveResult, ToolSearchResult } from "#api/tools.ts";
import { shorten } from "./entry.ts";
import { fits, type Rendered } from "./render-search.ts";
import type { CountTokens } from "./tokens.ts";

export interface LiveRendering {
  maxTokens: number;
  count: CountTokens;
  timeZone: string;
}

/**
 * The answer with live hits in a block of their own, as far as `maxTokens` leaves room for it: what is indexed stays as
 * it is, byte for byte.
 */
export function addLive(
  indexed: Rendered<ToolSearchResult>,
  live: LiveAnswer,
  rendering: LiveRendering,
): Rendered<ToolSearchResult> & { live?: string } {
  for (const candidate of candidates(live, rendering.timeZone)) {
    const structured = { ...indexed.structured, live: candidate };
    const block = liveText(candidate);
    const isFitting = fits(`${indexed.text}\n${block}`, rendering) && fits(JSON.stringify(structured), rendering);
    if (isFitting) return { text: indexed.text, structured, live: block };
  }
  return indexed;
}

const SNIPPETS = [500, 240, 120];

function* candidates({ hits, connections }: LiveAnswer, timeZone: string): Generator<ToolLiveResult> {
  const failures = connections.flatMap(({ server, problem }) =>
    problem === null ? [] : [`${server} ${LIVE_PROBLEMS[problem]} (${problem}).`],
  );
  const notes = connections.length === 0 ? [NOBODY_ASKED] : failures;
  const shown = (count: number, snippetChars: number): ToolLiveResult => {
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
  for (const snippetChars of SNIPPETS) yield shown(hits.length, snippetChars);
  for (let count = hits.length - 1; count >= 0; count--) yield shown(count, 120);
}

const NOBODY_ASKED = "nothing was asked: it takes words, and a connection of this person's with a search tool mapped.";

/** `[live n]` and `live, from:` begin lines only here. */
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
