/**
 * What a source is, gives and is called with. Over 400 lines because the author of a source reads it from top to bottom:
 * items, events, contexts, `spec`, and the methods.
 */
import type { LinkRules } from "#core/link-rules.ts";
import type { Scope } from "#core/scope.ts";
import type { Principal, SourceAccess } from "#core/principals.ts";
import type { z } from "zod";
import type { EntityType, ItemKind, SourceProblem, TaskStatus } from "#api/common.ts";
import type { FieldName, FieldsAs } from "#api/item-fields.ts";
import type { IdentityEvent, IdentityRun } from "./identity-events.ts";
import type { ChangeListener, Watch } from "./change-notifications.ts";
import type { Webhook, WebhookSubscription } from "./webhook.ts";
import type { AuthWay, LimitSpec, SourceConnect, SourceHttp } from "./http-contract.ts";
import type { SourceMcp } from "./mcp-contract.ts";

/** A person as the source names them. `claimed` = said by the document (git, front matter, properties), never proven. */
export interface SourcePerson {
  name: string;
  principal?: Principal;
  email?: string;
  login?: string;
  claimed: boolean;
}

/** A folder, project, repository, channel, label … that holds the item. */
export interface SourceContainer {
  type: Exclude<EntityType, "person">;
  /** Stable id at the source, unique per (connector, type). */
  id: string;
  name: string;
  parentId?: string;
  /**
   * One of the chain of containers that the item lives in, each inside the next: what removes one of these removes the
   * item. An item has one chain; a label, an assignee or a second folder that shows it is none of it.
   */
  isHome?: true;
}

/** What a source gives as the value of a field, by its type. A date is epoch milliseconds; RFC 3339 on the wire of `push`. */
export interface SourceValues {
  kind: ItemKind;
  title: string;
  status: TaskStatus | undefined;
  text: string | undefined;
  name: string | undefined;
  /** Only folders that the source lets the item's readers see. */
  path: readonly string[] | undefined;
  texts: readonly string[] | undefined;
  date: number | undefined;
  number: number | undefined;
  person: SourcePerson | undefined;
  people: readonly SourcePerson[] | undefined;
  record: Readonly<Record<string, string | number | boolean | null | readonly string[]>> | undefined;
}

type RequiredField = "kind" | "title";
type OptionalFields = Partial<FieldsAs<SourceValues, Exclude<FieldName, RequiredField>>>;

/** An item as a source hands it over: its fields, and which item it is, where it is, and who may read it. */
export interface SourceItem extends FieldsAs<SourceValues, RequiredField>, OptionalFields {
  /** Stable identity at the source, unique per connector. */
  externalId: string;
  /**
   * The title is a file's name: the item is shown by the title that its document gives itself, where it gives one, and the
   * name is its key.
   */
  hasFileTitle?: true;
  url?: string;
  /** What leads to a line of its text when it stands after `url`, as in `#L{line}`. */
  lineAnchor?: string;
  /** The place a person knows; the item's `source` is `<providerId>:<place>`. */
  place?: string;
  /**
   * The item this one is a part of (a comment's issue, an attachment's page): readers who may not read that one may not read
   * this one. Source: S20.
   */
  partOf?: string;
  /** The item that this one answers. Structure only: it says nothing about who may read either. */
  replyTo?: string;
  /**
   * What stays the same when the item is renamed (device and inode of a file with one link): a new externalId with the
   * hint and the text of a known item is that item, and keeps its kbId.
   */
  identityHint?: string;
  /**
   * The id that the source itself says this item had until now: a living item there moves here with its kbId, whatever
   * became of its text. Ignored when this id is known already, or the former one was named in this run.
   */
  formerId?: string;
  version?: string;
  /** Others in a role: reviewers, senders, mentioned. */
  people?: readonly SourcePerson[];
  containers?: readonly SourceContainer[];
  /**
   * The text itself (`inline`), bytes to be extracted (`fetch`), or neither, and why: `message` can say more than `reason`.
   * The text of an item that is `too_large` now stays for some days.
   */
  content:
    | { type: "inline"; text: string }
    | {
        type: "fetch";
        /** What `fetchContent` finds the content by (a blob's id, a revision): never a secret, an address that expires, or over 1 KiB. */
        ref?: string;
      }
    | { type: "none"; reason?: "unsupported_type" | "too_large" | "empty" | "encrypted"; message?: string };
  /** With `partOf` both accesses must let somebody in. Absent: that of `partOf` alone; without one nobody's. */
  access?: SourceAccess;
}

/** One thing a source says during a run, in order. */
export type SyncEvent<Cursor = unknown> =
  | { t: "upsert"; item: SourceItem }
  | { t: "access"; externalId: string; access: SourceAccess }
  | { t: "delete"; externalId: string }
  /**
   * The container is gone, with every item that has it in its home chain. All of it is removed or, when that is
   * suspiciously much, held. Items that the run named before with another home are not in it any more.
   */
  | ({ t: "delete_container" } & ContainerRef)
  /** Unchanged but alive: feeds the sweep. With `container` also every stored item that has it in its home chain. */
  | { t: "seen"; externalIds: readonly string[]; container?: ContainerRef }
  /**
   * Everything that lives in a container was listed, or what of it was created from `from` on and before `to` (epoch milliseconds): what was not
   * named goes, groups too where it was listed whole, and the permissions of what was are as it said. Earns its keep where a whole listing takes long.
   */
  | { t: "listed"; container: ContainerRef; from?: number; to?: number }
  /**
   * The source would not show this, and that is about this alone. Where permissions are mirrored nobody reads it, or stands
   * for the group, until the source shows it again: a group by reading it whole. A refusal of everything is thrown: `source_unauthorized`.
   */
  | { t: "refused"; what: What; code: RefusalCode }
  /**
   * Groups and users found on the way, as in `syncIdentities`: a folder, a project, a restriction may be a group, and a
   * public container is one with `everyone`. A complete listing names them all; one that it does not name ends. A group
   * with `containers`, the chain that it is in, ends with a `listed` of one of them that does not name it.
   */
  | (Extract<IdentityEvent, { t: "group" }> & { containers?: readonly ContainerRef[] })
  | Extract<IdentityEvent, { t: "member" | "identity" }>
  /**
   * Everything yielded before is covered by it once it is stored. Between the pages of a group nothing is stored. `looks`:
   * requests that list, or folders, since the last one. A run of a source that tells them may end here as `partial` when it
   * has listed too long, and the next one goes on from this cursor, which holds `runId`, as another attempt of it would; not
   * where permissions are mirrored. Told every few seconds, whatever is found. Source: docs/decisions/0070.
   */
  | { t: "checkpoint"; cursor: Cursor; looks?: number }
  | { t: "progress"; done: number; total?: number; note?: string }
  /**
   * Not taken, and why. `failed`: the former version stays and the id counts as named; so does a stored item that is
   * `too_large` now, whose text stays for some days. Every other reason: it is no item, and a stored one goes with the
   * sweep. A left-out folder is one event with the folder's id.
   */
  | {
      t: "skip";
      externalId: string;
      reason:
        | "too_large"
        | "unsupported_type"
        | "empty"
        | "excluded_by_scope"
        | "excluded_by_policy"
        | "generated"
        | "failed";
      message: string;
      retryable: boolean;
    }
  | SyncEnd;

/** The last thing a source says, when it said all it had. */
export interface SyncEnd {
  t: "end";
  /** `complete` = every living id in scope was named in this run, except in what `notLookedAt` names. */
  listing: "complete" | "partial";
  /** What this run could not look at; it stays as it is, and its permissions grow old. */
  notLookedAt?: readonly What[];
  /** Why the listing is partial, for the connector's owner; the run ends as partial with it. */
  why?: string;
  /** `current` = this run would have shown every change of a permission, and of a group told in syncs, up to its beginning. */
  permissions: "current" | "not_checked";
}

/** What a scope adds, as far as that can be counted without reading it. */
export interface ScopeAddition {
  /** So many items at least: what hangs on them, such as comments, need not be counted. */
  items: number;
  /** About so many requests read them. */
  calls: number;
}

/** Why a source would not show one thing. */
export type RefusalCode = "source_forbidden" | "source_not_found" | "source_gone";

/** One thing at the source that an event is about. */
export type What = { externalId: string } | { container: ContainerRef } | { group: Principal };

/** A container by its stable id, unique per (connector, type). Never mixed with ids of items. */
export interface ContainerRef {
  type: SourceContainer["type"];
  id: string;
}

/** A place in a source that a person can choose from before connecting. */
export interface BrowseNode {
  id: string;
  parent: string | null;
  title: string;
  kind: string;
  selectable: boolean;
  expandable: boolean;
  count?: number;
}

/** Which files inside its files a source takes as items of their own; attachments of mails always are. */
export interface ChildRules {
  /** Members of archives too. */
  archives: boolean;
  /** Why a file inside a file is not taken, by its name or path in there; undefined = it is. */
  refuse?(path: string): { reason: "excluded_by_scope" | "excluded_by_policy"; message: string } | undefined;
}

/** What a source is called with. `config` is already parsed by its schema. */
export interface SourceContext<Config> {
  config: Config;
  /** `visibility` is the connector's access; absent counts as wider than private. */
  connector: {
    id: string;
    name: string;
    visibility?: "private" | "members" | "workspace" | "source";
    /** The connector's owner. A source with `acl: "connector"` may name them in an access; nobody when it is not told. */
    owner?: Principal;
    /** The instance that its users are of, for `formatPrincipal`; absent in `check` and `browse`, and without `hasPeople`. */
    instance?: string;
  };
  /** The only way to the provider over HTTP. It signs in: a source never has a credential. */
  http: SourceHttp;
  /** A guarded connection for other protocols, for a source whose `spec.ports` names its ports. */
  connect?: SourceConnect;
  /**
   * For what the git program reads, which speaks for itself: decrypted credentials for this remote, never logged. Only where
   * a way to sign in is of scheme `git`, or with `spec.readsGit`. Source: S38.
   *
   * @throws ApiError `address_not_allowed` for a remote that the connector's credentials are not for
   */
  git?: { credentialsFor(url: string): Promise<Readonly<Record<string, string>>> };
  /** For a connector on a connection to a provider server, whose source has `{ type: "connection" }` as a way to sign in. */
  mcp?: SourceMcp;
  signal: AbortSignal;
  /** How long permissions count that are not read again; in a run alone. What ends sooner must not be told as lasting. */
  maxAclAgeMs?: number;
  /** Epoch milliseconds. */
  now(): number;
  log(message: string, fields?: Record<string, unknown>): void;
}

/** What a source is called with in a run. */
export interface SyncContext<Config> extends SourceContext<Config> {
  /** What is stored of the connector: asked for as it is needed, so a run that knows what changed reads little. */
  stored: StoredItems;
  /** What the source keeps between runs besides its cursor. */
  state: SourceState;
}

export interface StoredItems {
  /** What is stored of an item, so that an unchanged one is `seen` instead of read again. Cheap in the order of the ids. */
  version(externalId: string): Promise<string | undefined>;
  /** `accessKeyOf` the access that is stored as the item's own: equal = nothing to tell. */
  accessKey(externalId: string): Promise<string | undefined>;
  /** Every item that has this container in its home chain, by externalId. */
  list(container: ContainerRef): AsyncIterable<{ externalId: string; version?: string }>;
}

/** Small values as JSON. What is put is stored with the next checkpoint; a run that dies before has not put it. */
export interface SourceState {
  get(key: string): Promise<unknown>;
  /**
   * @param key  at most 200 characters
   * @param value  at most 64 KiB as JSON; undefined deletes the key
   */
  put(key: string, value: unknown): void;
}

/** An item's content, in one piece or as it comes. */
export type FileContent = {
  mimeType?: string;
  fileName: string;
  /** That of what is given here, in the form of `SourceItem.version`. Required where permissions are mirrored. */
  version?: string;
} & ({ bytes: Uint8Array; stream?: never } | { stream: AsyncIterable<Uint8Array>; bytes?: never });

/** What scope rules judge an item by. */
export interface PlacedItem extends Pick<SourceItem, "externalId" | "path" | "place"> {
  containers: readonly ContainerRef[];
}

export interface SyncRequest<Cursor> {
  /**
   * `access`: only who may read what, for a source whose increments do not tell. Its cursor is that of its own former
   * attempt, and what it puts into the state is not kept.
   */
  mode: "full" | "incremental" | "access" | "items";
  /**
   * The same for every attempt of one run, and for the runs that list everything together. A cursor holds it, so that a
   * source which names what it found before the cursor only once resumes within them, and starts again in the next one.
   */
  runId?: string;
  scope: Scope;
  cursor: Cursor | null;
  /** For `items`: only these. */
  externalIds?: readonly string[];
  /** A person asked for it: groups that it tells between items are read, however young the last reading of each is. */
  readsGroups?: true;
}

export interface SourceSpec<Config> {
  providerId: string;
  name: string;
  kinds: readonly ItemKind[];
  /** Every way to sign in, at least one; `none` among them where the source answers without. */
  auth: readonly AuthWay[];
  /** With a way by credentials: the names it takes, strict; every value is a secret, so no message may repeat one. */
  credentials?: z.ZodType<Readonly<Record<string, string>>>;
  /** Origins besides `originOf` that requests are signed for: templates over the config, such as `https://files.slack.com`. */
  origins?: readonly string[];
  /** Ports of `connect` that need no permission of the operator. Absent = the source has no `connect`. */
  ports?: readonly number[];
  /** Its repositories are read by the git program, with the token that its requests are signed with. */
  readsGit?: true;
  /** Absent = `429` and `Retry-After` are understood, and nothing else is known. */
  limits?: LimitSpec;
  config: z.ZodType<Config>;
  /** Raise it when cursors or states of former versions can't be read any more: both are dropped then. 1 unless told. */
  stateVersion?: number;
  /** How exact the permission mirror is. */
  acl: "per_item" | "container" | "connector";
  /** True = its items are for the connector's owner alone, whomever it is shared with. */
  isForOwner?: true;
  /**
   * Keys of `config` that name whom an access may name besides the source's own: groups of the workspace (`grp_…`), or
   * `workspace`. A value is one of them or a list. With `acl: "connector"`, `workspace` may be named anyway.
   */
  namedIn?: readonly string[];
  /** True = a scope that includes nothing by name leaves something out, such as junk, which it takes when named. */
  hasUnnamed?: true;
  /** True = it says who its users are: `syncIdentities`, and principals of users in its accesses. */
  hasPeople?: true;
  /** True = what `fetchContent` gives for a `ref` never changes (a blob, a revision), so it needs to tell no version. */
  hasLastingContent?: true;
  /** True = a run of `changes` shows every change of a group or user since the last: all that was told before is true again. */
  isPeopleFeedGapless?: true;
  /** Base URLs of the instances that the code itself knows, such as `https://api.github.com`: their users may be members. */
  instances?: readonly string[];
  /**
   * Where permissions are mirrored, what proves that they are current: a full run (unless told), one of mode `access`, or
   * increments from a feed that shows every change of a permission. One is due every half `maxAclAge`.
   */
  freshness?: "full" | "access" | "feed";
  /** Of addresses that people copy at hosts that the code itself knows: which ones mean an item of this kind, and in what forms. */
  links?: LinkRules;
  /** `listing`: increments do not show that an item has moved to another container, so only a listing of all proves it. */
  placement?: "feed" | "listing";
}

/** A source that can be used so, and as whom. Ids never change. */
export interface SourceStanding {
  ok: true;
  warnings?: string[];
  /** Where one server has several tenants with users of their own, which of them this is. */
  tenantId?: string;
  /**
   * Whose credentials these are. With the same account, new credentials go on where the old ones were; untold they may be
   * anybody's, and everything is read again.
   */
  accountId?: string;
  /** What they were granted. With other scopes everything is read again. */
  scopes?: readonly string[];
}

/** A webhook, and the ways to have the provider call it. */
export interface SourceWebhook<Config> extends Webhook<Config> {
  /**
   * Has the provider notify `url`, signed with `secret`: for each new connector, before the former subscription expires, after
   * each change of config, scope or secret, and after a failure, so that one to the same URL may be there. What it gives
   * replaces the former one, which is ended then. Undefined = this config has nothing to subscribe to.
   */
  subscribe?(ctx: SourceContext<Config>, to: { url: string; secret: string }): Promise<WebhookSubscription | undefined>;
  /** Ends one that `subscribe` made: it was replaced, or its connector goes. One that is gone already is no failure. */
  unsubscribe?(ctx: SourceContext<Config>, data: unknown): Promise<void>;
}

/**
 * A kind of app. Presence of a method is the capability: no flags that can disagree.
 * Failures of the provider are thrown as `ApiError` `source_unauthorized`, `source_rate_limited`, `source_unavailable`.
 */
export interface Source<Config = unknown, Cursor = unknown> {
  spec: SourceSpec<Config>;
  check(ctx: SourceContext<Config>): Promise<SourceStanding | { ok: false; problem: SourceProblem }>;
  sync?(ctx: SyncContext<Config>, run: SyncRequest<Cursor>): AsyncGenerator<SyncEvent<Cursor>, void>;
  browse?(
    ctx: SourceContext<Config>,
    at: { parent: string | null; query?: string; cursor?: string },
  ): Promise<{ nodes: BrowseNode[]; nextCursor: string | null }>;
  /** Says who its users and groups are, in runs of their own, with a cursor of their own. */
  syncIdentities?(ctx: SourceContext<Config>, run: IdentityRun): AsyncGenerator<IdentityEvent, void>;
  /**
   * The item's content. `ref` and `version` are those that it was listed with. Where permissions are mirrored, content of
   * another version than the listed one is neither stored nor shown, since who may read it was said of the listed one:
   * the item is listed again. Throws `source_not_found` when it is gone.
   */
  fetchContent?(
    ctx: SourceContext<Config>,
    item: { externalId: string; ref?: string; version?: string },
  ): Promise<FileContent>;
  /** Whether the scope includes a stored item: lets a scope change take effect at once. Absent = the next full run decides. */
  inScope?(scope: Scope, item: PlacedItem): boolean;
  /**
   * What scope `to` takes that `from` did not, for a person who waits and decides; undefined where only a run could tell.
   * Asks little: a request for each place that is added, not for each item.
   */
  countAdded?(ctx: SourceContext<Config>, change: { from: Scope; to: Scope }): Promise<ScopeAddition | undefined>;
  /**
   * Listens for changes between runs, on the rules of the scope, until it is stopped; undefined when the config says not
   * to. Called again after each change of config, scope or visibility. Throws when it can't listen: the schedule goes on.
   */
  watch?(ctx: SourceContext<Config>, scope: Scope, listener: ChangeListener): Promise<Watch | undefined>;
  /** How the app tells this server of changes: at `/hooks/<providerId>`, for one connector or for all of an installation. */
  webhook?: SourceWebhook<Config>;
  /** Absent = no archives, and nothing is refused. */
  childRules?(config: Config): ChildRules;
  /**
   * Where credentials go: an origin (`https://host`), or `scheme://host:port` of another protocol. Requests are signed for
   * it and for `spec.origins`; a config that moves one of them needs new credentials. Source: S31.
   */
  originOf?(config: Config): string;
  /** With `spec.readsGit`, the origin of the repositories, where it is another one: for the git program alone. */
  gitOriginOf?(config: Config): string;
  /**
   * Whom the keys of `namedIn` name, where they are members of one group that every item names: items are the same no matter
   * who they are, and a change is in force at once. `syncIdentities` tells the same.
   */
  namedGroup?(config: Config, connectorId: string): { group: Principal; members: readonly Principal[] };
  /**
   * With `acl: "connector"`, which part of the app the config leads to, such as a folder's address: another value is another
   * place, and what was read at the old one is withheld at once. Absent = everything that the config says but for `namedIn`.
   */
  placeOf?(config: Config): string;
  /** Whose users it names: the instance's base URL. Absent with `hasPeople` = a connector's own, only names. Source: S2. */
  baseUrlOf?(config: Config): string;
  /** Whether only an admin may connect this, so. Absent: what is connected without credentials is for admins. */
  isForAdmins?(config: Config, options: { hasCredentials: boolean }): boolean;
  /** Deletes what the source keeps of a connector outside the store: the connector is gone. */
  forget?(connectorId: string): Promise<void>;
  /** Why this kind can't be connected here, if it can't (no roots configured, managed mode). */
  unavailable?(): Promise<string | undefined>;
}
