/**
 * The tables of the records, each after those to which it refers. Portable rules for columns: ids are text, times are
 * integers in epoch milliseconds, booleans are 0/1, and JSON is text that no query filters by its contents. Every table
 * of a workspace begins with `workspaceId` and has composite keys. The index's own tables are in
 * `storage/index/schema.ts`.
 */
import type { Selectable } from "kysely";
import {
  AUDIT,
  WAITING_READS,
  MEMBERSHIPS,
  ACCESS_STATE,
  ACCESS_LISTS,
  ACCESS_PRINCIPALS,
  ACCESS_NUMBERS,
  ACCESS_LIST_PRINCIPALS,
  ACCESSES,
} from "./tables/access.ts";
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
import {
  SESSIONS,
  API_TOKENS,
  GRANTS,
  EMAIL_LINKS,
  OAUTH_CLIENTS,
  CLIENT_DOCUMENTS,
  OAUTH_RECORDS,
  SSO_IDENTITIES,
  SSO_FLOWS,
  IDEMPOTENCY_RECORDS,
} from "./tables/credentials.ts";
import { EVENT_TARGETS, EVENTS, EVENT_DELIVERIES, EVENT_MARKS } from "./tables/events.ts";
import {
  IDENTITIES,
  IDENTITY_JOINS,
  SOURCE_GROUPS,
  PEOPLE_FEEDS,
  FORMER_ADDRESSES,
  IDENTITY_ALIASES,
  GROUP_HOMES,
} from "./tables/identities.ts";
import { INSTALLATION, LOCAL_ROOTS } from "./tables/installation.ts";
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
import { JOBS, WORKSPACE_TURNS } from "./tables/jobs.ts";
import { USERS, WORKSPACES, MEMBERS, INVITATIONS, GROUPS } from "./tables/people.ts";
import { PROVIDER_SERVERS, PROVIDER_SERVER_SECRETS, CONNECTIONS, CONNECTION_SECRETS } from "./tables/servers.ts";
import { SYNCS, SYNC_SKIPS } from "./tables/syncs.ts";
import type { FormsOf } from "./tables/table.ts";

export const TABLES = [
  INSTALLATION,
  LOCAL_ROOTS,
  USERS,
  WORKSPACES,
  MEMBERS,
  INVITATIONS,
  GROUPS,
  SESSIONS,
  API_TOKENS,
  GRANTS,
  EMAIL_LINKS,
  OAUTH_CLIENTS,
  CLIENT_DOCUMENTS,
  OAUTH_RECORDS,
  SSO_IDENTITIES,
  SSO_FLOWS,
  IDEMPOTENCY_RECORDS,
  AUDIT,
  WAITING_READS,
  MEMBERSHIPS,
  ACCESS_STATE,
  ACCESS_LISTS,
  ACCESS_PRINCIPALS,
  ACCESS_NUMBERS,
  ACCESS_LIST_PRINCIPALS,
  ACCESSES,
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
  SYNCS,
  SYNC_SKIPS,
  JOBS,
  WORKSPACE_TURNS,
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
  IDENTITIES,
  IDENTITY_JOINS,
  SOURCE_GROUPS,
  PEOPLE_FEEDS,
  FORMER_ADDRESSES,
  IDENTITY_ALIASES,
  GROUP_HOMES,
  PROVIDER_SERVERS,
  PROVIDER_SERVER_SECRETS,
  CONNECTIONS,
  CONNECTION_SECRETS,
  EVENT_TARGETS,
  EVENTS,
  EVENT_DELIVERIES,
  EVENT_MARKS,
];

export type Tables = { [T in (typeof TABLES)[number] as T["name"]]: FormsOf<T>["row"] };

export type ItemsTable = Selectable<Tables["items"]>;
export type AuditTable = Tables["audit"];
