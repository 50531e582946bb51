import type { Scope } from "#core/scope.ts";

export const CONNECTOR_STATES = [
  "pending_auth",
  "active",
  "paused",
  "needs_reauth",
  "needs_owner",
  "error",
  "deleting",
] as const;
export type ConnectorState = (typeof CONNECTOR_STATES)[number];

export const VISIBILITIES = ["private", "members", "workspace", "source"] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** A configured instance that indexes one source kind. Times are epoch milliseconds. */
export interface ConnectorRecord {
  connectorId: string;
  providerId: string;
  name: string;
  ownerUserId: string;
  visibility: Visibility;
  memberIds: string[];
  groupIds: string[];
  /** As its source's schema parsed it; never a secret. */
  config: Record<string, unknown>;
  scope: Scope;
  /** Rises with each change of scope or config: a run of an older one stores nothing more. */
  scopeVersion: number;
  accountId: string | null;
  connectionId: string | null;
  everyMinutes: number | null;
  state: ConnectorState;
  stateReason: string | null;
  nextRunAt: number | null;
  /** What its source said last; opaque to everybody else. */
  cursor: unknown;
  consecutiveFailures: number;
  /** When a listing last would have shown a change of permissions. Source: S23. */
  aclCheckedAt: number | null;
  lastFullAt: number | null;
  createdAt: number;
  /** Whose role says how far it may reach: its maker, or who took it over. */
  createdBy: string;
}

export interface ConnectorKeyRecord {
  keyId: string;
  connectorId: string;
  /** SHA-256 of the plaintext, hex. */
  hash: string;
  prefix: string;
  createdAt: number;
  createdBy: string;
  expiresAt: number | null;
  revokedAt: number | null;
}

/** What a connector signs in with. */
export interface ConnectorCredentialRecord {
  connectorId: string;
  /** As the vault sealed it. */
  sealed: string;
  givenBy: string;
  givenAt: number;
}

export type ConnectorPatch = Partial<Omit<ConnectorRecord, "connectorId" | "providerId" | "createdAt">>;

export interface ConnectorStore {
  create(connector: ConnectorRecord): Promise<void>;
  find(connectorId: string): Promise<ConnectorRecord | undefined>;
  /** All of the workspace, the oldest first; one workspace has some hundred at most. */
  list(): Promise<ConnectorRecord[]>;
  update(connectorId: string, patch: ConnectorPatch): Promise<void>;
  /** Deletes the record with its syncs, keys and whatever still hangs on it. */
  remove(connectorId: string): Promise<void>;
  addKey(key: ConnectorKeyRecord): Promise<void>;
  /** Keys that open at this time, the newest first. */
  listKeys(connectorId: string, now: number): Promise<ConnectorKeyRecord[]>;
  /** Keys end at `endsAt` unless they end sooner. */
  endKeys(keyIds: readonly string[], endsAt: number): Promise<void>;
  findCredentials(connectorId: string): Promise<ConnectorCredentialRecord | undefined>;
  addCredentials(credentials: ConnectorCredentialRecord): Promise<void>;
  /** Puts another envelope over the same secret, unless it was replaced meanwhile. */
  resealCredentials(connectorId: string, before: string, after: string): Promise<void>;
  deleteCredentials(connectorId: string): Promise<void>;
  /** The connectors that keys of this workspace were made for by this person, still open. */
  listKeysMadeBy(userId: string, now: number): Promise<ConnectorKeyRecord[]>;
}
