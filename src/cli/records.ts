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
  /** `password` for what is not shown while it is typed. */
  format?: string;
  /** Text that may be a path of the machine that `kb` runs on: always, or when it begins with a dot. */
  localPath?: "always" | "dotted";
  /** With an account, the server knows it. */
  fromAccount?: "baseUrl" | "apiUrl";
}

export type SourceKind = Omit<PublishedSourceKind, "configSchema"> & { configSchema: JsonSchema };
