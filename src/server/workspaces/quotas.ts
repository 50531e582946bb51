import type { SourceProblem } from "#api/common.ts";
import { ApiError } from "#api/errors.ts";
import type { Clock } from "#server/ports/clock.ts";
import { NO_QUOTAS, type QuotaKeeper, type Quotas } from "#server/ports/quotas.ts";
import type { Store } from "#server/ports/store.ts";

/** How long a count of items is believed, with what was noted since. A count of 200,000 takes some 30 ms. */
const COUNT_KEPT_MS = 30_000;
const MAX_COUNTS = 1_000;
const CHARS_PER_MB = 1_000_000;

const NAMES = { connectors: "connectors", members: "members and open invitations", tokens: "active tokens" } as const;

interface Count {
  items: number;
  textChars: number;
}

/** Keeps to the quotas of each workspace; what has none given is not counted. */
export function makeQuotaKeeper(options: { store: Store; clock: Clock; quotas: Partial<Quotas> }): QuotaKeeper {
  const { store, clock, quotas } = options;
  if (Object.keys(quotas).length === 0) return NO_QUOTAS;
  const counts = new Map<string, { at: number; count: Promise<Count> }>();

  /** One count for all who ask meanwhile, so that nobody's place is forgotten. */
  function countOf(workspaceId: string): Promise<Count> {
    const kept = counts.get(workspaceId);
    if (kept && clock.now() - kept.at < COUNT_KEPT_MS) return kept.count;
    const count = store.in(workspaceId).usage.items();
    if (counts.size >= MAX_COUNTS) counts.clear();
    counts.set(workspaceId, { at: clock.now(), count });
    // What could not be counted is counted anew.
    count.catch(() => counts.delete(workspaceId));
    return count;
  }

  return {
    async requireRoom(tx, workspaceId, what) {
      const most = quotas[what];
      if (most === undefined) return;
      if ((await tx.in(workspaceId).usage.count(what, new Date(clock.now()))) < most) return;
      throw new ApiError("quota_reached", {
        message: `This workspace has ${format(most)} ${NAMES[what]}, which is its limit. Remove one that is no longer needed, or ask who runs this server for more.`,
      });
    },

    async takeItem(workspaceId) {
      const { items, textMb } = quotas;
      if (items === undefined && textMb === undefined) return undefined;
      const count = await countOf(workspaceId);
      if (items !== undefined && count.items >= items) return full(`${format(items)} items`);
      if (textMb !== undefined && count.textChars >= textMb * CHARS_PER_MB) {
        return full(`${format(textMb)} million characters of text`);
      }
      count.items += 1;
      return undefined;
    },

    noteText(workspaceId, textChars) {
      void counts.get(workspaceId)?.count.then((count) => void (count.textChars += textChars));
    },
  };
}

function full(what: string): SourceProblem {
  return {
    code: "quota_reached",
    message: `This workspace holds ${what}, which is its limit: nothing new is added, and what is there stays up to date. Remove a connector or narrow its scope, or ask who runs this server for more.`,
  };
}

function format(count: number): string {
  return count.toLocaleString("en-GB");
}
