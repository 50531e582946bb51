/** How much a workspace holds. */
export interface UsageStore {
  /** Connectors that are not being deleted, members with open invitations, active tokens. */
  count(what: "connectors" | "members" | "tokens", now: Date): Promise<number>;
  /** Living items and the UTF-16 code units of their texts; reads a row of each. */
  items(): Promise<{ items: number; textChars: number }>;
}
