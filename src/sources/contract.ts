/** What a source is: `spec`, and the methods, whose presence is the capability. */
import type { ItemKind, SourceProblem } from "#api/common.ts";
import type { LinkRules } from "#core/link-rules.ts";
import type { Principal } from "#core/principals.ts";
import type { Scope } from "#core/scope.ts";
import type { ChangeListener, Watch } from "./change-notifications.ts";
import type { SourceContext } from "./context.ts";
import type { AuthWay, LimitSpec } from "./http-contract.ts";
import type { IdentityEvent, IdentityRun } from "./identity-events.ts";
import type { ContainerRef, FileContent, SourceItem } from "./item.ts";
import type { SessionSpec } from "./session.ts";
import type { Webhook, WebhookSubscription } from "./webhook.ts";
import type { z } from "zod";

/** What a scope adds, as far as that can be counted without reading it. */
export interface ScopeAddition {
  /** So many items at least: what hangs on them, such as comments, need not be counted. */
  items: number;
  /** About so many requests read them. */
  calls: number;
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

/** What scope rules judge an item by. */
export interface PlacedItem extends Pick<SourceItem, "externalId" | "path" | "place"> {
  containers: readonly ContainerRef[];
}

export interface SourceSpec<Config> {
  /** The short name in principals, keys and URLs: lowercase letters, digits, `-`. */
  providerId: string;
  /** The name that people see. */
  name: string;
  kinds: readonly ItemKind[];
  /** Every way to sign in, at least one, the best first; `none` among them where the source answers without. */
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
  /** A strict object; each key has a `title` and a `description` in `.meta()`, for forms and prompts. */
  config: z.ZodType<Config>;
  /** Raise it when cursors or states of former versions can't be read any more: both are dropped then. 1 unless told. */
  stateVersion?: number;
  /** How exactly permissions are mirrored; `connector` = kb says who can read. */
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
export interface Source<Config = unknown> {
  spec: SourceSpec<Config>;
  check(ctx: SourceContext<Config>): Promise<SourceStanding | { ok: false; problem: SourceProblem }>;
  /** How it is read. Absent = it is pushed to. */
  sessions?: SessionSpec<Config>;
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
