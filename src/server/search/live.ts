import type { LiveSearch } from "#server/provider-servers/live.ts";
import type { SearchService } from "./types.ts";

/**
 * A search that also asks the person's own connections, when told to, beside the indexed answer: that one is made as if nobody
 * had asked them, and goes on by the same cursors. Only a first page asks.
 */
export function searchWithLive(search: SearchService, live: LiveSearch): SearchService {
  return {
    async search(actor, { live: isLive = false, ...args }) {
      if (!isLive || args.cursor !== undefined) return search.search(actor, args);
      const ending = new AbortController();
      const asked = live.search(actor, args.query, ending.signal);
      try {
        const outcome = await search.search(actor, args);
        return { ...outcome, live: await asked };
      } finally {
        ending.abort(new Error("The search has ended."));
      }
    },
  };
}
