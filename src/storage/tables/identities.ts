import { table, words } from "./table.ts";

const { text, integer, instant, flag, oneOf, nullable, hidden, withDefault } = words;

/** Users of sources, as reported by connectors. */
export const IDENTITIES = table(
  "identities",
  ["workspaceId", "principal", "connectorId"],
  {
    principal: text,
    /** Who reports it: a connector, or a member's account. */
    connectorId: text,
    toldIn: oneOf(["identities", "sync", "account"]),
    /** `user:<provider>:<instance>:`, the prefix of all users of the instance. */
    instance: hidden(text),
    state: oneOf(["active", "suspended", "gone"]),
    name: nullable(text),
    login: nullable(text),
    email: nullable(text),
    emailKey: hidden(nullable(text)),
    isEmailVerified: flag,
    /** False = a name and no more: no one is joined on this connector's word. */
    isTrusted: flag,
    /** Reported only as another id of this one. */
    aliasOf: nullable(text),
    toldAt: instant,
    followsFeed: flag,
    seenBy: hidden(nullable(text)),
  },
  {
    withoutRowid: true,
    indexes: {
      identities_by_age: ["workspaceId", "connectorId", "toldIn", "toldAt"],
      identities_by_email: ["workspaceId", "emailKey"],
    },
  },
);

/**
 * Links between users of sources and members, past and present. At most one per user has not ended. Valid for the whole
 * instance.
 */
export const IDENTITY_JOINS = table(
  "identity_joins",
  ["workspaceId", "principal", "userId"],
  {
    principal: text,
    userId: text,
    /** The connector that reported the user; with the basis `account`, the account. */
    connectorId: text,
    /** An account of theirs, an address verified at both ends, or a link by an admin. */
    basis: oneOf(["account", "email", "admin"]),
    /** Who linked them; null = not linked by hand. */
    joinedBy: nullable(text),
    joinedAt: instant,
    endedAt: nullable(instant),
    endedBy: nullable(text),
    endReason: nullable(
      oneOf([
        "suspended",
        "gone",
        "vanished",
        "left",
        "untied",
        "another_person",
        "connector_removed",
        "account_disconnected",
        "account_unconfirmed",
        "untrusted",
      ]),
    ),
    /** True = the member left: the link never comes back by email. */
    hasLeft: hidden(flag),
  },
  {
    withoutRowid: true,
    indexes: {
      identity_joins_by_hand: {
        columns: ["workspaceId", "joinedAt", "connectorId", "joinedBy", "endedAt"],
        where: `"basis" = 'admin'`,
      },
      // All columns that are read by user. Without them SQLite walks the key, which begins with the workspace: it takes any
      // workspace to have ten rows.
      identity_joins_by_user: [
        "workspaceId",
        "userId",
        "basis",
        "joinedAt",
        "endedAt",
        "connectorId",
        "joinedBy",
        "endedBy",
        "endReason",
      ],
    },
  },
);

/**
 * Groups that synced connectors reported in full. Their members are in `memberships`; past the group's clock they do
 * not count.
 */
export const SOURCE_GROUPS = table(
  "source_groups",
  ["workspaceId", "groupPrincipal"],
  {
    groupPrincipal: text,
    connectorId: text,
    /** The kind of run that reported it, and so ends it. */
    toldIn: oneOf(["identities", "sync"]),
    /** When it was last read in full, or reported unchanged. */
    checkedAt: instant,
    /** The clock of its feed also applies to it. */
    followsFeed: flag,
    members: integer,
    /**
     * Digest of the members as they were read; null once a change to them was stored, so that nothing is "the same" as
     * it.
     */
    digest: nullable(text),
    etag: nullable(text),
    /** The feed's position after which its changes are newer than the reading. */
    toldPosition: integer,
    /** The run that last reported it. */
    toldBy: text,
    /** The whole run under way when it was last reported. */
    seenBy: nullable(text),
    /** It has no clock: its connector's access is set here. */
    neverAges: withDefault(flag, 0),
  },
  {
    withoutRowid: true,
    indexes: { source_groups_by_age: ["workspaceId", "connectorId", "toldIn", "checkedAt"] },
  },
);

/** How far connectors have reported groups and users, in separate runs or in their syncs. */
export const PEOPLE_FEEDS = table(
  "people_feeds",
  ["workspaceId", "connectorId", "toldIn"],
  {
    connectorId: text,
    toldIn: oneOf(["identities", "sync"]),
    /** Counts the runs that reached the end of the feed, and whole ones. */
    position: integer,
    /** JSON; opaque to everything but the source. Null for syncs, whose cursor is the connector's. */
    cursor: nullable(text),
    /** The clock of everything that was reported in full before and follows the feed. */
    currentAt: nullable(instant),
    /** The whole run under way, and where it resumes; at its end that becomes the feed's cursor. */
    runId: nullable(text),
    runCursor: nullable(text),
    wholeAt: nullable(instant),
  },
  { withoutRowid: true },
);

/** Addresses that members had and that others may have now. */
export const FORMER_ADDRESSES = table(
  "former_addresses",
  ["workspaceId", "emailKey", "userId"],
  {
    emailKey: text,
    userId: text,
    /** False = the member has another address now. */
    hasLeft: flag,
  },
  { withoutRowid: true },
);

/** Two ids of one user of an instance. */
export const IDENTITY_ALIASES = table(
  "identity_aliases",
  ["workspaceId", "principal", "alias", "connectorId"],
  {
    principal: text,
    alias: text,
    connectorId: text,
  },
  { withoutRowid: true, indexes: { identity_aliases_by_alias: ["workspaceId", "alias"] } },
);

/** A container whose listing reports a group, and ends it. */
export const GROUP_HOMES = table(
  "group_homes",
  ["workspaceId", "entityId", "groupPrincipal"],
  {
    entityId: text,
    groupPrincipal: text,
  },
  {
    withoutRowid: true,
    deletedWith: [SOURCE_GROUPS],
    indexes: { group_homes_by_group: ["workspaceId", "groupPrincipal"] },
  },
);
