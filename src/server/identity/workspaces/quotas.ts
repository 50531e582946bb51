import type { SourceProblem } from "#api/common.ts";
import { LRUCache } from "lru-cache";
import { atMost } from "#core/cache-options.ts";
import { ApiError } from "#api/errors.ts";
import type { Clock } from "#core/clock.ts";
import type { Store } from "#storage/records/store.ts";

/** The limits of a workspace. */
export interface Quotas {
  /** Items that can be searched or listed. */
  items: number;
  /** The text of these items, in millions of characters, which are about as many megabytes. */
  textMb: number;
  connectors: number;
  /** Members and open invitations, added up. */
  members: number;
  /** Active tokens of all members, added up. */
  tokens: number;
}

/** Quotas of each workspace in managed mode. Self-hosted servers have quotas only if the settings specify some. */
export const MANAGED_QUOTAS: Quotas = { items: 200_000, textMb: 2_000, connectors: 50, members: 100, tokens: 1_000 };

/** Checks whether a workspace is below its quotas. Stored data is never removed because of a quota. */
export interface QuotaKeeper {
  /**
   * Checks that another one is within the quota, in the transaction that creates it.
   *
   * @throws ApiError `quota_reached`
   */
  requireRoom(tx: Store, workspaceId: string, what: "connectors" | "members" | "tokens"): Promise<void>;
  /**
   * Reserves room for a new item, or returns the reason why there isn't any. Items are counted at most once in half a
   * minute.
   */
  takeItem(workspaceId: string): Promise<SourceProblem | undefined>;
  /** Adds the text of a new item to the current count, so that it stays right until the next count. */
  noteText(workspaceId: string, textChars: number): void;
}

/** A quota keeper without limits. */
export const NO_QUOTAS: QuotaKeeper = {
  requireRoom: async () => undefined,
  takeItem: async () => undefined,
  noteText: () => undefined,
};

/**
 * Milliseconds for which a count of items is used. Items added in the meantime are added to it. A count of 200,000
 * takes some 30 ms.
 */
const COUNT_KEPT_MS = 30_000;
const MAX_COUNTS = 1_000;
const CHARS_PER_MB = 1_000_000;

const NAMES = { connectors: "connectors", members: "members and open invitations", tokens: "active tokens" } as const;

interface Count {
  items: number;
  textChars: number;
}

/** Enforces the quotas of each workspace. Resources without a quota are not counted. */
export function makeQuotaKeeper(options: { store: Store; clock: Clock; quotas: Partial<Quotas> }): QuotaKeeper {
  const { store, clock, quotas } = options;
  if (Object.keys(quotas).length === 0) return NO_QUOTAS;
  const counts = new LRUCache<string, { at: number; count: Promise<Count> }>(atMost(MAX_COUNTS));

  /** Concurrent callers share one count, so that every reservation is included. */
  function countOf(workspaceId: string): Promise<Count> {
    const kept = counts.get(workspaceId);
    if (kept && clock.now() - kept.at < COUNT_KEPT_MS) return kept.count;
    const count = store.in(workspaceId).usage.items();
    counts.set(workspaceId, { at: clock.now(), count });
    // A failed count is tried again.
    count.catch(() => counts.delete(workspaceId));
    return count;
  }

  return {
    async requireRoom(tx, workspaceId, what) {
      const most = quotas[what];
      if (most === undefined) return;
      if ((await tx.in(workspaceId).usage.count(what, clock.now())) < most) return;
      throw new ApiError("quota_reached", {
        message: `This workspace has ${format(most)} ${NAMES[what]}, which is its limit. Remove one that you no longer need, or ask the server's operator for more.`,
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
    message: `This workspace holds ${what}, which is its limit: nothing new is added, and existing items stay up to date. Remove a connector, narrow its scope, or ask the server's operator for more.`,
  };
}

function format(count: number): string {
  return count.toLocaleString("en-GB");
}
