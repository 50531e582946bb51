/** A source: its `spec`, and methods whose presence is the capability. */
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

/** The estimated size of what a scope adds, without reading it. */
export interface ScopeAddition {
  /** The least number of items: dependent ones, such as comments, need not be counted. */
  items: number;
  /** Approximate number of requests to read them. */
  calls: number;
}

/** A place in a source that a person can choose before connecting. */
export interface BrowseNode {
  id: string;
  parent: string | null;
  title: string;
  kind: string;
  selectable: boolean;
  expandable: boolean;
  count?: number;
}

/** Which files inside a source's files become items of their own; attachments of mails always do. */
export interface ChildRules {
  /** Members of archives too. */
  archives: boolean;
  /** Why a file inside a file is left out, by its name or path in there; undefined = it is included. */
  refuse?(path: string): { reason: "excluded_by_scope" | "excluded_by_policy"; message: string } | undefined;
}

/** The fields of an item that scope rules match. */
export interface PlacedItem extends Pick<SourceItem, "externalId" | "path" | "place"> {
  containers: readonly ContainerRef[];
}

export interface SourceSpec<Config> {
  /** The short name in principals, keys and URLs: lowercase letters, digits, `-`. */
  providerId: string;
  /** The name that people see. */
  name: string;
  kinds: readonly ItemKind[];
  /** Every way to sign in, at least one, the best first; includes `none` if the source answers without credentials. */
  auth: readonly AuthWay[];
  /** With a way by credentials: the accepted names, strict. Every value is a secret, so no message may repeat one. */
  credentials?: z.ZodType<Readonly<Record<string, string>>>;
  /**
   * Origins besides `originOf` whose requests are signed: templates over the config, such as `https://files.slack.com`.
   */
  origins?: readonly string[];
  /** Ports of `connect` that need no permission of the operator. Absent = the source has no `connect`. */
  ports?: readonly number[];
  /** The git program reads its repositories, with the token that signs its requests. */
  readsGit?: true;
  /** Absent = only `429` and `Retry-After` are recognized. */
  limits?: LimitSpec;
  /** A strict object; each key has a `title` and a `description` in `.meta()`, for forms and prompts. */
  config: z.ZodType<Config>;
  /**
   * Increase it when the cursors or states of earlier versions can't be read any more: both are then dropped. Defaults
   * to 1.
   */
  stateVersion?: number;
  /** How precisely permissions are mirrored; `connector` = kb decides who can read. */
  acl: "per_item" | "container" | "connector";
  /** True = only the connector's owner can read its items, even if the connector is shared. */
  isForOwner?: true;
  /**
   * Keys of `config` whose values an access may name besides the source's own principals: groups of the workspace
   * (`grp_…`), or `workspace`. A value is one of them or a list. With `acl: "connector"`, `workspace` may always be
   * named.
   */
  namedIn?: readonly string[];
  /** True = a scope without explicit includes leaves something out, such as junk, which must be included by name. */
  hasUnnamed?: true;
  /** True = it reports its users: `syncIdentities`, and principals of users in its accesses. */
  hasPeople?: true;
  /**
   * True = the content that `fetchContent` returns for a `ref` never changes (a blob, a revision), so it needs no
   * version.
   */
  hasLastingContent?: true;
  /**
   * True = a run of `changes` shows every change of a group or user since the last: everything reported before is
   * confirmed again.
   */
  isPeopleFeedGapless?: true;
  /** Base URLs of the instances known in code, such as `https://api.github.com`: their users may be members. */
  instances?: readonly string[];
  /**
   * How mirrored permissions are confirmed to be current: by a full run (the default), by a run of mode `access`, or by
   * increments from a feed that shows every change of a permission. One is due every half `maxAclAge`.
   */
  freshness?: "full" | "access" | "feed";
  /** Which URLs that people copy identify an item of this kind, and their forms, on hosts known in code. */
  links?: LinkRules;
  /**
   * `listing`: increments don't show that an item has moved to another container; only a listing of everything does.
   */
  placement?: "feed" | "listing";
}

/** A source that can be used this way, and its account. Ids never change. */
export interface SourceStanding {
  ok: true;
  warnings?: string[];
  /** The tenant, on a server that has several tenants with separate users. */
  tenantId?: string;
  /**
   * The account of these credentials. With the same account, new credentials continue from the old ones; if absent they
   * may be anyone's, and everything is read again.
   */
  accountId?: string;
  /** The granted scopes. If they change, everything is read again. */
  scopes?: readonly string[];
}

/** A webhook, and how to subscribe to it at the provider. */
export interface SourceWebhook<Config> extends Webhook<Config> {
  /**
   * Has the provider notify `url`, signed with `secret`. Called for each new connector, before the current subscription
   * expires, after each change of config, scope or secret, and after a failure, so a subscription to the same URL may
   * already exist. The new one replaces the old one, which is then ended. Undefined = this config has nothing to
   * subscribe to.
   */
  subscribe?(ctx: SourceContext<Config>, to: { url: string; secret: string }): Promise<WebhookSubscription | undefined>;
  /**
   * Ends a subscription that `subscribe` made, because it was replaced or its connector is removed. It isn't an error
   * if it no longer exists.
   */
  unsubscribe?(ctx: SourceContext<Config>, data: unknown): Promise<void>;
}

/**
 * A kind of app. The presence of a method is the capability: there are no flags that could contradict it. Failures of
 * the provider are thrown as `ApiError` `source_unauthorized`, `source_rate_limited`, `source_unavailable`.
 */
export interface Source<Config = unknown> {
  spec: SourceSpec<Config>;
  check(ctx: SourceContext<Config>): Promise<SourceStanding | { ok: false; problem: SourceProblem }>;
  /** How it is read. Absent = items are pushed to it. */
  sessions?: SessionSpec<Config>;
  browse?(
    ctx: SourceContext<Config>,
    at: { parent: string | null; query?: string; cursor?: string },
  ): Promise<{ nodes: BrowseNode[]; nextCursor: string | null }>;
  /** Reports its users and groups, in separate runs with a separate cursor. */
  syncIdentities?(ctx: SourceContext<Config>, run: IdentityRun): AsyncGenerator<IdentityEvent, void>;
  /**
   * Returns the item's content. `ref` and `version` are those it was listed with. Where permissions are mirrored,
   * content of another version than the listed one is neither stored nor shown, since the access list belongs to the
   * listed one: the item is listed again. Throws `source_not_found` when it is gone.
   */
  fetchContent?(
    ctx: SourceContext<Config>,
    item: { externalId: string; ref?: string; version?: string },
  ): Promise<FileContent>;
  /**
   * Whether the scope includes a stored item, so that a scope change takes effect at once. Absent = the next full run
   * decides.
   */
  inScope?(scope: Scope, item: PlacedItem): boolean;
  /**
   * Counts what scope `to` includes that `from` did not, for a person who waits and decides; undefined if only a run
   * could find out. Uses few requests: one for each added place, not for each item.
   */
  countAdded?(ctx: SourceContext<Config>, change: { from: Scope; to: Scope }): Promise<ScopeAddition | undefined>;
  /**
   * Listens for changes between runs, within the scope, until it is stopped; undefined when the config disables it.
   * Called again after each change of config, scope or visibility. Throws when it can't listen; the schedule continues.
   */
  watch?(ctx: SourceContext<Config>, scope: Scope, listener: ChangeListener): Promise<Watch | undefined>;
  /**
   * How the app notifies this server of changes: at `/hooks/<providerId>`, for one connector or for all of an
   * installation.
   */
  webhook?: SourceWebhook<Config>;
  /** Absent = no archives, and no file inside a file is refused. */
  childRules?(config: Config): ChildRules;
  /**
   * Where credentials are sent: an origin (`https://host`), or `scheme://host:port` of another protocol. Requests to it
   * and to `spec.origins` are signed; a config that changes one of them needs new credentials. Absent = the origin of
   * `baseUrlOf`. Source: S31.
   */
  originOf?(config: Config): string;
  /** With `spec.readsGit`, the origin of the repositories, if it differs: for the git program alone. */
  gitOriginOf?(config: Config): string;
  /**
   * The group that every item names, and its members by the keys of `namedIn`: items stay the same when the members
   * change, and a change takes effect at once. `syncIdentities` reports the same.
   */
  namedGroup?(config: Config, connectorId: string): { group: Principal; members: readonly Principal[] };
  /**
   * With `acl: "connector"`, the part of the app that the config leads to, such as a folder's address. Another value is
   * another place: what was read at the old one is hidden at once. Absent = everything in the config except `namedIn`.
   */
  placeOf?(config: Config): string;
  /**
   * The base URL of the instance whose users it names. Absent with `hasPeople` = users of the connector itself, without
   * an instance. Source: S2.
   */
  baseUrlOf?(config: Config): string;
  /**
   * Whether only an admin may connect this with these options. Absent: admins only when it is connected without
   * credentials.
   */
  isForAdmins?(config: Config, options: { hasCredentials: boolean }): boolean;
  /** Deletes what the source keeps of a removed connector outside the store. */
  forget?(connectorId: string): Promise<void>;
  /** Why this kind can't be connected here, if it can't (no roots configured, managed mode). */
  unavailable?(): Promise<string | undefined>;
}

/** Where credentials are sent: by default to the origin of the instance. */
export function originOf(
  source: Pick<Source, "originOf" | "baseUrlOf">,
  config: Parameters<NonNullable<Source["originOf"]>>[0],
): string | undefined {
  if (source.originOf) return source.originOf(config);
  return source.baseUrlOf && new URL(source.baseUrlOf(config)).origin;
}
