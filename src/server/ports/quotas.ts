import type { SourceProblem } from "#api/common.ts";
import type { Store } from "./store.ts";

/** What a workspace may hold. */
export interface Quotas {
  /** Items that are searchable or listed. */
  items: number;
  /** Their text together, in millions of characters: about as many megabytes. */
  textMb: number;
  connectors: number;
  /** Members and open invitations together. */
  members: number;
  /** Active tokens of all members together. */
  tokens: number;
}

/** Of each workspace in managed mode; self-hosted there are none unless the settings name some. */
export const MANAGED_QUOTAS: Quotas = { items: 200_000, textMb: 2_000, connectors: 50, members: 100, tokens: 1_000 };

/** Says whether there is room for more. Nothing that is there is ever taken away for a quota. */
export interface QuotaKeeper {
  /**
   * In the transaction that makes one: whether there is room for it.
   *
   * @throws ApiError `quota_reached`
   */
  requireRoom(tx: Store, workspaceId: string, what: "connectors" | "members" | "tokens"): Promise<void>;
  /** Takes the place of a new item, or says why there is none. Counted at most once in half a minute. */
  takeItem(workspaceId: string): Promise<SourceProblem | undefined>;
  /** Notes the text of a new item, so that the count is right until it is taken again. */
  noteText(workspaceId: string, textChars: number): void;
}

/** Where nothing has a limit. */
export const NO_QUOTAS: QuotaKeeper = {
  requireRoom: async () => undefined,
  takeItem: async () => undefined,
  noteText: () => undefined,
};
