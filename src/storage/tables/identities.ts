import { table, words } from "./table.ts";

const { text, integer, instant, flag, oneOf, nullable, hidden, withDefault } = words;

/** Users of sources, as connectors tell of them. */
export const IDENTITIES = table("identities", ["workspaceId", "principal", "connectorId"], {
  principal: text,
  /** Who tells it: a connector, or a member's account. */
  connectorId: text,
  toldIn: oneOf(["identities", "sync", "account"]),
  /** `user:<provider>:<instance>:`, what all users of the instance begin with. */
  instance: hidden(text),
  state: oneOf(["active", "suspended", "gone"]),
  name: nullable(text),
  login: nullable(text),
  email: nullable(text),
  emailKey: hidden(nullable(text)),
  isEmailVerified: flag,
  /** False = a name and no more: nobody is joined on this connector's word. */
  isTrusted: flag,
  /** Told only as another id of this one. */
  aliasOf: nullable(text),
  toldAt: instant,
  followsFeed: flag,
  seenBy: hidden(nullable(text)),
});

/** Which members users of sources are or were. At most one of a user's has not ended. It holds for the whole instance. */
export const IDENTITY_JOINS = table("identity_joins", ["workspaceId", "principal", "userId"], {
  principal: text,
  userId: text,
  /** The connector that told of the user; with the basis `account` the account. */
  connectorId: text,
  /** An account of theirs, an address verified at both ends, or somebody's word. */
  basis: oneOf(["account", "email", "admin"]),
  /** Who tied them; null = nobody by hand. */
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
  /** True = it was of a member who left: it never comes back by email. */
  hasLeft: hidden(flag),
});

/** Groups that synced connectors told whole. Their members are in `memberships`; past its clock they do not count. */
export const SOURCE_GROUPS = table("source_groups", ["workspaceId", "groupPrincipal"], {
  groupPrincipal: text,
  connectorId: text,
  /** What told it, and so ends it. */
  toldIn: oneOf(["identities", "sync"]),
  /** When it was last read whole, or told to be the same. */
  checkedAt: instant,
  /** The clock of its feed counts for it as well. */
  followsFeed: flag,
  /** It has no clock: its connector's access is set here. */
  neverAges: withDefault(flag, 0),
  members: integer,
  /** Of the members as they were read; null once a change to them was stored, so that nothing is "the same" as it. */
  digest: nullable(text),
  etag: nullable(text),
  /** The feed's position from which on its changes are newer than the reading. */
  toldPosition: integer,
  /** The run that last told it. */
  toldBy: text,
  /** The whole run under way when it was last told. */
  seenBy: nullable(text),
});

/** How far connectors have told of groups and users, in runs of their own or in their syncs. */
export const PEOPLE_FEEDS = table("people_feeds", ["workspaceId", "connectorId", "toldIn"], {
  connectorId: text,
  toldIn: oneOf(["identities", "sync"]),
  /** Counts the runs that came to the end of the feed, and whole ones. */
  position: integer,
  /** JSON; opaque to everybody but the source. Null for syncs, whose cursor is the connector's. */
  cursor: nullable(text),
  /** The clock of everything that was told whole before and follows the feed. */
  currentAt: nullable(instant),
  /** The whole run under way, and where it is taken up again; at its end that becomes the feed's cursor. */
  runId: nullable(text),
  runCursor: nullable(text),
  wholeAt: nullable(instant),
});

/** Addresses that were of members and may be of others now. */
export const FORMER_ADDRESSES = table("former_addresses", ["workspaceId", "emailKey", "userId"], {
  emailKey: text,
  userId: text,
  /** False = the member has another address now. */
  hasLeft: flag,
});
