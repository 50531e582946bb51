import { defined } from "#core/defined.ts";
/** A page's directives for crawlers. */
export interface RobotsRules {
  noindex: boolean;
  nofollow: boolean;
  /** Epoch milliseconds after which the page must not be indexed. */
  until?: number;
}

/** The most characters of a value. A longer value isn't a list of a few words. */
const MAX_CHARS = 4_096;
const WORDS = /(?<![^\s,])(?:noindex|nofollow|none)(?![^\s,])/gi;

/** Combines `<meta name="robots">` and `X-Robots-Tag`. A directive whose addressee is unclear applies to kb. */
export function makeRobotsRules(agent: string) {
  const words = new Set<string>();
  let until: number | undefined;

  function add(whole: string): void {
    const content = whole.slice(0, MAX_CHARS);
    const date = /unavailable_after\s*:\s*([^<>,]{4,60})/i.exec(content)?.[1];
    const at = Date.parse(date ?? "");
    if (!Number.isNaN(at)) until = Math.min(until ?? at, at);
    for (const word of content.match(WORDS) ?? []) words.add(word.toLowerCase());
  }

  return {
    add,
    /** Adds a header such as `noindex` or `googlebot: noindex`. Several headers come as one line. */
    addHeader(line: string | null): void {
      if (line === null) return;
      for (const part of line.slice(0, MAX_CHARS).split(",")) {
        const [, name, rest] = /^\s*([a-z_-]+)\s*:(.*)$/is.exec(part) ?? [];
        if (name === undefined || name.toLowerCase() === "unavailable_after") add(part);
        else if (name.toLowerCase() === agent.toLowerCase()) add(rest ?? "");
      }
    },
    result(): RobotsRules {
      const isNone = words.has("none");
      return {
        noindex: isNone || words.has("noindex"),
        nofollow: isNone || words.has("nofollow"),
        ...defined({ until }),
      };
    },
  };
}
