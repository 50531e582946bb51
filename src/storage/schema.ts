/**
 * The tables, one interface each. Portable column rules: ids are text, times are integers in epoch milliseconds, booleans are
 * 0/1, JSON is text that nothing filters inside. Every tenant table begins with `workspaceId` and its keys are composite.
 * The index's own tables belong to `src/storage/index/` and are not listed here.
 * Over 400 lines because it is a list: one interface a table, read side by side.
 */
import type { Generated } from "kysely";
import type { ItemKind, TaskStatus } from "#api/common.ts";
import type { FieldsAs } from "#api/item-fields.ts";

export interface Tables {
  installation: InstallationTable;
  users: UsersTable;
  workspaces: WorkspacesTable;
  members: MembersTable;
  invitations: InvitationsTable;
  groups: GroupsTable;
  sessions: SessionsTable;
  api_tokens: ApiTokensTable;
  local_roots: LocalRootsTable;
  audit: AuditTable;
  waiting_reads: WaitingReadsTable;
  email_links: EmailLinksTable;
  sso_identities: SsoIdentitiesTable;
  sso_flows: SsoFlowsTable;
  oauth_clients: OAuthClientsTable;
  client_documents: ClientDocumentsTable;
  oauth_records: OAuthRecordsTable;
  grants: GrantsTable;
  idempotency_records: IdempotencyRecordsTable;

  access_state: AccessStateTable;
  access_lists: AccessListsTable;
  access_principals: AccessPrincipalsTable;
  access_numbers: AccessNumbersTable;
  access_list_principals: AccessListPrincipalsTable;
  accesses: AccessesTable;
  memberships: MembershipsTable;
  source_groups: SourceGroupsTable;
  group_homes: GroupHomesTable;
  identities: IdentitiesTable;
  identity_aliases: IdentityAliasesTable;
  identity_joins: IdentityJoinsTable;
  former_addresses: FormerAddressesTable;
  people_feeds: PeopleFeedsTable;

  instances: InstancesTable;
  connector_tenants: ConnectorTenantsTable;
  identity_schedules: IdentitySchedulesTable;
  connectors: ConnectorsTable;
  former_owners: FormerOwnersTable;
  connector_keys: ConnectorKeysTable;
  connector_credentials: ConnectorCredentialsTable;
  connector_webhooks: ConnectorWebhooksTable;
  webhook_subscriptions: WebhookSubscriptionsTable;
  provider_accounts: ProviderAccountsTable;
  account_flows: AccountFlowsTable;
  provider_servers: ProviderServersTable;
  provider_server_secrets: ProviderServerSecretsTable;
  connections: ConnectionsTable;
  connection_secrets: ConnectionSecretsTable;
  syncs: SyncsTable;
  sync_skips: SyncSkipsTable;
  jobs: JobsTable;
  workspace_turns: WorkspaceTurnsTable;

  items: ItemsTable;
  item_texts: ItemTextsTable;
  entities: EntitiesTable;
  item_entities: ItemEntitiesTable;
  removals: RemovalsTable;
  removal_windows: RemovalWindowsTable;
  push_uploads: PushUploadsTable;
  withheld_items: WithheldItemsTable;
  source_state: SourceStateTable;
  connector_bindings: ConnectorBindingsTable;
  connector_accounts: ConnectorAccountsTable;
  relist_items: RelistItemsTable;
  item_clocks: ItemClocksTable;

  event_targets: EventTargetsTable;
  events: EventsTable;
  event_deliveries: EventDeliveriesTable;
  event_marks: EventMarksTable;
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

export interface UsersTable {
  userId: string;
  email: string;
  /** ASCII lower-case form; unique. */
  emailKey: string;
  name: string;
  passwordHash: string | null;
  emailVerifiedAt: number | null;
  timeZone: string | null;
  createdAt: number;
  /** When somebody last made a link by which they could sign in as this person, and who. */
  resetLinkAt: Generated<number | null>;
  resetLinkBy: Generated<string | null>;
  /** When the operator last set the password on the server's machine. */
  passwordSetAt: Generated<number | null>;
}

export interface WorkspacesTable {
  workspaceId: string;
  name: string;
  timeZone: string;
  /** `mask` or `index`. */
  secrets: Generated<string>;
  /** JSON array: domains whose addresses say who somebody at a source is. */
  identityDomains: Generated<string>;
  maxAclAgeMs: Generated<number>;
  createdAt: number;
}

export interface MembersTable {
  workspaceId: string;
  userId: string;
  role: string;
  joinedAt: number;
}

export interface InvitationsTable {
  workspaceId: string;
  invitationId: string;
  email: string;
  role: string;
  tokenHash: string;
  invitedBy: string;
  createdAt: number;
  expiresAt: number;
  acceptedAt: number | null;
  revokedAt: number | null;
  /** 1 = the link was sent by this server, so accepting it proves the address. */
  isMailed: Generated<number>;
}

export interface GroupsTable {
  workspaceId: string;
  groupId: string;
  name: string;
  createdAt: number;
  ownerUserId: Generated<string | null>;
  isClosed: Generated<number>;
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

export interface ApiTokensTable {
  workspaceId: string;
  tokenId: string;
  userId: string;
  name: string;
  prefix: string;
  /** SHA-256 of the plaintext, hex. */
  hash: string;
  /** Space-separated scopes. */
  scopes: string;
  createdAt: number;
  lastUsedAt: number | null;
  expiresAt: number | null;
  revokedAt: number | null;
  /** The OAuth grant it dies with; null when a session made or adopted it. */
  grantId: Generated<string | null>;
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

/** An OAuth client that a person let into a workspace. */
export interface GrantsTable {
  workspaceId: string;
  /** Unique across workspaces: the authorization server knows a grant by it alone. */
  grantId: string;
  userId: string;
  clientId: string;
  clientName: string;
  place: string;
  /** Space-separated. */
  scopes: string;
  isDevice: number;
  /** When the person last proved themselves before deciding. */
  authenticatedAt: number;
  createdAt: number;
  lastUsedAt: number | null;
  expiresAt: number;
  revokedAt: number | null;
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

/** Who belongs to a group principal, as its reporter said. Members may be groups themselves. */
export interface MembershipsTable {
  workspaceId: string;
  groupPrincipal: string;
  memberPrincipal: string;
  /** `kb` for the service's own groups, else the connector that reported the row. */
  reportedBy: string;
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

/** A user of a source, as one connector tells of them. */
export interface IdentitiesTable {
  workspaceId: string;
  principal: string;
  /** Who tells it: a connector, or a member's account. */
  connectorId: string;
  toldIn: string;
  /** `user:<provider>:<instance>:`, what all users of the instance begin with. */
  instance: string;
  /** `active`, `suspended` or `gone`. */
  state: string;
  name: string | null;
  login: string | null;
  email: string | null;
  emailKey: string | null;
  isEmailVerified: number;
  /** 0 = a name and no more: nobody is joined on this connector's word. */
  isTrusted: number;
  /** Told only as another id of this one. */
  aliasOf: string | null;
  toldAt: number;
  followsFeed: number;
  seenBy: string | null;
}

/** Two ids of one user of an instance. */
export interface IdentityAliasesTable {
  workspaceId: string;
  principal: string;
  alias: string;
  connectorId: string;
}

/** Which member a user of a source is or was. At most one of a user's has not ended. */
export interface IdentityJoinsTable {
  workspaceId: string;
  principal: string;
  userId: string;
  /** The connector that told of the user; with the basis `account` the account. */
  connectorId: string;
  /** `account`, `email` or `admin`. */
  basis: string;
  joinedBy: string | null;
  joinedAt: number;
  endedAt: number | null;
  endedBy: string | null;
  endReason: string | null;
  /** 1 = it was of a member who left: it never comes back by email. */
  hasLeft: number;
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

/** Instances of apps whose users may be members here. */
export interface InstancesTable {
  workspaceId: string;
  providerId: string;
  baseUrl: string;
  registeredBy: string;
  registeredAt: number;
}

/** The tenant that a connector's server tells. */
export interface ConnectorTenantsTable {
  workspaceId: string;
  connectorId: string;
  tenantId: string;
}

/** When the users and groups of a connector are read next. */
export interface IdentitySchedulesTable {
  workspaceId: string;
  connectorId: string;
  nextRunAt: number;
  /** When the reading begins, or began, that a person asked for last. */
  askedAt: Generated<number | null>;
  /** Until when what notifications asked for is paid for, by what the credential may send. */
  paidUntil: Generated<number | null>;
}

export interface ConnectorsTable {
  workspaceId: string;
  connectorId: string;
  providerId: string;
  name: string;
  ownerUserId: string;
  visibility: string;
  /** JSON arrays of ids. */
  memberIds: string;
  groupIds: string;
  /** JSON; never a secret. */
  config: string;
  /** JSON {include, exclude}. */
  scope: string;
  scopeVersion: number;
  accountId: string | null;
  connectionId: string | null;
  everyMinutes: number | null;
  state: string;
  stateReason: string | null;
  nextRunAt: number | null;
  /** JSON; opaque to everybody but the source. */
  cursor: string | null;
  consecutiveFailures: number;
  aclCheckedAt: number | null;
  refusedAt: number | null;
  proofTriedAt: number | null;
  lastFullAt: number | null;
  pausedBy: string | null;
  withheldAt: number | null;
  ownedSince: number;
  createdAt: number;
  createdBy: string;
}

export interface FormerOwnersTable {
  workspaceId: string;
  connectorId: string;
  userId: string;
}

export interface ConnectorKeysTable {
  workspaceId: string;
  keyId: string;
  connectorId: string;
  hash: string;
  prefix: string;
  createdAt: number;
  createdBy: string;
  expiresAt: number | null;
  revokedAt: number | null;
}

export interface ConnectorWebhooksTable {
  workspaceId: string;
  connectorId: string;
  /** An envelope of the vault over the secret. */
  sealed: string;
  madeAt: number;
}

/** The subscription that a connector's source made at its provider, or why there is none. */
export interface WebhookSubscriptionsTable {
  workspaceId: string;
  connectorId: string;
  /** JSON that the source ends it by; null = there is none. */
  data: string | null;
  expiresAt: number | null;
  /** When the next one is to be made; null = when config, scope or secret change. */
  dueAt: number | null;
  /** Of the connector, when it was made or tried. */
  scopeVersion: number;
  /** Which secret the provider was given. */
  secretMadeAt: number;
  /** Failures in a row. */
  tries: number;
  /** JSON of the last failure's `SourceProblem`. */
  problem: string | null;
}

/** A person's own account at another service. */
export interface ProviderAccountsTable {
  workspaceId: string;
  accountId: string;
  userId: string;
  providerId: string;
  /** The instance, as `normalizeBaseUrl` writes it. */
  baseUrl: string;
  /** Who they are there. */
  principal: string;
  label: string;
  login: string | null;
  /** JSON array. */
  scopes: string;
  /** `oauth` or `token`. */
  way: string;
  /** An envelope of the vault over the JSON of the tokens. */
  sealed: string;
  /** Counts the tokens that it had. */
  version: number;
  /** When the access token ends; null = it does not, or nobody said. */
  expiresAt: number | null;
  /** Who gets new tokens now, and until when nobody else may. */
  lockedBy: string | null;
  lockedUntil: number | null;
  /** `active`, `needs_reauth`, or `ended` until its tokens are revoked at the provider. */
  state: string;
  stateReason: string | null;
  /** When the provider last said who it is. */
  confirmedAt: number;
  /** When the provider is asked next. */
  dueAt: number | null;
  /** Failed tries to ask since. */
  tries: number;
  createdAt: number;
}

/** The way to a provider (`away`), and what was found there until the person says yes (`found`). */
export interface AccountFlowsTable {
  /** SHA-256 of the state, or of the id that the page has. */
  flowHash: string;
  workspaceId: string;
  userId: string;
  sessionId: string;
  providerId: string;
  stage: string;
  /** An envelope of the vault. */
  sealed: string;
  returnTo: string;
  createdAt: number;
  expiresAt: number;
}

/** An MCP server of others whose apps members connect. */
export interface ProviderServersTable {
  workspaceId: string;
  serverId: string;
  name: string;
  /** Normalized; one server each. */
  url: string;
  /** What its own app is called in paths; stays when it is renamed. */
  slug: string;
  /** `none`, `bearer`, `header` or `oauth`. */
  authKind: string;
  headerName: string | null;
  /** Where an admin registered kb there. */
  clientId: string | null;
  /** What stands behind the address to come back to with that client; null = nothing, for a client of an earlier program. */
  callback: string | null;
  /** The authorization server for which that is, from its first use on. */
  issuer: string | null;
  isEnabled: number;
  /** `admins` or `members`. */
  connectPolicy: string;
  /** JSON array of the slugs that can be connected; null = all. */
  apps: string | null;
  /** JSON of how its tools are read. */
  mapping: string | null;
  /** When, and by whom, it was set last; null for one of an earlier program. */
  mappedAt: number | null;
  mappedBy: string | null;
  /** `healthy`, `degraded`, `down` or `unknown`. */
  health: string;
  checkedAt: number | null;
  latencyMs: number | null;
  /** In a row. */
  failures: number;
  /** JSON of step and code; never a byte of an answer. */
  lastProblem: string | null;
  /** When it is probed next; null = disabled. */
  dueAt: number | null;
  /** JSON of what it said of itself, cleaned. */
  serverInfo: string | null;
  protocolVersion: string | null;
  capabilities: string | null;
  createdAt: number;
  createdBy: string;
}

/** The server's own secrets. */
export interface ProviderServerSecretsTable {
  workspaceId: string;
  serverId: string;
  sealed: string;
}

/** A person's connection to an app of a server. */
export interface ConnectionsTable {
  workspaceId: string;
  connectionId: string;
  serverId: string;
  ownerUserId: string;
  app: string;
  name: string;
  /** `none`, `server` (its own secret), `secret` or `oauth`. */
  way: string;
  /** `pending`, `active`, `needs_reauth`, `failed`, `expired` or `revoked`. */
  status: string;
  statusReason: string | null;
  visibility: string;
  /** JSON arrays of ids. */
  memberIds: string;
  groupIds: string;
  /** Who it is at the provider; null = nobody can tell. */
  accountId: string | null;
  accountLabel: string | null;
  /** JSON array. */
  scopes: string;
  /** JSON of what it was made at: issuer and token endpoint are pinned. */
  authorization: string | null;
  pendingUntil: number | null;
  /** JSON: in each role the tool that its owner agreed to, as it was mapped then. */
  agreed: string | null;
  /** Since when its owner is asked to agree to how the tools are mapped now; null = they needn't. */
  waitingSince: number | null;
  lastUsedAt: number | null;
  lastCheckedAt: number | null;
  createdAt: number;
}

/** What signs the requests of a connection. */
export interface ConnectionSecretsTable {
  workspaceId: string;
  connectionId: string;
  sealed: string;
  /** Counts the tokens that it had. */
  version: number;
  expiresAt: number | null;
  lockedBy: string | null;
  lockedUntil: number | null;
}

export interface ConnectorCredentialsTable {
  workspaceId: string;
  connectorId: string;
  /** An envelope of the vault over the JSON of the credentials. */
  sealed: string;
  givenBy: string;
  givenAt: number;
}

export interface SyncsTable {
  workspaceId: string;
  syncId: string;
  connectorId: string;
  mode: string;
  trigger: string;
  state: string;
  attempt: number;
  /** JSON. */
  counts: string;
  progress: string;
  /** JSON array of external ids, for mode `items`. */
  items: string | null;
  /** JSON of the reading of users and groups that goes before it. */
  people: string | null;
  resumeAt: number | null;
  cancelRequestedAt: number | null;
  problem: string | null;
  scopeVersion: number;
  createdAt: number;
  startedAt: number | null;
  finishedAt: number | null;
}

export interface SyncSkipsTable {
  workspaceId: string;
  syncId: string;
  externalId: string;
  reason: string;
  message: string;
  retryable: number;
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

/** What the cursor and the state of a connector are good for: `server/sync/binding.ts`. */
export interface ConnectorBindingsTable {
  workspaceId: string;
  connectorId: string;
  /** JSON of instance, origin and account. */
  place: string;
  /** The form in which the source keeps them. */
  version: number;
  /** The account that the source told. */
  account: string | null;
  /** JSON of what it was granted. */
  scopes: string | null;
  /** Which credentials; empty for none. */
  credentials: string | null;
  /** Clocks of items before this were another account's: nobody holds them. */
  clocksFrom: Generated<number>;
}

/** Whose credentials a connector has, as its source told when they were checked. */
export interface ConnectorAccountsTable {
  workspaceId: string;
  connectorId: string;
  accountId: string | null;
  /** JSON, sorted. */
  scopes: string | null;
}

/** What a source keeps besides its cursor. */
export interface SourceStateTable {
  workspaceId: string;
  connectorId: string;
  key: string;
  /** JSON. */
  value: string;
}

/** Items whose content was of another version than the one they were listed with. */
export interface RelistItemsTable {
  workspaceId: string;
  connectorId: string;
  externalId: string;
  /** How many runs were asked to list it. */
  tries: number;
}

/** Items whose removal waits for approval. */
export interface RemovalsTable {
  workspaceId: string;
  connectorId: string;
  kbId: string;
  /** The run that missed it; null = a push. */
  syncId: string | null;
  heldAt: number;
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

/** A URL that the workspace's events are sent to. */
export interface EventTargetsTable {
  workspaceId: string;
  targetId: string;
  url: string;
  /** JSON array of `EventType`. */
  types: string;
  /** `active` or `paused`. */
  state: string;
  /** Why it is paused: `admin`, `gone` or `failing`. */
  pausedFor: string | null;
  pausedAt: number | null;
  /** JSON of what its deliveries are signed with, sealed. */
  sealed: string;
  /** Until when the secret before the last rotation signs, too. */
  previousUntil: number | null;
  createdBy: string | null;
  createdAt: number;
  /** Since when no delivery was taken. */
  failingSince: number | null;
  /** When the first delivery that waits is to be sent; null = none waits. */
  dueAt: number | null;
  leaseOwner: string | null;
  leaseUntil: number | null;
}

/** What happened: ids, counts and codes. Source: S43. */
export interface EventsTable {
  workspaceId: string;
  eventId: string;
  type: string;
  at: number;
  /** JSON object. */
  data: string;
}

/** One event on its way to one target, and what became of it; nothing of the answer's text. */
export interface EventDeliveriesTable {
  seq: Generated<number>;
  workspaceId: string;
  deliveryId: string;
  targetId: string;
  eventId: string;
  /** `waiting`, `delivered` or `failed`. */
  state: string;
  isReplay: number;
  createdAt: number;
  tries: number;
  triedAt: number | null;
  endedAt: number | null;
  /** HTTP status of the last answer. */
  status: number | null;
  /** Why there was none, or why it was not taken. */
  code: string | null;
}

/** What was told of the state of a connector, so that it is told once. */
export interface EventMarksTable {
  workspaceId: string;
  connectorId: string;
  /** `EventType`. */
  type: string;
  /** Since when it is so. */
  value: number;
}
