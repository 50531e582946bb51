import { WORKSPACES } from "./people.ts";
import { table, words } from "./table.ts";

const { text, integer, instant, json, nullable, hidden } = words;

/** The members of each group principal, as its reporter reported them. Members may be groups themselves. */
export const MEMBERSHIPS = table(
  "memberships",
  ["workspaceId", "groupPrincipal", "memberPrincipal", "reportedBy"],
  {
    groupPrincipal: text,
    memberPrincipal: text,
    /** `kb` for kb's own groups, else the connector that reported the row. */
    reportedBy: text,
  },
  {
    withoutRowid: true,
    // Without its last two columns, SQLite walks over all of the workspace in the key: 460 ms for a person with 500
    // groups among 1.1 million memberships.
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
    /** The list's principals, sorted. */
    principals: json<string[]>(),
    /** Look-up key; see `listDigest`. */
    digest: integer,
  },
  { deletedWith: [WORKSPACES], indexes: { access_lists_by_digest: ["digest"] } },
);

/** The numbers of principals that a list names or once named. */
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

/** Counters for all workspaces, in one row. */
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
    /** Ids of the access's lists, ascending, joined by commas. */
    listIds: text,
  },
  { deletedWith: [WORKSPACES], unique: [["workspaceId", "listIds"]] },
);

const ACTS = `"action" <> 'items.read'`;

/** The audit. The hash covers a row as it is stored; see `storage/audit-chain.ts`. */
export const AUDIT = table(
  "audit",
  ["workspaceId", "seq"],
  {
    /** Counts up in each workspace. */
    seq: integer,
    at: instant,
    actorUserId: nullable(text),
    /** How the actor authenticated: `session:ses_…`, `pat:tok_…`, `system`. */
    credential: text,
    action: text,
    targetType: text,
    targetId: text,
    outcome: text,
    ip: nullable(text),
    requestId: nullable(text),
    /** JSON without secrets or titles. */
    details: text,
    /** The `hash` of the previous row; null in rows that were written before the chain was introduced. */
    previousHash: hidden(nullable(text)),
    /** SHA-256 over the previous hash and this row, in hex. */
    hash: hidden(nullable(text)),
  },
  {
    deletedWith: [WORKSPACES],
    indexes: {
      audit_by_actor: ["workspaceId", "actorUserId", "action", "seq"],
      // Most rows are reads. This index lets a search for acts skip them.
      audit_acts: { columns: ["workspaceId", "seq"], where: ACTS },
      audit_by_time: ["workspaceId", "at"],
      audit_by_target: { columns: ["workspaceId", "targetId", "seq"], where: ACTS },
    },
  },
);

/** Reads of the last minute, which wait to become audit rows. */
export const WAITING_READS = table(
  "waiting_reads",
  ["workspaceId", "number"],
  {
    /** Counts up in each workspace. */
    number: integer,
    /** An audit row without its position in the chain, as JSON. */
    record: text,
  },
  { withoutRowid: true, deletedWith: [WORKSPACES] },
);
