/**
 * The tables, one interface each. Portable column rules: ids are text, times are integers in epoch milliseconds, booleans are
 * 0/1, JSON is text that nothing filters inside. Every tenant table begins with `workspaceId` and its keys are composite.
 * The index's own tables belong to `src/storage/index/` and are not listed here.
 * Over 400 lines because it is a list: one interface a table, read side by side.
 */
import type { Generated, Selectable } from "kysely";
import { MEMBERSHIPS, ACCESS_STATE, ACCESS_LISTS, ACCESSES, AUDIT } from "./tables/access.ts";
import { PROVIDER_ACCOUNTS, ACCOUNT_FLOWS } from "./tables/accounts.ts";
import {
  CONNECTORS,
  CONNECTOR_KEYS,
  CONNECTOR_CREDENTIALS,
  CONNECTOR_WEBHOOKS,
  WEBHOOK_SUBSCRIPTIONS,
  CONNECTOR_BINDINGS,
  CONNECTOR_ACCOUNTS,
  INSTANCES,
  CONNECTOR_TENANTS,
  IDENTITY_SCHEDULES,
} from "./tables/connectors.ts";
import { API_TOKENS, GRANTS, SESSIONS, EMAIL_LINKS, OAUTH_CLIENTS, CLIENT_DOCUMENTS } from "./tables/credentials.ts";
import { EVENT_TARGETS, EVENTS, EVENT_DELIVERIES, EVENT_MARKS } from "./tables/events.ts";
import { IDENTITIES, IDENTITY_JOINS, SOURCE_GROUPS, PEOPLE_FEEDS, FORMER_ADDRESSES } from "./tables/identities.ts";
import {
  ITEMS,
  ITEM_TEXTS,
  ENTITIES,
  ITEM_ENTITIES,
  REMOVAL_WINDOWS,
  WITHHELD_ITEMS,
  FORMER_OWNERS,
  ITEM_CLOCKS,
  PUSH_UPLOADS,
  SOURCE_STATE,
  RELIST_ITEMS,
  REMOVALS,
} from "./tables/items.ts";
import { JOBS } from "./tables/jobs.ts";
import { USERS, WORKSPACES, MEMBERS, INVITATIONS, GROUPS } from "./tables/people.ts";
import { PROVIDER_SERVERS, PROVIDER_SERVER_SECRETS, CONNECTIONS, CONNECTION_SECRETS } from "./tables/servers.ts";
import { SYNCS, SYNC_SKIPS } from "./tables/syncs.ts";
import type { FormsOf } from "./tables/table.ts";

/** Tables that define how their records are stored. */
const DESCRIBED = [
  MEMBERSHIPS,
  ACCESS_STATE,
  ACCESS_LISTS,
  ACCESSES,
  AUDIT,
  PROVIDER_ACCOUNTS,
  ACCOUNT_FLOWS,
  CONNECTORS,
  CONNECTOR_KEYS,
  CONNECTOR_CREDENTIALS,
  CONNECTOR_WEBHOOKS,
  WEBHOOK_SUBSCRIPTIONS,
  CONNECTOR_BINDINGS,
  CONNECTOR_ACCOUNTS,
  INSTANCES,
  CONNECTOR_TENANTS,
  IDENTITY_SCHEDULES,
  API_TOKENS,
  GRANTS,
  SESSIONS,
  EMAIL_LINKS,
  OAUTH_CLIENTS,
  CLIENT_DOCUMENTS,
  EVENT_TARGETS,
  EVENTS,
  EVENT_DELIVERIES,
  EVENT_MARKS,
  IDENTITIES,
  IDENTITY_JOINS,
  SOURCE_GROUPS,
  PEOPLE_FEEDS,
  FORMER_ADDRESSES,
  ITEMS,
  ITEM_TEXTS,
  ENTITIES,
  ITEM_ENTITIES,
  REMOVAL_WINDOWS,
  WITHHELD_ITEMS,
  FORMER_OWNERS,
  ITEM_CLOCKS,
  PUSH_UPLOADS,
  SOURCE_STATE,
  RELIST_ITEMS,
  REMOVALS,
  JOBS,
  USERS,
  WORKSPACES,
  MEMBERS,
  INVITATIONS,
  GROUPS,
  PROVIDER_SERVERS,
  PROVIDER_SERVER_SECRETS,
  CONNECTIONS,
  CONNECTION_SECRETS,
  SYNCS,
  SYNC_SKIPS,
];

type Described = { [T in (typeof DESCRIBED)[number] as T["name"]]: FormsOf<T>["row"] };

export interface Tables extends Described {
  installation: InstallationTable;
  local_roots: LocalRootsTable;
  waiting_reads: WaitingReadsTable;
  sso_identities: SsoIdentitiesTable;
  sso_flows: SsoFlowsTable;
  oauth_records: OAuthRecordsTable;
  idempotency_records: IdempotencyRecordsTable;

  access_principals: AccessPrincipalsTable;
  access_numbers: AccessNumbersTable;
  access_list_principals: AccessListPrincipalsTable;
  group_homes: GroupHomesTable;
  identity_aliases: IdentityAliasesTable;

  workspace_turns: WorkspaceTurnsTable;
}

/** One row: set-up of this installation. */
export interface InstallationTable {
  id: number;
  completedAt: number | null;
  setupCodeHash: string | null;
  setupCodeExpiresAt: number | null;
  setupCodeTries: number;
  /** The last known mark file beside the database: `storage/folder-mark.ts`. */
  markStep: Generated<number | null>;
  markFile: Generated<string | null>;
  /** Check value that identifies the data folder's key: `storage/key-check.ts`. */
  keyCheck: Generated<string | null>;
}

/** Folders that the filesystem source may read, in addition to the settings' list. */
export interface LocalRootsTable {
  rootId: string;
  path: string;
  createdBy: string;
  createdAt: number;
}

/** Reads of the last minute, waiting to become audit rows. */
export interface WaitingReadsTable {
  workspaceId: string;
  /** Counts up per workspace. */
  number: number;
  /** An audit row without its place in the chain, as JSON. */
  record: string;
}

/** A person's identity at the single sign-on provider: by (issuer, subject), never by address. */
export interface SsoIdentitiesTable {
  issuer: string;
  subject: string;
  userId: string;
  label: string;
  createdAt: number;
}

/** One redirect to the single sign-on provider. */
export interface SsoFlowsTable {
  stateHash: string;
  /** SHA-256 of the cookie that binds the flow to a browser. */
  browserHash: string;
  /** The session to link; null for a sign-in. */
  sessionId: string | null;
  /** Verifier and nonce, sealed by the vault. */
  sealed: string;
  returnTo: string;
  createdAt: number;
  expiresAt: number;
}

/** Records of the authorization server: codes, tokens, grants, interactions, device codes. */
export interface OAuthRecordsTable {
  model: string;
  /** SHA-256 of the identifier, which for codes and tokens is the secret itself. */
  idHash: string;
  /** JSON, sealed by the vault. */
  sealed: string;
  grantId: string | null;
  userCodeHash: string | null;
  consumedAt: number | null;
  expiresAt: number | null;
}

/** Answers to creates, kept for retries. */
export interface IdempotencyRecordsTable {
  /** SHA-256 over workspace, actor, credential, route and header. */
  keyHash: string;
  bodyHash: string;
  /** Null while the first request runs. */
  status: number | null;
  /** JSON; null for an answer that held a secret. */
  answer: string | null;
  targetId: string | null;
  createdAt: number;
  expiresAt: number;
}

/** Numbers of the principals that lists name or have named. */
export interface AccessPrincipalsTable {
  workspaceId: string;
  principal: string;
  /** Unique to this principal in this workspace, and never reused. */
  principalNo: number;
}

/** One row. */
export interface AccessNumbersTable {
  nextPrincipalNo: number;
}

export interface AccessListPrincipalsTable {
  principalNo: number;
  listId: number;
}

/** A container whose listing reports a group, and ends it. */
export interface GroupHomesTable {
  workspaceId: string;
  entityId: string;
  groupPrincipal: string;
}

/** Two ids of one user of an instance. */
export interface IdentityAliasesTable {
  workspaceId: string;
  principal: string;
  alias: string;
  connectorId: string;
}

export type ItemsTable = Selectable<Tables["items"]>;
export type AuditTable = Tables["audit"];

/** When a job of a workspace was last claimed. */
export interface WorkspaceTurnsTable {
  workspaceId: string;
  servedAt: number;
}
