import type { ConnectorAct } from "#api/connector-acts.ts";
import { assertNever } from "#api/errors.ts";
import { type Actor, actsAsAdmin } from "#storage/access/actor.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";

/** The facts about a connector that the judgment uses. */
export type Judged = Pick<ConnectorRecord, "ownerUserId" | "state" | "pausedBy"> & {
  /** Only an admin may connect its source in this way. */
  isForAdmins: boolean;
  isPushed: boolean;
  /** It reads through a connection by a server's own secret, which only admins may share. Source: S64. */
  isLent?: boolean;
};

/**
 * The answer to "may they?". `hidden`: they may not know that it exists. `owner`, `admin`, `workspace_owner`: only they
 * may. `orphan`: its owner left, so no one may before someone has taken it over.
 */
export type Verdict = "yes" | "hidden" | "owner" | "admin" | "workspace_owner" | "orphan";

/** The acting person, with their role as it is now. */
export type Who = Pick<Actor, "userId" | "role" | "scopes">;

type Owned = Pick<ConnectorRecord, "ownerUserId" | "state">;

/** As `judgeAct`. */
export type JudgeAct = (act: ConnectorAct, who: Who, connector: Judged) => Verdict;

/**
 * Whether this person may do this to the connector: the one rule of every route that changes one. Its owner has the
 * rights over it. Admins and owners of the workspace keep it running and can reduce it; they choose neither what it
 * reads nor who reads it. An owner whose role no longer lets them connect such a source can't change what it reads
 * either. Source: S59.
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
      // The key of a push connector opens every item in it, so not every admin may have it.
      if (connector.isPushed && who.role !== "owner") return "workspace_owner";
      return isAdmin ? "yes" : "admin";
    default:
      return assertNever(act);
  }
}

/** Whether they may know of the connector: its owner, and those who act as an admin. */
export function manages(who: Who, connector: Owned): boolean {
  return isOwnedBy(who, connector) || actsAsAdmin(who);
}

/**
 * Whether it is theirs. An owner who left owns it no more, even if they come back: it waits for someone to take it
 * over. Source: S13.
 */
export function isOwnedBy({ userId }: Pick<Who, "userId">, { ownerUserId, state }: Owned): boolean {
  return ownerUserId === userId && !isOrphan({ state });
}

/** True when its owner left: the person who takes it over becomes its owner. */
export function isOrphan({ state }: Pick<ConnectorRecord, "state">): boolean {
  return state === "needs_owner";
}

/** Whether the act exists for connectors of this kind, in this state. */
export function isActOf(act: ConnectorAct, { isPushed, state }: Judged): boolean {
  if (act === "rotate_key" || act === "end_keys") return isPushed;
  if (act === "sync" || act === "schedule" || act.endsWith("_scope") || act === "browse") return !isPushed;
  return act !== "take_over" || isOrphan({ state });
}

/**
 * A connector that its owner paused only its owner resumes; for older pauses the person wasn't noted and may have been
 * the owner.
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
