import { Role } from "#api/common.ts";
import { SecretsSetting } from "#api/session.ts";
import { table, words } from "./table.ts";

const { text, integer, instant, flag, json, oneOf, nullable, hidden, withDefault } = words;

/** People, across workspaces. */
export const USERS = table(
  "users",
  ["userId"],
  {
    userId: text,
    email: text,
    /** The address in ASCII lower case; unique. */
    emailKey: hidden(text),
    name: text,
    passwordHash: nullable(text),
    emailVerifiedAt: nullable(instant),
    timeZone: nullable(text),
    createdAt: instant,
    /** When someone last made a link with which they could sign in as this person, and who did. */
    resetLinkAt: hidden(nullable(instant)),
    resetLinkBy: hidden(nullable(text)),
    /** When the operator last set the password on the server's machine. */
    passwordSetAt: hidden(nullable(instant)),
  },
  { unique: [["emailKey"]] },
);

export const WORKSPACES = table("workspaces", ["workspaceId"], {
  workspaceId: text,
  name: text,
  timeZone: text,
  createdAt: instant,
  /** How tokens, keys and passwords in texts are treated: masked, or indexed as they are. Source: S37. */
  secrets: withDefault(oneOf(SecretsSetting.options), "mask"),
  /** How long mirrored permissions are trusted. Source: S23. */
  maxAclAgeMs: withDefault(integer, 86_400_000),
  /** Domains, in lower case, whose addresses link a user of a source to a member. Source: S3. */
  identityDomains: withDefault(json<string[]>(), "[]"),
});

export const MEMBERS = table(
  "members",
  ["workspaceId", "userId"],
  {
    userId: text,
    role: oneOf(Role.options),
    joinedAt: instant,
  },
  {
    deletedWith: [WORKSPACES],
    references: [USERS],
    indexes: { members_by_user: ["userId"] },
  },
);

export const INVITATIONS = table(
  "invitations",
  ["workspaceId", "invitationId"],
  {
    workspaceId: text,
    invitationId: text,
    email: text,
    role: oneOf(Role.options),
    tokenHash: hidden(text),
    invitedBy: text,
    createdAt: instant,
    expiresAt: instant,
    acceptedAt: nullable(instant),
    revokedAt: nullable(instant),
    /** True when this server sent the link to `email`, so that accepting it verifies the address. Source: S3. */
    isMailed: withDefault(flag, 0),
  },
  { deletedWith: [WORKSPACES], unique: [["tokenHash"]] },
);

/** The workspace's own groups. */
export const GROUPS = table(
  "groups",
  ["workspaceId", "groupId"],
  {
    groupId: text,
    name: text,
    createdAt: instant,
    /** Null if its owner left. */
    ownerUserId: nullable(text),
    /** 1 = only its owner may change the group. */
    isClosed: withDefault(flag, 0),
  },
  { deletedWith: [WORKSPACES] },
);
