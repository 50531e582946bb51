import { WORKSPACES } from "./people.ts";
import { table, words } from "./table.ts";

const { text, integer, instant, json, nullable, hidden } = words;

/** Who belongs to a group principal, as its reporter said. Members may be groups themselves. */
export const MEMBERSHIPS = table(
  "memberships",
  ["workspaceId", "groupPrincipal", "memberPrincipal", "reportedBy"],
  {
    groupPrincipal: text,
    memberPrincipal: text,
    /** `kb` for the service's own groups, else the connector that reported the row. */
    reportedBy: text,
  },
  {
    withoutRowid: true,
    // Without its last two columns SQLite walks over all of the workspace in the key: 460 ms for a person with 500 groups
    // among 1.1 million memberships.
    indexes: { memberships_by_member: ["workspaceId", "memberPrincipal", "groupPrincipal", "reportedBy"] },
  },
);

/** Counters of a workspace's permission model. */
export const ACCESS_STATE = table(
  "access_state",
  ["workspaceId"],
  {
    /** Rises with every change to memberships, roles, connector access or state. */
    epoch: integer,
    nextListId: integer,
    nextAclId: integer,
  },
  { deletedWith: [WORKSPACES] },
);

export const ACCESS_LISTS = table(
  "access_lists",
  ["workspaceId", "listId"],
  {
    listId: integer,
    /** Sorted. */
    principals: json<string[]>(),
    /** Lookup key; see `listDigest`. */
    digest: integer,
  },
  { deletedWith: [WORKSPACES], indexes: { access_lists_by_digest: ["digest"] } },
);

/** Numbers of the principals that lists name or have named. */
export const ACCESS_PRINCIPALS = table(
  "access_principals",
  ["workspaceId", "principal"],
  {
    principal: text,
    /** Unique to this principal in this workspace, and never reused. */
    principalNo: integer,
  },
  { withoutRowid: true, deletedWith: [WORKSPACES] },
);

/** One row. */
export const ACCESS_NUMBERS = table("access_numbers", [], { nextPrincipalNo: integer });

export const ACCESS_LIST_PRINCIPALS = table(
  "access_list_principals",
  ["principalNo", "listId"],
  {
    principalNo: integer,
    listId: integer,
  },
  { withoutRowid: true },
);

export const ACCESSES = table(
  "accesses",
  ["workspaceId", "aclId"],
  {
    /** 0 (no one) is never stored. */
    aclId: integer,
    /** Ascending list ids, comma-joined. */
    listIds: text,
  },
  { deletedWith: [WORKSPACES], unique: [["workspaceId", "listIds"]] },
);

const ACTS = `"action" <> 'items.read'`;

/** The audit. A row is hashed as it is stored: see `storage/audit-chain.ts`. */
export const AUDIT = table(
  "audit",
  ["workspaceId", "seq"],
  {
    /** Counts up per workspace. */
    seq: integer,
    at: instant,
    actorUserId: nullable(text),
    /** `session:ses_…`, `pat:tok_…`, `system`. */
    credential: text,
    action: text,
    targetType: text,
    targetId: text,
    outcome: text,
    ip: nullable(text),
    requestId: nullable(text),
    /** JSON; no secrets, no titles. */
    details: text,
    /** The `hash` of the row before; null in rows from before the chain. */
    previousHash: hidden(nullable(text)),
    /** SHA-256 over the previous hash and this row, hex. */
    hash: hidden(nullable(text)),
  },
  {
    deletedWith: [WORKSPACES],
    indexes: {
      audit_by_actor: ["workspaceId", "actorUserId", "action", "seq"],
      // Most rows are reads: a search for acts passes over none of them.
      audit_acts: { columns: ["workspaceId", "seq"], where: ACTS },
      audit_by_time: ["workspaceId", "at"],
      audit_by_target: { columns: ["workspaceId", "targetId", "seq"], where: ACTS },
    },
  },
);

/** Reads of the last minute, waiting to become audit rows. */
export const WAITING_READS = table(
  "waiting_reads",
  ["workspaceId", "number"],
  {
    /** Counts up per workspace. */
    number: integer,
    /** An audit row without its place in the chain, as JSON. */
    record: text,
  },
  { withoutRowid: true, deletedWith: [WORKSPACES] },
);
