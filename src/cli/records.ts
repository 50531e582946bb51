/** The connector records as the commands read them. Types only: the server checks its answers against the contract. */

export interface SyncRecord {
  id: string;
  connectorId: string;
  mode: string;
  trigger: string;
  state: "queued" | "running" | "waiting" | "cancelling" | "succeeded" | "partial" | "failed" | "cancelled";
  counts: {
    seen: number;
    upserted: number;
    unchanged: number;
    deleted: number;
    skipped: number;
    failed: number;
    bytes: number;
  };
  progress: { done: number; total: number | null; note: string | null };
  resumeAt: string | null;
  startedAt: string | null;
  finishedAt: string | null;
  problem: { code: string; message: string; field?: string } | null;
  skips: { externalId: string; reason: string; message: string; retryable: boolean }[];
}

/** Owners and admins get the full record; other members only the first four fields. */
export interface ConnectorRecord {
  id: string;
  providerId: string;
  name: string;
  state: string;
  stateReason?: string | null;
  owner?: { id: string; name: string };
  access?: { visibility: string; memberIds: string[]; groupIds: string[] };
  config?: Record<string, unknown>;
  scope?: { include: string[]; exclude: string[] };
  schedule?: { everyMinutes: number } | null;
  nextRunAt?: string | null;
  lastSync?: { id: string; state: string; finishedAt: string | null } | null;
  counts?: { indexed: number; pending: number; held: number; unsearchable: number; failed: number };
  hasKey?: boolean;
  keyPrefix?: string | null;
  createdAt?: string;
}

export interface SourceKind {
  providerId: string;
  name: string;
  kinds: string[];
  auth: unknown;
  configSchema: JsonSchema;
  acl: string;
  available: boolean;
  reason?: string;
}

/** The part of JSON Schema that a source's configuration uses. */
export interface JsonSchema {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: unknown[];
  description?: string;
  default?: unknown;
}
