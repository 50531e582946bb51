import type { SourceProblem } from "#api/common.ts";
import type { Scope } from "#core/scope.ts";
import { table, words } from "./table.ts";

const { text, integer, instant, json, oneOf, nullable, hidden, withDefault } = words;

/** A scope, and what its owner saw as the names of its entries: no source looks at these, and nobody else reads them. */
export type StoredScope = Scope & { titles?: Readonly<Record<string, string>> };

export const CONNECTOR_STATES = [
  "pending_auth",
  "active",
  "paused",
  "needs_reauth",
  "needs_owner",
  "error",
  "deleting",
] as const;

/** Configured instances that index one source kind each. */
export const CONNECTORS = table("connectors", ["workspaceId", "connectorId"], {
  connectorId: text,
  providerId: text,
  name: text,
  ownerUserId: text,
  visibility: oneOf(["private", "members", "workspace", "source"]),
  memberIds: json<string[]>(),
  groupIds: json<string[]>(),
  /** As its source's schema parsed it; never a secret. */
  config: json<Record<string, unknown>>(),
  scope: json<StoredScope>(),
  /** Rises with each change of scope or config: a run of an older one stores nothing more. */
  scopeVersion: integer,
  accountId: nullable(text),
  connectionId: nullable(text),
  everyMinutes: nullable(integer),
  state: oneOf(CONNECTOR_STATES),
  stateReason: nullable(text),
  nextRunAt: nullable(instant),
  /** What its source said last; opaque to everybody else. */
  cursor: nullable(json<unknown>()),
  consecutiveFailures: integer,
  /** When a listing last would have shown a change of permissions. Source: S23. */
  aclCheckedAt: nullable(instant),
  /** Since when its source refuses it everything (401); null while it answers. */
  refusedAt: nullable(instant),
  /** When a run that could prove its permissions was last put in line. */
  proofTriedAt: nullable(instant),
  lastFullAt: nullable(instant),
  /** Who paused it; null = it isn't, or nobody knows any more. */
  pausedBy: nullable(text),
  /** Since when nobody reads anything of it, until what was read elsewhere is removed; null = people do. */
  withheldAt: nullable(instant),
  /** Since when it is its owner's: created, or taken over. */
  ownedSince: instant,
  createdAt: instant,
  /** Whose role says how far it may reach: its maker, or who took it over. */
  createdBy: text,
});

export const CONNECTOR_KEYS = table("connector_keys", ["workspaceId", "keyId"], {
  keyId: text,
  connectorId: text,
  /** SHA-256 of the plaintext, hex. */
  hash: text,
  prefix: text,
  createdAt: instant,
  createdBy: text,
  expiresAt: nullable(instant),
  revokedAt: nullable(instant),
});

/** What connectors sign in with. */
export const CONNECTOR_CREDENTIALS = table("connector_credentials", ["workspaceId", "connectorId"], {
  connectorId: text,
  /** An envelope of the vault over the JSON of the credentials. */
  sealed: text,
  givenBy: text,
  givenAt: instant,
});

/** What the apps of connectors sign their notifications with. */
export const CONNECTOR_WEBHOOKS = table("connector_webhooks", ["workspaceId", "connectorId"], {
  connectorId: text,
  /** An envelope of the vault over the secret. */
  sealed: text,
  madeAt: instant,
});

/** The subscriptions that connectors' sources made at their providers, or why there is none. */
export const WEBHOOK_SUBSCRIPTIONS = table("webhook_subscriptions", ["workspaceId", "connectorId"], {
  connectorId: text,
  /** JSON that the source ends it by; null = there is none. */
  data: nullable(text),
  expiresAt: nullable(instant),
  /** When the next one is to be made; null = when config, scope or secret change. */
  dueAt: nullable(instant),
  /** Of the connector, when it was made or tried. */
  scopeVersion: integer,
  /** Which secret the provider was given. */
  secretMadeAt: instant,
  /** Failures in a row. */
  tries: integer,
  /** The last failure. */
  problem: nullable(json<SourceProblem>()),
});

/** What the cursors and the states of connectors are good for: `server/sync/binding.ts`. What is null was not noted. */
export const CONNECTOR_BINDINGS = table("connector_bindings", ["workspaceId", "connectorId"], {
  connectorId: hidden(text),
  /** JSON of instance, origin and account. */
  place: text,
  /** The form in which the source keeps them. */
  version: integer,
  /** The account that the source told. */
  account: nullable(text),
  /** JSON of what it was granted. */
  scopes: nullable(text),
  /** Which credentials; empty for none. */
  credentials: nullable(text),
  /** Clocks of items before this were another account's: nobody holds them. */
  clocksFrom: hidden(withDefault(instant, 0)),
});

/** Whose credentials connectors have, as their sources told when they were checked. */
export const CONNECTOR_ACCOUNTS = table("connector_accounts", ["workspaceId", "connectorId"], {
  connectorId: hidden(text),
  accountId: nullable(text),
  /** JSON, sorted. */
  scopes: nullable(text),
});

/** Instances of apps whose users may be members here. */
export const INSTANCES = table("instances", ["workspaceId", "providerId", "baseUrl"], {
  providerId: text,
  baseUrl: text,
  registeredBy: hidden(text),
  registeredAt: hidden(instant),
});

/** The tenants that the servers of connectors tell. */
export const CONNECTOR_TENANTS = table("connector_tenants", ["workspaceId", "connectorId"], {
  connectorId: text,
  tenantId: text,
});

/** When the users and groups of connectors are read next. */
export const IDENTITY_SCHEDULES = table("identity_schedules", ["workspaceId", "connectorId"], {
  connectorId: hidden(text),
  nextRunAt: hidden(instant),
  /** When the reading begins, or began, that a person asked for last. */
  askedAt: withDefault(nullable(instant), null),
  /** Until when the readings that notifications asked for are paid for, by what the credential may send. */
  paidUntil: withDefault(nullable(instant), null),
});
