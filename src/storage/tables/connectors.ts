import type { SourceProblem } from "#api/common.ts";
import type { Scope } from "#core/scope.ts";
import { WORKSPACES } from "./people.ts";
import { table, words } from "./table.ts";

const { text, integer, instant, json, oneOf, nullable, hidden, withDefault } = words;

/**
 * A scope with the names of its entries as its owner saw them. No source uses the names, and only the owner reads them.
 */
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

/** Configured connectors, which index one kind of source each. */
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
    /** The config as its source's schema parsed it; never contains a secret. */
    config: json<Record<string, unknown>>(),
    scope: json<StoredScope>(),
    /** Rises with each change of scope or config. A run of an older version stores nothing more. */
    scopeVersion: integer,
    accountId: nullable(text),
    connectionId: nullable(text),
    everyMinutes: nullable(integer),
    state: oneOf(CONNECTOR_STATES),
    stateReason: nullable(text),
    nextRunAt: nullable(instant),
    /** The last cursor from its source; opaque to all other code. */
    cursor: nullable(json<unknown>()),
    consecutiveFailures: integer,
    /** When a listing last would have shown a change of permissions. Source: S23. */
    aclCheckedAt: nullable(instant),
    lastFullAt: nullable(instant),
    createdAt: instant,
    /** The person whose role limits the connector: its creator, or the person who took it over. */
    createdBy: text,
    /** The time at which its source began to refuse every request (401); null while the source responds. */
    refusedAt: nullable(instant),
    /** When kb last queued a run that could prove its permissions. */
    proofTriedAt: nullable(instant),
    /** The person who paused it; null = not paused, or no longer known. */
    pausedBy: nullable(text),
    /**
     * The time since which it is hidden from everyone, until items that were read elsewhere are removed; null = not
     * hidden.
     */
    withheldAt: nullable(instant),
    /** The time at which its owner created it or took it over. */
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

/** The credentials with which connectors sign in. */
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

/** The secrets with which connectors' apps sign their notifications. */
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

/** The subscriptions that connectors' sources created at their providers, or why there is none. */
export const WEBHOOK_SUBSCRIPTIONS = table(
  "webhook_subscriptions",
  ["workspaceId", "connectorId"],
  {
    connectorId: text,
    /** JSON with which the source can end the subscription; null = there is no subscription. */
    data: nullable(text),
    expiresAt: nullable(instant),
    /** When to create the next subscription; null = when config, scope or secret change. */
    dueAt: nullable(instant),
    /** The connector's scope version when the subscription was created or tried. */
    scopeVersion: integer,
    /** The creation time of the secret that the provider got. */
    secretMadeAt: instant,
    /** The number of consecutive failures. */
    tries: integer,
    /** The last failure. */
    problem: nullable(json<SourceProblem>()),
  },
  { deletedWith: [CONNECTORS] },
);

/**
 * The place and account for which connectors' cursors and states are valid; see `server/sync/binding.ts`. Null = not
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
    /** Identifies the credentials; empty without credentials. */
    credentials: nullable(text),
    /** Item clocks before this instant belong to another account, so they are invalid. */
    clocksFrom: hidden(withDefault(instant, 0)),
  },
  { withoutRowid: true, deletedWith: [CONNECTORS] },
);

/** The accounts of connectors' credentials, as their sources reported them when the credentials were checked. */
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

/** Instances of apps whose users may be linked to members. */
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
    /** When the last reading that a person requested begins or began. */
    askedAt: withDefault(nullable(instant), null),
    /** Until when the credential's request budget is used up by readings that notifications triggered. */
    paidUntil: withDefault(nullable(instant), null),
  },
  { withoutRowid: true, indexes: { identity_schedules_due: ["nextRunAt"] } },
);
