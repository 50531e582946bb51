import type { SourceProblem } from "#api/common.ts";
import type { Scope } from "#core/scope.ts";
import { WORKSPACES } from "./people.ts";
import { table, words } from "./table.ts";

const { text, integer, instant, json, oneOf, nullable, hidden, withDefault } = words;

/** A scope, with the entry names its owner saw: no source uses them, and only the owner reads them. */
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
export const CONNECTORS = table(
  "connectors",
  ["workspaceId", "connectorId"],
  {
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
    /** The last cursor from its source; opaque to everything else. */
    cursor: nullable(json<unknown>()),
    consecutiveFailures: integer,
    /** When a listing last would have shown a change of permissions. Source: S23. */
    aclCheckedAt: nullable(instant),
    lastFullAt: nullable(instant),
    createdAt: instant,
    /** The person whose role limits it: its creator, or who took it over. */
    createdBy: text,
    /** Since when its source has refused every request (401); null while it answers. */
    refusedAt: nullable(instant),
    /** When a run that could prove its permissions was last queued. */
    proofTriedAt: nullable(instant),
    /** Who paused it; null = not paused, or no longer known. */
    pausedBy: nullable(text),
    /** Since when it is hidden from everyone, until what was read elsewhere is removed; null = not hidden. */
    withheldAt: nullable(instant),
    /** Since when its owner has had it: created, or taken over. */
    ownedSince: instant,
  },
  { deletedWith: [WORKSPACES], indexes: { connectors_due: ["state", "nextRunAt"] } },
);

export const CONNECTOR_KEYS = table(
  "connector_keys",
  ["workspaceId", "keyId"],
  {
    keyId: text,
    connectorId: text,
    /** SHA-256 of the plaintext, hex. */
    hash: text,
    prefix: text,
    createdAt: instant,
    createdBy: text,
    expiresAt: nullable(instant),
    revokedAt: nullable(instant),
  },
  { deletedWith: [WORKSPACES, CONNECTORS], unique: [["hash"]] },
);

/** Credentials that connectors sign in with. */
export const CONNECTOR_CREDENTIALS = table(
  "connector_credentials",
  ["workspaceId", "connectorId"],
  {
    connectorId: text,
    /** An envelope of the vault over the JSON of the credentials. */
    sealed: text,
    givenBy: text,
    givenAt: instant,
  },
  { deletedWith: [CONNECTORS] },
);

/** Secrets that connectors' apps sign their notifications with. */
export const CONNECTOR_WEBHOOKS = table(
  "connector_webhooks",
  ["workspaceId", "connectorId"],
  {
    connectorId: text,
    /** An envelope of the vault over the secret. */
    sealed: text,
    madeAt: instant,
  },
  {
    deletedWith: [CONNECTORS],
    // A notification names the connector before its workspace is known.
    indexes: { connector_webhooks_connector: ["connectorId"] },
  },
);

/** The subscriptions that connectors' sources made at their providers, or why there is none. */
export const WEBHOOK_SUBSCRIPTIONS = table(
  "webhook_subscriptions",
  ["workspaceId", "connectorId"],
  {
    connectorId: text,
    /** JSON with which the source ends it; null = there is none. */
    data: nullable(text),
    expiresAt: nullable(instant),
    /** When to make the next one; null = when config, scope or secret change. */
    dueAt: nullable(instant),
    /** The connector's scope version when the subscription was made or tried. */
    scopeVersion: integer,
    /** Creation time of the secret that the provider was given. */
    secretMadeAt: instant,
    /** Failures in a row. */
    tries: integer,
    /** The last failure. */
    problem: nullable(json<SourceProblem>()),
  },
  { deletedWith: [CONNECTORS] },
);

/**
 * The place and account for which connectors' cursors and states are valid: `server/sync/binding.ts`. Null = not
 * recorded.
 */
export const CONNECTOR_BINDINGS = table(
  "connector_bindings",
  ["workspaceId", "connectorId"],
  {
    connectorId: hidden(text),
    /** JSON of instance, origin and account. */
    place: text,
    /** Format version of the source's cursor and state. */
    version: integer,
    /** The account that the source reported. */
    account: nullable(text),
    /** JSON of the granted scopes. */
    scopes: nullable(text),
    /** Which credentials; empty for none. */
    credentials: nullable(text),
    /** Item clocks before this instant belong to another account, so no one holds them. */
    clocksFrom: hidden(withDefault(instant, 0)),
  },
  { withoutRowid: true, deletedWith: [CONNECTORS] },
);

/** The accounts of connectors' credentials, as their sources reported when they were checked. */
export const CONNECTOR_ACCOUNTS = table(
  "connector_accounts",
  ["workspaceId", "connectorId"],
  {
    connectorId: hidden(text),
    accountId: nullable(text),
    /** JSON, sorted. */
    scopes: nullable(text),
  },
  { deletedWith: [CONNECTORS] },
);

/** Instances of apps whose users may be members here. */
export const INSTANCES = table(
  "instances",
  ["workspaceId", "providerId", "baseUrl"],
  {
    providerId: text,
    baseUrl: text,
    registeredBy: hidden(text),
    registeredAt: hidden(instant),
  },
  { withoutRowid: true },
);

/** The tenants that connectors' servers report. */
export const CONNECTOR_TENANTS = table(
  "connector_tenants",
  ["workspaceId", "connectorId"],
  {
    connectorId: text,
    tenantId: text,
  },
  { withoutRowid: true },
);

/** When the users and groups of connectors are read next. */
export const IDENTITY_SCHEDULES = table(
  "identity_schedules",
  ["workspaceId", "connectorId"],
  {
    connectorId: hidden(text),
    nextRunAt: hidden(instant),
    /** When the last reading requested by a person begins, or began. */
    askedAt: withDefault(nullable(instant), null),
    /** Until when the credential's request budget is used up by readings that notifications asked for. */
    paidUntil: withDefault(nullable(instant), null),
  },
  { withoutRowid: true, indexes: { identity_schedules_due: ["nextRunAt"] } },
);
