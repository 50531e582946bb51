import { table, words } from "./table.ts";

const { text, instant, flag, oneOf, nullable, hidden } = words;

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
