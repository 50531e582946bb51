import type { LiveSearch } from "#server/provider-servers/live.ts";
import type { SearchService } from "./types.ts";

/**
 * Makes a search that, on request, also queries the person's own connections. The indexed answer stays the same and
 * continues with the same cursors. Only the first page queries the connections.
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
