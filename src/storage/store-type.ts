import type { AccessStore } from "./records-types/access.ts";
import type { AuditStore } from "./records-types/audit.ts";
import type { ConnectorStore } from "./records-types/connectors.ts";
import type { EntityStore } from "./records-types/entities.ts";
import type { GrantStore } from "./records-types/grants.ts";
import type { IdempotencyStore } from "./records-types/idempotency.ts";
import type { InstallationStore } from "./records-types/installation.ts";
import type { ItemWriteStore } from "./records-types/item-writes.ts";
import type { ItemStore } from "./records-types/items.ts";
import type { LinkStore } from "./records-types/links.ts";
import type { NameStore } from "./records-types/names.ts";
import type { OAuthStore } from "./records-types/oauth.ts";
import type {
  GroupStore,
  InvitationStore,
  MemberStore,
  UserStore,
  WorkspaceRecordStore,
} from "./records-types/people.ts";
import type { PushUploadStore } from "./records-types/push-uploads.ts";
import type { QueueStore } from "./records-types/queue.ts";
import type { SessionStore } from "./records-types/sessions.ts";
import type { SsoStore } from "./records-types/sso.ts";
import type { SyncStore } from "./records-types/syncs.ts";
import type { UsageStore } from "./records-types/usage.ts";
import type { TokenLookup, TokenStore } from "./records-types/tokens.ts";

/**
 * The records. What belongs to a workspace is reached through `in(workspaceId)` and through nothing else (S1);
 * the members here are those that exist before a workspace is known.
 */
export interface Store {
  readonly installation: InstallationStore;
  readonly users: UserStore;
  readonly workspaces: WorkspaceRecordStore;
  readonly sessions: SessionStore;
  /** Links that were mailed or handed over. */
  readonly links: LinkStore;
  readonly sso: SsoStore;
  /** Finds a token or connector key by its hash, before its workspace is known. */
  readonly tokenLookup: TokenLookup;
  /** The authorization server's own records; grants belong to a workspace as soon as a person decided. */
  readonly oauth: OAuthStore;
  /** The queue is claimed across workspaces; every job names its own. */
  readonly queue: QueueStore;
  /** Every key holds a hash that names its workspace. */
  readonly idempotency: IdempotencyStore;
  in(workspaceId: string): WorkspaceStore;
  /**
   * Runs `work` in one writing transaction: all of it or nothing. No network and no waiting inside; a transaction that
   * sits idle for 10 seconds is rolled back. Not nestable.
   */
  transaction<T>(work: (store: Store) => Promise<T>): Promise<T>;
  /** Runs `work` on one consistent state of the database; writing through the given store fails. */
  snapshot<T>(work: (store: Store) => Promise<T>): Promise<T>;
}

/** The records of one workspace. */
export interface WorkspaceStore {
  readonly workspaceId: string;
  readonly members: MemberStore;
  readonly invitations: InvitationStore;
  readonly groups: GroupStore;
  readonly tokens: TokenStore;
  readonly grants: GrantStore;
  readonly audit: AuditStore;
  readonly access: AccessStore;
  readonly connectors: ConnectorStore;
  readonly syncs: SyncStore;
  readonly items: ItemStore;
  readonly itemWrites: ItemWriteStore;
  readonly entities: EntityStore;
  readonly pushUploads: PushUploadStore;
  readonly usage: UsageStore;
  readonly names: NameStore;
}
