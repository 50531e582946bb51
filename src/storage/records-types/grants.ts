import type { Scope } from "#api/common.ts";
import type { RowsAfter } from "./people.ts";

/** An OAuth client that a person let into one workspace. */
export interface GrantRecord {
  grantId: string;
  workspaceId: string;
  userId: string;
  clientId: string;
  clientName: string;
  /** Where the client is sent back to: a host, or "this computer". */
  place: string;
  scopes: Scope[];
  isDevice: boolean;
  /** When the person last proved themselves before deciding. */
  authenticatedAt: Date;
  createdAt: Date;
  lastUsedAt: Date | null;
  /** When its last token ends; each refresh moves it. */
  expiresAt: Date;
  revokedAt: Date | null;
}

/** The grants of one workspace. */
export interface GrantStore {
  find(grantId: string): Promise<GrantRecord | undefined>;
  /** Living ones of a person, by (createdAt, grantId) descending. */
  list(options: { userId: string; now: Date; limit: number; after?: RowsAfter }): Promise<GrantRecord[]>;
  insert(grant: GrantRecord): Promise<void>;
}
