/**
 * The tables, one interface each. Portable column rules: ids are text, times are integers in epoch milliseconds, booleans are
 * 0/1, JSON is text that nothing filters inside. Every tenant table begins with `workspaceId` and its keys are composite.
 * The index's own tables belong to `src/storage/index/` and are not listed here.
 * Over 400 lines because it is a list: one interface a table, read side by side.
 */
import type { Generated } from "kysely";
import type { ItemKind, TaskStatus } from "#api/common.ts";
import type { FieldsAs } from "#api/item-fields.ts";
import { MEMBERSHIPS } from "./tables/access.ts";
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
import { API_TOKENS, GRANTS } from "./tables/credentials.ts";
import { EVENT_TARGETS, EVENTS, EVENT_DELIVERIES, EVENT_MARKS } from "./tables/events.ts";
import { IDENTITIES, IDENTITY_JOINS } from "./tables/identities.ts";
import { SOURCE_STATE, RELIST_ITEMS, REMOVALS } from "./tables/items.ts";
import { USERS, WORKSPACES, MEMBERS, INVITATIONS, GROUPS } from "./tables/people.ts";
import { PROVIDER_SERVERS, PROVIDER_SERVER_SECRETS, CONNECTIONS, CONNECTION_SECRETS } from "./tables/servers.ts";
import { SYNCS, SYNC_SKIPS } from "./tables/syncs.ts";
import type { FormsOf } from "./tables/table.ts";

/** The tables that say themselves how a record of theirs is stored. */
const DESCRIBED = [
  MEMBERSHIPS,
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
  EVENT_TARGETS,
  EVENTS,
  EVENT_DELIVERIES,
  EVENT_MARKS,
  IDENTITIES,
  IDENTITY_JOINS,
  SOURCE_STATE,
  RELIST_ITEMS,
  REMOVALS,
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
  sessions: SessionsTable;
  local_roots: LocalRootsTable;
  audit: AuditTable;
  waiting_reads: WaitingReadsTable;
  email_links: EmailLinksTable;
  sso_identities: SsoIdentitiesTable;
  sso_flows: SsoFlowsTable;
  oauth_clients: OAuthClientsTable;
  client_documents: ClientDocumentsTable;
  oauth_records: OAuthRecordsTable;
  idempotency_records: IdempotencyRecordsTable;

  access_state: AccessStateTable;
  access_lists: AccessListsTable;
  access_principals: AccessPrincipalsTable;
  access_numbers: AccessNumbersTable;
  access_list_principals: AccessListPrincipalsTable;
  accesses: AccessesTable;
  source_groups: SourceGroupsTable;
  group_homes: GroupHomesTable;
  identity_aliases: IdentityAliasesTable;
  former_addresses: FormerAddressesTable;
  people_feeds: PeopleFeedsTable;

  former_owners: FormerOwnersTable;
  jobs: JobsTable;
  workspace_turns: WorkspaceTurnsTable;

  items: ItemsTable;
  item_texts: ItemTextsTable;
  entities: EntitiesTable;
  item_entities: ItemEntitiesTable;
  removal_windows: RemovalWindowsTable;
  push_uploads: PushUploadsTable;
  withheld_items: WithheldItemsTable;
  item_clocks: ItemClocksTable;
}

/** One row: set-up of this installation. */
export interface InstallationTable {
  id: number;
  completedAt: number | null;
  setupCodeHash: string | null;
  setupCodeExpiresAt: number | null;
  setupCodeTries: number;
  /** The last file beside the database that it knows of: `storage/folder-mark.ts`. */
  markStep: Generated<number | null>;
  markFile: Generated<string | null>;
  /** What tells the key of the data folder from another one: `storage/key-check.ts`. */
  keyCheck: Generated<string | null>;
}

export interface SessionsTable {
  sessionId: string;
  tokenHash: string;
  userId: string;
  workspaceId: string;
  createdAt: number;
  /** When the password was last given in this session. */
  authenticatedAt: number;
  lastSeenAt: number;
  expiresAt: number;
  revokedAt: number | null;
  userAgent: string | null;
  ip: string | null;
}

/** Folders that the filesystem source may read, in addition to the settings' list. */
export interface LocalRootsTable {
  rootId: string;
  path: string;
  createdBy: string;
  createdAt: number;
}

export interface AuditTable {
  workspaceId: string;
  /** Counts up per workspace. */
  seq: number;
  at: number;
  actorUserId: string | null;
  /** `session:ses_…`, `pat:tok_…`, `system`. */
  credential: string;
  action: string;
  targetType: string;
  targetId: string;
  outcome: string;
  ip: string | null;
  requestId: string | null;
  /** JSON; no secrets, no titles. */
  details: string;
  /** The `hash` of the row before; null in rows from before the chain. */
  previousHash: Generated<string | null>;
  /** SHA-256 over the previous hash and this row, hex. */
  hash: Generated<string | null>;
}

/** Reads of the last minute, on their way into rows of the audit. */
export interface WaitingReadsTable {
  workspaceId: string;
  /** Counts up per workspace. */
  number: number;
  /** A row of the audit without its place in the chain, as JSON. */
  record: string;
}

/** Links that prove an address or set a password; single use. */
export interface EmailLinksTable {
  /** SHA-256 of the link's secret, hex. */
  tokenHash: string;
  /** `sign_up`, `verification`, `email_change`, `password_reset`. */
  purpose: string;
  /** Null for a sign-up: nobody is there yet. */
  userId: string | null;
  email: string;
  isMailed: number;
  /** JSON; what a sign-up will make. */
  details: string;
  createdAt: number;
  expiresAt: number;
  usedAt: number | null;
}

/** Who somebody is at the provider of single sign-on: by (issuer, subject), never by address. */
export interface SsoIdentitiesTable {
  issuer: string;
  subject: string;
  userId: string;
  label: string;
  createdAt: number;
}

/** One trip to the provider of single sign-on. */
export interface SsoFlowsTable {
  stateHash: string;
  /** SHA-256 of the cookie that ties the trip to a browser. */
  browserHash: string;
  /** The session that wants to be linked; null for a sign-in. */
  sessionId: string | null;
  /** Verifier and nonce, sealed by the vault. */
  sealed: string;
  returnTo: string;
  createdAt: number;
  expiresAt: number;
}

/** Clients that registered themselves. */
export interface OAuthClientsTable {
  clientId: string;
  /** JSON. */
  metadata: string;
  ip: string | null;
  createdAt: number;
  lastUsedAt: number | null;
}

/** The last good copy of what a client says of itself at its own identifier. */
export interface ClientDocumentsTable {
  clientId: string;
  /** JSON. */
  metadata: string;
  readAt: number;
  /** Since when the client says that it is none. */
  deniedSince: number | null;
  endedAt: number | null;
}

/** What the authorization server keeps: codes, tokens, grants, interactions, device codes. */
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

/** Answers of creates that may be asked for again. */
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

/** Counters of a workspace's permission model. */
export interface AccessStateTable {
  workspaceId: string;
  /** Rises with every change to memberships, roles, connector access or state. */
  epoch: number;
  nextListId: number;
  nextAclId: number;
}

export interface AccessListsTable {
  workspaceId: string;
  listId: number;
  /** JSON array of principals, sorted. */
  principals: string;
  /** By which it is found, see `listDigest`. */
  digest: number;
}

/** Principals that lists name, or have named, by number. */
export interface AccessPrincipalsTable {
  workspaceId: string;
  principal: string;
  /** Of this principal in this workspace alone, and never given twice. */
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

export interface AccessesTable {
  workspaceId: string;
  /** 0 = nobody is never stored. */
  aclId: number;
  /** Ascending list ids, comma-joined. */
  listIds: string;
}

/** A group that a synced connector told whole. Its members are in `memberships`; past its clock they do not count. */
export interface SourceGroupsTable {
  workspaceId: string;
  groupPrincipal: string;
  connectorId: string;
  /** What told it, and so ends it: `identities` or `sync`. */
  toldIn: string;
  /** When it was last read whole, or told to be the same. */
  checkedAt: number;
  /** 1 = the clock of its feed counts for it as well. */
  followsFeed: number;
  /** 1 = it has no clock: its connector's access is set here. */
  neverAges: Generated<number>;
  members: number;
  /** Of the members as they were read; null once a change to them was stored, so that nothing is "the same" as it. */
  digest: string | null;
  etag: string | null;
  /** The feed's position from which on its changes are newer than the reading. */
  toldPosition: number;
  /** The run that last told it. */
  toldBy: string;
  /** The whole run under way when it was last told. */
  seenBy: string | null;
}

/** A container whose listing tells a group, and ends it. */
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

/** Addresses that were of members and may be of others now. */
export interface FormerAddressesTable {
  workspaceId: string;
  emailKey: string;
  userId: string;
  /** 0 = the member has another address now. */
  hasLeft: number;
}

/** How far a connector has told of groups and users, in runs of their own or in its syncs. */
export interface PeopleFeedsTable {
  workspaceId: string;
  connectorId: string;
  toldIn: string;
  /** Counts the runs that came to the end of the feed, and whole ones. */
  position: number;
  /** JSON; opaque to everybody but the source. Null for syncs, whose cursor is the connector's. */
  cursor: string | null;
  /** The clock of everything that was told whole before and follows the feed. */
  currentAt: number | null;
  /** The whole run under way, and where it is taken up again; at its end that becomes the feed's cursor. */
  runId: string | null;
  runCursor: string | null;
  wholeAt: number | null;
}

export interface FormerOwnersTable {
  workspaceId: string;
  connectorId: string;
  userId: string;
}

/** Work to be done once, by the worker that claims it first. */
export interface JobsTable {
  jobId: string;
  workspaceId: string;
  type: string;
  /** At most one waiting job per key. */
  dedupeKey: string;
  payload: string;
  priority: number;
  runAt: number;
  attempt: number;
  leaseOwner: string | null;
  leaseUntil: number | null;
  createdAt: number;
}

/** The column of a field, by its type; lists, people and records are JSON. */
export interface FieldColumns {
  kind: ItemKind;
  title: string;
  status: TaskStatus | null;
  text: string | null;
  name: string | null;
  path: string;
  texts: string;
  /** Epoch milliseconds. */
  date: number | null;
  number: number | null;
  person: string | null;
  people: string;
  record: string;
}

/** An instant that clocks of items of a connector stand at; 0 is never among them. */
export interface ItemClocksTable {
  workspaceId: string;
  connectorId: string;
  checkedAt: number;
}

export interface ItemsTable extends FieldsAs<FieldColumns> {
  workspaceId: string;
  kbId: string;
  connectorId: string;
  externalId: string;
  parentExternalId: string | null;
  providerId: string;
  source: string;
  url: string | null;
  version: string | null;
  textHash: string | null;
  /** UTF-16 code units of the stored text. */
  textChars: number;
  /** JSON array of {name, level, start}. */
  sections: string;
  /** 1 = it was read at another place, or by a former owner, and not since. */
  readElsewhere: number;
  indexedAt: number;
  indexState: string;
  textReason: string | null;
  textMessage: string | null;
  retryAt: number | null;
  /** Who may read it, parents counted in; 0 = nobody. */
  aclId: number;
  /** The access it names itself; null = none (its parent's), -1 = not known since children may have one. */
  ownAclId: number | null;
  /** The full run that last named it; feeds the sweep. */
  seenBy: string | null;
  /** Set when removed: hidden at once, restorable until it is purged. */
  removedAt: number | null;
  /** What stays the same when it is renamed at its source (device and inode). */
  identityHint: string | null;
  /** Hash of everything the index holds of it apart from its access: equal = nothing to index again. */
  indexHash: string | null;
  /** How many secrets were taken out of its text. */
  maskedSecrets: number;
  /** What leads to a line when it stands after the url; `{line}` stands for its number. */
  lineAnchor: string | null;
  /** The externalId of the item that this one answers. */
  replyTo: string | null;
  /** What its source finds its content by. */
  contentRef: string | null;
  /** When its permissions were looked at, where that is not its connector's `aclCheckedAt`; 0 = refused. */
  ownClockAt: number | null;
  /** Why they were not looked at with the rest; null = they were looked at by themselves. */
  ownClockCause: string | null;
  /** The run that last found so. */
  ownClockBy: string | null;
  /** The media type as which its content was read; null = nothing of it was read. */
  reader: string | null;
  /** The version of what read it. */
  readerVersion: number | null;
  /** While an older reader has read it: not read again before then. Null = at once. */
  readAgainAt: number | null;
  /** Since when its content can't be read, while the former text stays; null = the text is that of the content. */
  formerSince: number | null;
  /** How often it is still read again because its time was over before its end; null = its text is whole. */
  cutRetries: number | null;
}

/** The text in chunks of about 16,000 UTF-16 code units, so that a range never loads the whole. */
export interface ItemTextsTable {
  workspaceId: string;
  kbId: string;
  chunk: number;
  start: number;
  text: string;
  /** The file's line it begins in, counted from 1; null where the text has not the file's lines. */
  line: number | null;
}

export interface EntitiesTable {
  workspaceId: string;
  entityId: string;
  type: string;
  /** What makes it the same entity: a principal, `<con>:<container id>`, or a claimed name's folded form. */
  identity: string;
}

/** An entity as one item shows it; names are told only to who may read that item. */
export interface ItemEntitiesTable {
  workspaceId: string;
  kbId: string;
  entityId: string;
  role: string;
  name: string;
  /** Lower-cased, folded words of the name, login and email, for look-up. */
  nameKey: string;
  email: string | null;
  login: string | null;
  claimed: number;
  /** 1 = one of the containers that the item lives in. */
  isHome: number;
}

/** When a job of a workspace was last claimed. */
export interface WorkspaceTurnsTable {
  workspaceId: string;
  servedAt: number;
}

/** Removals of a quarter of an hour, for the guard that sums them over a day. Source: S41. */
export interface RemovalWindowsTable {
  workspaceId: string;
  connectorId: string;
  startsAt: number;
  /** The highest number of living items known in it. */
  highest: number;
  removed: number;
}

/** Items that nobody may read until their effective access is computed again. */
export interface WithheldItemsTable {
  workspaceId: string;
  connectorId: string;
  kbId: string;
}

/** Pushes that belong together. */
export interface PushUploadsTable {
  workspaceId: string;
  uploadId: string;
  connectorId: string;
  /** `add` or `set`. */
  mode: string;
  name: string | null;
  /** `open`, `ending`, `done`, `superseded`. */
  state: string;
  /** The lines 1 to this one are stored. */
  lines: number;
  /** JSON: results by name. */
  counts: string;
  /** JSON array of the first lines that were not taken as they were meant. */
  /** JSON of the failures; the column has its first name. */
  troubles: string;
  /** Refused lines whose item is not known. */
  unnamed: number;
  isHeld: number;
  sweptItems: number;
  createdAt: number;
  /** The last line or document; decides when an open one expires. */
  touchedAt: number;
  finishedAt: number | null;
}
