import type { Role } from "#api/common.ts";
import { isAbove } from "#storage/access/ladder.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { endAccountsOf } from "./accounts.ts";
import { type EndedConnection, endConnectionsOf, fillServerConnectionsOf } from "./connections.ts";
import { distrustConnectorsOf, type UntrustedJoin } from "./distrust.ts";
import { keepAddressOfLeft } from "./former-addresses.ts";
import { endGrantsOf } from "./grants.ts";
import { endJoinsOf } from "./identities.ts";
import { leaveConnectors } from "./left-connectors.ts";
import { endHandedLinksOf } from "./links.ts";
import { OPEN } from "./people.ts";
import { dropFromConnectors, dropFromGroups } from "./places.ts";
import { endSessionsOf } from "./sessions.ts";
import { takeScope } from "./taken-scope.ts";
import { endTokensOf } from "./tokens.ts";
import type { Whose } from "./whose.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { changesOf } from "#storage/results.ts";
import { GROUPS, INVITATIONS } from "#storage/tables/people.ts";
import { CONNECTOR_KEYS } from "#storage/tables/connectors.ts";
import { API_TOKENS, GRANTS } from "#storage/tables/credentials.ts";

/** A change to a lower role, or to none (`null`) for a person who leaves or is removed. */
export interface RoleFall extends Whose {
  from: Role;
  to: Role | null;
}

/** The things that a lower role ended, and that other parts of kb must still be notified of. */
export interface FallOutcome {
  /** How many objects of each row of `ROLE_FALL` ended or changed; rows with none are left out. */
  ended: Partial<Record<FallRow, number>>;
  /** The runs under way that were stopped. */
  stoppedSyncIds: string[];
  /** Links of people that ended because connectors of this person are no longer trusted. */
  endedJoins: UntrustedJoin[];
  /** Connections to revoke at their providers. */
  endedConnections: EndedConnection[];
}

type Row = (sql: SqlHandles, fall: RoleFall, outcome: FallOutcome) => Promise<number>;

/** The roles, the lowest first. */
const RANKS: readonly Role[] = ["member", "admin", "owner"];

/** True when a person whose role changes from `from` to `to` loses a right. */
export function isFall(from: Role, to: Role): boolean {
  return RANKS.indexOf(to) < RANKS.indexOf(from);
}

/**
 * Everything that a person with a role can leave behind, and how it ends when the person gets a lower role. Anything
 * that isn't listed checks the current role at each use; docs/permissions.md has both in one table. Source: S63.
 */
export const ROLE_FALL = {
  /** Open invitations to a role that the person can no longer grant. */
  invitations: (sql, { workspaceId, userId, to, at }) =>
    endInvitations(sql, { workspaceId, userId, at, roles: RANKS.filter((role) => to === null || !isAbove(to, role)) }),
  /** Links that set a member's password and that this person holds. Only an owner may hold them. */
  passwordLinks: (sql, { to, ...whose }) => (to === "owner" ? none() : endHandedLinksOf(sql, whose)),
  tokens: (sql, { to, ...whose }) => {
    if (to === null) return endTokensOf(sql, whose);
    return to === "member" ? takeScope(sql, whose, API_TOKENS, "kb:admin", "kb:api") : none();
  },
  clients: (sql, { to, at, ...whose }) => {
    if (to === null) return endGrantsOf(sql, whose, at);
    return to === "member" ? takeScope(sql, whose, GRANTS, "kb:admin", "kb:api") : none();
  },
  sessions: (sql, { to, ...whose }) => (to === null ? endSessionsOf(sql, whose) : none()),
  /** The trust in the users of a source that the person's connectors report. */
  trust: async (sql, { to, ...whose }, outcome) => {
    if (to === "admin") return 0;
    outcome.endedJoins = await distrustConnectorsOf(sql, whose);
    return outcome.endedJoins.length;
  },
  connectorKeys: async (sql, { to, workspaceId, userId, at }) => {
    if (to !== null) return 0;
    const keys = inWorkspace(sql, workspaceId, CONNECTOR_KEYS);
    return keys.update({ createdBy: userId, revokedAt: null }, { revokedAt: at });
  },
  groups: async (sql, { to, workspaceId, userId }) => {
    if (to !== null) return 0;
    await dropFromGroups(sql, workspaceId, `user:${userId}`);
    await dropFromConnectors(sql, workspaceId, "memberIds", userId);
    return inWorkspace(sql, workspaceId, GROUPS).update({ ownerUserId: userId }, { ownerUserId: null });
  },
  people: async (sql, { to, ...whose }) => {
    if (to !== null) return 0;
    await endJoinsOf(sql, whose);
    await keepAddressOfLeft(sql, whose);
    return 0;
  },
  connectors: async (sql, { to, ...whose }, outcome) => {
    if (to === null) outcome.stoppedSyncIds = await leaveConnectors(sql, whose);
    return outcome.stoppedSyncIds.length;
  },
  accounts: async (sql, { to, ...whose }) => {
    if (to === null) await endAccountsOf(sql, whose);
    return 0;
  },
  connections: async (sql, { to, ...whose }, outcome) => {
    if (to === "admin") return 0;
    if (to !== null) return fillServerConnectionsOf(sql, whose, to);
    outcome.endedConnections = await endConnectionsOf(sql, whose);
    return outcome.endedConnections.length;
  },
} as const satisfies Record<string, Row>;

export type FallRow = keyof typeof ROLE_FALL;

/**
 * Ends everything that a lower role ends, row by row. Demotion and removal both call it. Call it in the transaction
 * that changes the role, and raise the epoch there.
 */
export async function endWhatFalls(sql: SqlHandles, fall: RoleFall): Promise<FallOutcome> {
  const outcome: FallOutcome = { ended: {}, stoppedSyncIds: [], endedJoins: [], endedConnections: [] };
  for (const [name, end] of Object.entries(ROLE_FALL)) {
    const count = await end(sql, fall, outcome);
    // The names are those of the table itself.
    if (count > 0) outcome.ended[name as FallRow] = count;
  }
  return outcome;
}

async function none(): Promise<number> {
  return 0;
}

async function endInvitations(
  sql: SqlHandles,
  { workspaceId, userId, at, roles }: Whose & { roles: readonly Role[] },
): Promise<number> {
  const open = inWorkspace(sql, workspaceId, INVITATIONS).updating({ invitedBy: userId, ...OPEN });
  return changesOf(open.set({ revokedAt: at }).where("role", "in", roles));
}
