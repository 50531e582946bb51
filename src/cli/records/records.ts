/** The records of the contract as the commands read them. Types only: no schema is loaded. */
import type { Connector, ConnectorPublic, SourceKind as PublishedSourceKind, Sync } from "#api/connector-records.ts";

export type SyncRecord = Sync;

/** Owners and admins get the full record, other members the public part. */
export type ConnectorRecord = ConnectorPublic & Partial<Connector>;

/** The part of JSON Schema that a source's configuration uses. */
export interface JsonSchema {
  type?: string | string[];
  properties?: Record<string, JsonSchema>;
  required?: string[];
  items?: JsonSchema;
  enum?: unknown[];
  title?: string;
  description?: string;
  default?: unknown;
  /** `password` if the input must be hidden. */
  format?: string;
  /** Whether a text may be a path on the machine that runs `kb`: always, or only when it begins with a dot. */
  localPath?: "always" | "dotted";
  /** The value that the account provides. */
  fromAccount?: "baseUrl" | "apiUrl";
}

export type SourceKind = Omit<PublishedSourceKind, "configSchema"> & { configSchema: JsonSchema };
