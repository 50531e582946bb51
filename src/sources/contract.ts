/** A source: its `spec`, and methods, each of which is a capability by its presence. */
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

/** The estimated size of what a scope change adds, without reading the content. */
export interface ScopeAddition {
  /** A lower bound of the number of items. Dependent items, such as comments, need not be counted. */
  items: number;
  /** Approximate number of requests that reading the items takes. */
  calls: number;
}

/** A place in a source that a person can select before connecting. */
export interface BrowseNode {
  id: string;
  parent: string | null;
  title: string;
  kind: string;
  selectable: boolean;
  expandable: boolean;
  count?: number;
}

/** Which files inside a source's files become separate items. Attachments of emails always do. */
export interface ChildRules {
  /** Whether members of archives become items too. */
  archives: boolean;
  /**
   * Returns why a file inside a file is left out, based on its name or path in the outer file. Undefined = the file is
   * included.
   */
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
  /** Every way to sign in. At least one, the best first. Includes `none` if the source answers without credentials. */
  auth: readonly AuthWay[];
  /**
   * The names of the accepted credentials, as a strict schema, if a way to sign in uses credentials. Every value is a
   * secret, so no message may repeat a value.
   */
  credentials?: z.ZodType<Readonly<Record<string, string>>>;
  /**
   * Further origins whose requests are signed, besides `originOf`. Templates filled in from the config, such as
   * `https://files.slack.com`.
   */
  origins?: readonly string[];
  /** Ports for `connect` that need no permission from the operator. Absent = the source has no `connect`. */
  ports?: readonly number[];
  /** The git program reads the source's repositories, with the same token that signs the source's requests. */
  readsGit?: true;
  /** Known rate limits. Absent = only `429` and `Retry-After` are recognized. */
  limits?: LimitSpec;
  /** A strict object schema. Each key has a `title` and a `description` in `.meta()`, for forms and prompts. */
  config: z.ZodType<Config>;
  /**
   * Increase this number when the cursors or states of earlier versions can't be read any more. Both are then
   * discarded. Defaults to 1.
   */
  stateVersion?: number;
  /** How precisely the source's permissions are mirrored. `connector` = kb decides who can read. */
  acl: "per_item" | "container" | "connector";
  /** True = only the connector's owner can read its items, even if the connector is shared. */
  isForOwner?: true;
  /**
   * Keys of `config` whose values an access may name, in addition to the source's own principals. A value is a group of
   * the workspace (`grp_…`), `workspace`, or a list of these. With `acl: "connector"`, `workspace` may always be named.
   */
  namedIn?: readonly string[];
  /**
   * True = a scope without explicit includes leaves something out, such as a junk folder, which has to be included by
   * name.
   */
  hasUnnamed?: true;
  /** True = the source reports its users: it has `syncIdentities`, and its accesses name users as principals. */
  hasPeople?: true;
  /**
   * True = the content that `fetchContent` returns for a `ref` never changes (a blob, a revision), so it needs no
   * version.
   */
  hasLastingContent?: true;
  /**
   * True = a run of mode `changes` reports every change of a group or user since the last run, which confirms that
   * everything reported earlier is still current.
   */
  isPeopleFeedGapless?: true;
  /**
   * Base URLs of the instances that are defined in code, such as `https://api.github.com`. Users of these instances may
   * be members.
   */
  instances?: readonly string[];
  /**
   * How mirrored permissions are confirmed to be current: by a full run (the default), by a run of mode `access`, or by
   * increments from a feed that shows every permission change. A confirmation is due every half `maxAclAge`.
   */
  freshness?: "full" | "access" | "feed";
  /**
   * Which URLs identify an item of this kind when people paste them, and the forms of these URLs, on hosts that are
   * defined in code.
   */
  links?: LinkRules;
  /** `listing`: increments don't show that an item has moved to another container. Only a complete listing shows it. */
  placement?: "feed" | "listing";
}

/** A source that can be used with this sign-in, and its account. Ids never change. */
export interface SourceStanding {
  ok: true;
  warnings?: string[];
  /** The tenant, if the server has several tenants with separate users. */
  tenantId?: string;
  /**
   * The account that the credentials belong to. New credentials of the same account continue from the cursor of the old
   * ones. If absent, the credentials may belong to anyone, and everything is read again.
   */
  accountId?: string;
  /** The granted scopes. If the scopes change, everything is read again. */
  scopes?: readonly string[];
}

/** A webhook, and how to subscribe to it at the provider. */
export interface SourceWebhook<Config> extends Webhook<Config> {
  /**
   * Subscribes `url` to the provider's notifications, signed with `secret`. Called for each new connector, before the
   * current subscription expires, after each change of config, scope or secret, and after a failure, so a subscription
   * for the same URL may already exist. The new subscription replaces the old one, which is then ended. Undefined =
   * there is nothing to subscribe to with this config.
   */
  subscribe?(ctx: SourceContext<Config>, to: { url: string; secret: string }): Promise<WebhookSubscription | undefined>;
  /**
   * Ends a subscription that `subscribe` created, because it was replaced or its connector is removed. A subscription
   * that no longer exists isn't an error.
   */
  unsubscribe?(ctx: SourceContext<Config>, data: unknown): Promise<void>;
}

/**
 * A kind of app. Each method is a capability by its presence, so no flag can contradict it. Failures of the provider
 * are thrown as `ApiError` `source_unauthorized`, `source_rate_limited`, `source_unavailable`.
 */
export interface Source<Config = unknown> {
  spec: SourceSpec<Config>;
  check(ctx: SourceContext<Config>): Promise<SourceStanding | { ok: false; problem: SourceProblem }>;
  /** How the source is read. Absent = items are pushed to the connector. */
  sessions?: SessionSpec<Config>;
  browse?(
    ctx: SourceContext<Config>,
    at: { parent: string | null; query?: string; cursor?: string },
  ): Promise<{ nodes: BrowseNode[]; nextCursor: string | null }>;
  /** Reports the source's users and groups, in separate runs with a separate cursor. */
  syncIdentities?(ctx: SourceContext<Config>, run: IdentityRun): AsyncGenerator<IdentityEvent, void>;
  /**
   * Returns the item's content. `ref` and `version` are the values that the item was listed with. Where permissions are
   * mirrored, content of another version is neither stored nor shown, because the access list belongs to the listed
   * version; the item is listed again instead. Throws `source_not_found` if the item is gone.
   */
  fetchContent?(
    ctx: SourceContext<Config>,
    item: { externalId: string; ref?: string; version?: string },
  ): Promise<FileContent>;
  /**
   * Whether the scope includes a stored item, so that a scope change takes effect at once. Absent = the next full run
   * applies the scope change.
   */
  inScope?(scope: Scope, item: PlacedItem): boolean;
  /**
   * Counts the items that scope `to` includes and `from` doesn't, for a person who waits for the number before
   * deciding. Undefined if only a run could count them. Uses few requests: one for each added place, not for each item.
   */
  countAdded?(ctx: SourceContext<Config>, change: { from: Scope; to: Scope }): Promise<ScopeAddition | undefined>;
  /**
   * Watches for changes within the scope between runs, until the watch is stopped. Undefined if the config disables
   * watching. Called again after each change of config, scope or visibility. Throws if watching isn't possible;
   * scheduled runs continue.
   */
  watch?(ctx: SourceContext<Config>, scope: Scope, listener: ChangeListener): Promise<Watch | undefined>;
  /**
   * How the app notifies this server of changes at `/hooks/<providerId>`, for one connector or for all connectors of an
   * installation.
   */
  webhook?: SourceWebhook<Config>;
  /** Which files inside files are included. Absent = archives aren't opened, and no file inside a file is refused. */
  childRules?(config: Config): ChildRules;
  /**
   * The origin that credentials are sent to (`https://host`), or `scheme://host:port` for another protocol. Requests to
   * this origin and to `spec.origins` are signed. A config that changes one of these origins needs new credentials.
   * Absent = the origin of `baseUrlOf`. Source: S31.
   */
  originOf?(config: Config): string;
  /**
   * With `spec.readsGit`: the origin of the repositories, if it differs from `originOf`. Only the git program uses it.
   */
  gitOriginOf?(config: Config): string;
  /**
   * The group that every item names, and its members according to the keys of `namedIn`. When the members change, items
   * stay the same, and the change takes effect at once. `syncIdentities` reports the same group.
   */
  namedGroup?(config: Config, connectorId: string): { group: Principal; members: readonly Principal[] };
  /**
   * With `acl: "connector"`: the part of the app that the config points to, such as a folder's address. A different
   * value is a different place, and items that were read at the old place are hidden at once. Absent = everything in
   * the config except `namedIn`.
   */
  placeOf?(config: Config): string;
  /**
   * The base URL of the instance that the source's users belong to. Absent with `hasPeople` = the users belong to the
   * connector itself, without an instance. Source: S2.
   */
  baseUrlOf?(config: Config): string;
  /**
   * Whether only an admin may connect this source with these options. Absent = only admins may connect it without
   * credentials.
   */
  isForAdmins?(config: Config, options: { hasCredentials: boolean }): boolean;
  /** Deletes the data of a removed connector that the source keeps outside the store. */
  forget?(connectorId: string): Promise<void>;
  /**
   * Why this kind of source can't be connected here (no allowed roots, managed mode). Undefined = it can be connected.
   */
  unavailable?(): Promise<string | undefined>;
}

/** Returns the origin that credentials are sent to. Defaults to the origin of the instance. */
export function originOf(
  source: Pick<Source, "originOf" | "baseUrlOf">,
  config: Parameters<NonNullable<Source["originOf"]>>[0],
): string | undefined {
  if (source.originOf) return source.originOf(config);
  return source.baseUrlOf && new URL(source.baseUrlOf(config)).origin;
}
