import type { ConnectorAct } from "#api/connector-acts.ts";
import { assertNever } from "#api/errors.ts";
import { type Actor, actsAsAdmin } from "#storage/access/actor.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";

/** The facts about a connector on which the decision depends. */
export type Judged = Pick<ConnectorRecord, "ownerUserId" | "state" | "pausedBy"> & {
  /** Whether only an admin may connect the source in this way. */
  isForAdmins: boolean;
  isPushed: boolean;
  /**
   * Whether the connector reads through a connection that uses a server's own secret. Only admins may share such a
   * secret. Source: S64.
   */
  isLent?: boolean;
};

/**
 * Whether a person may do the action. `hidden`: they may not know that the connector exists. `owner`, `admin`,
 * `workspace_owner`: only this person may do it. `orphan`: the owner has left, so no one may do it until someone takes
 * the connector over.
 */
export type Verdict = "yes" | "hidden" | "owner" | "admin" | "workspace_owner" | "orphan";

/** The acting person, with their current role. */
export type Who = Pick<Actor, "userId" | "role" | "scopes">;

type Owned = Pick<ConnectorRecord, "ownerUserId" | "state">;

/** The type of `judgeAct`. */
export type JudgeAct = (act: ConnectorAct, who: Who, connector: Judged) => Verdict;

/**
 * Decides whether this person may do this to the connector. Every route that changes a connector uses this rule. The
 * owner of a connector has all rights over it. Admins and owners of the workspace keep it running and can reduce it,
 * but they choose neither what it reads nor who reads it. If an owner's role no longer lets them connect such a source,
 * they can't change what it reads. Source: S59.
 */
export function judgeAct(act: ConnectorAct, who: Who, connector: Judged): Verdict {
  if (!manages(who, connector)) return "hidden";
  const isOwner = isOwnedBy(who, connector);
  const isAdmin = actsAsAdmin(who);
  switch (act) {
    case "rename":
    case "schedule":
    case "sync":
    case "pause":
    case "delete":
    case "narrow_access":
    case "decide_removals":
    case "restore":
    case "webhook":
      return "yes";
    case "resume":
      return isOwner || !isPausedByOwner(connector) ? "yes" : ofOwner(connector);
    case "narrow_scope":
    case "end_keys":
      return isOwner ? ofRole(isAdmin, connector) : "yes";
    case "configure":
    case "reconnect":
    case "widen_scope":
    case "browse":
    case "rotate_key":
      return isOwner ? ofRole(isAdmin, connector) : ofOwner(connector);
    case "widen_access":
      if (isOwner && connector.isLent === true) return isAdmin ? "yes" : "admin";
      return isOwner ? "yes" : ofOwner(connector);
    case "link_people":
      return isAdmin ? "yes" : "admin";
    case "take_over":
      if (!isOrphan(connector)) return "owner";
      // The key of a push connector gives access to every item in it, so not every admin may have it.
      if (connector.isPushed && who.role !== "owner") return "workspace_owner";
      return isAdmin ? "yes" : "admin";
    default:
      return assertNever(act);
  }
}

/** Whether this person may know of the connector: its owner, and people with an admin's rights. */
export function manages(who: Who, connector: Owned): boolean {
  return isOwnedBy(who, connector) || actsAsAdmin(who);
}

/**
 * Whether this person owns the connector. An owner who has left no longer owns it, even if they come back: it waits
 * until someone takes it over. Source: S13.
 */
export function isOwnedBy({ userId }: Pick<Who, "userId">, { ownerUserId, state }: Owned): boolean {
  return ownerUserId === userId && !isOrphan({ state });
}

/** Whether the owner has left. The person who takes the connector over becomes its owner. */
export function isOrphan({ state }: Pick<ConnectorRecord, "state">): boolean {
  return state === "needs_owner";
}

/** Whether connectors of this kind, in this state, have the action. */
export function isActOf(act: ConnectorAct, { isPushed, state }: Judged): boolean {
  if (act === "rotate_key" || act === "end_keys") return isPushed;
  if (act === "sync" || act === "schedule" || act.endsWith("_scope") || act === "browse") return !isPushed;
  return act !== "take_over" || isOrphan({ state });
}

/**
 * If an owner paused their connector, only the owner can resume it. Older pauses have no record of the person, so the
 * owner may have paused.
 */
function isPausedByOwner({ state, pausedBy, ownerUserId }: Judged): boolean {
  return state === "paused" && (pausedBy === null || pausedBy === ownerUserId);
}

function ofRole(isAdmin: boolean, { isForAdmins: isOnlyForAdmins }: Judged): Verdict {
  return isOnlyForAdmins && !isAdmin ? "admin" : "yes";
}

function ofOwner(connector: Judged): Verdict {
  return isOrphan(connector) ? "orphan" : "owner";
}
