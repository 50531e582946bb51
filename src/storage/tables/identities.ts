import { table, words } from "./table.ts";

const { text, integer, instant, flag, oneOf, nullable, hidden, withDefault } = words;

/** Users of sources, as reported by connectors. */
export const IDENTITIES = table(
  "identities",
  ["workspaceId", "principal", "connectorId"],
  {
    principal: text,
    /** The reporter: a connector, or a member's account. */
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
    /** False = only a name: a report of this connector links no one to a member. */
    isTrusted: flag,
    /** Set if the user was reported only as another id of this user. */
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
 * Links between users of sources and members, past and present. Each user has at most one that hasn't ended. A link is
 * valid for the whole instance.
 */
export const IDENTITY_JOINS = table(
  "identity_joins",
  ["workspaceId", "principal", "userId"],
  {
    principal: text,
    userId: text,
    /** The connector that reported the user; for the basis `account`, the account. */
    connectorId: text,
    /**
     * The basis of the link: an account of the member, an address that was verified at both ends, or a decision of
     * an admin.
     */
    basis: oneOf(["account", "email", "admin"]),
    /** The admin who linked them; null = not linked by hand. */
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
    /** True = the member left, so the link is never made again by email. */
    hasLeft: hidden(flag),
  },
  {
    withoutRowid: true,
    indexes: {
      identity_joins_by_hand: {
        columns: ["workspaceId", "joinedAt", "connectorId", "joinedBy", "endedAt"],
        where: `"basis" = 'admin'`,
      },
      // Contains all columns that are read when looking up by user. Without them SQLite walks the key, which begins
      // with the workspace, because it assumes that a workspace has ten rows.
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
 * Groups that synced connectors reported in full. Their members are in `memberships`, which are ignored once the
 * group's clock has expired.
 */
export const SOURCE_GROUPS = table(
  "source_groups",
  ["workspaceId", "groupPrincipal"],
  {
    groupPrincipal: text,
    connectorId: text,
    /** The kind of run that reported the group, and that therefore ends it. */
    toldIn: oneOf(["identities", "sync"]),
    /** When the group was last read in full or reported as unchanged. */
    checkedAt: instant,
    /** True if the clock of its feed also applies to the group. */
    followsFeed: flag,
    members: integer,
    /**
     * Digest of the members as they were read; null once a change to them was stored, because no report can then say
     * that the group is unchanged.
     */
    digest: nullable(text),
    etag: nullable(text),
    /** The feed's position after which its changes are newer than the reading. */
    toldPosition: integer,
    /** The run that last reported the group. */
    toldBy: text,
    /** The run of mode `whole` that was under way when the group was last reported. */
    seenBy: nullable(text),
    /** True if the group has no clock, because its connector's access is set in kb. */
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
    /** Counts the runs that reached the end of the feed, and the whole runs. */
    position: integer,
    /** JSON that only the source interprets. Null for syncs, whose cursor is the connector's. */
    cursor: nullable(text),
    /** The clock of everything that was reported in full before and follows the feed. */
    currentAt: nullable(instant),
    /**
     * The whole run under way, and the cursor from which it resumes. When the run ends, this becomes the feed's cursor.
     */
    runId: nullable(text),
    runCursor: nullable(text),
    wholeAt: nullable(instant),
  },
  { withoutRowid: true },
);

/** Addresses that members had and that other people may have now. */
export const FORMER_ADDRESSES = table(
  "former_addresses",
  ["workspaceId", "emailKey", "userId"],
  {
    emailKey: text,
    userId: text,
    /** False = the member is still here, with another address. */
    hasLeft: flag,
  },
  { withoutRowid: true },
);

/** Pairs of ids of the same user of an instance. */
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

/** A container whose listing reports a group, and so also ends it. */
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
