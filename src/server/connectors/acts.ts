import { ACT_WORDS } from "#api/act-words.ts";
import { CONNECTOR_ACTS, type ConnectorAct } from "#api/connector-acts.ts";
import { type ApiError, assertNever, forbidden, noSuchThing } from "#api/errors.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store, WorkspaceStore } from "#storage/records/store.ts";
import { isForAdmins } from "./credentials.ts";
import { type ConnectorDeps, requireManaged } from "./deps.ts";
import { isActOf, type Judged, type Verdict, type Who } from "./judge.ts";
import { takesKey } from "./sources.ts";
import { stateConflict } from "./state-conflict.ts";

/** The actions on a connector that this person may do, for its page and the command line. */
export async function allowedActs(
  deps: Pick<ConnectorDeps, "sources" | "judgeAct">,
  workspace: WorkspaceStore,
  who: Who,
  connector: ConnectorRecord,
): Promise<ConnectorAct[]> {
  const judged = await toJudged(deps, workspace, connector);
  const reconnected = await toJudged(deps, workspace, connector, true);
  const isAllowed = (act: ConnectorAct) =>
    deps.judgeAct(act, who, act === "reconnect" ? reconnected : judged) === "yes";
  return CONNECTOR_ACTS.filter((act) => isActOf(act, judged) && isAllowed(act));
}

/**
 * Returns the connector if this person may do all of these actions, by the connector's state and the person's role now.
 * If `on` is a transaction, no other change can happen in between. `hasCredentials`: whether the connector has
 * credentials after the request; by default, whether some are stored.
 *
 * @throws ApiError `not_found` if the person may not know of the connector; `forbidden`, which names who may do the
 *   action; `connector_state_conflict` if the connector is being deleted
 */
export async function requireActs(
  deps: Pick<ConnectorDeps, "store" | "sources" | "judgeAct">,
  actor: Actor,
  connectorId: string,
  acts: readonly ConnectorAct[],
  { on = deps.store, hasCredentials }: { on?: Store; hasCredentials?: boolean } = {},
): Promise<ConnectorRecord> {
  const workspace = on.in(actor.workspaceId);
  const connector = await requireManaged(on, actor, connectorId);
  // Reads the role again, since it may have changed: the check at the source can take half a minute.
  const member = await workspace.members.find(actor.userId);
  const who = { ...actor, role: member?.role ?? "member" };
  const judged = await toJudged(deps, workspace, connector, hasCredentials);
  for (const act of acts) {
    const verdict = member === undefined ? "hidden" : deps.judgeAct(act, who, judged);
    if (verdict !== "yes") throw await refusal(deps, workspace, { act, verdict, who, connector });
  }
  if (connector.state === "deleting" && !acts.every((act) => act === "delete")) {
    throw stateConflict(connector, "can't be changed");
  }
  return connector;
}

/**
 * Whether the connector reads through a connection that uses a server's own secret. The content behind that secret
 * doesn't belong to the connector's owner. Source: S64.
 */
export async function readsThroughLent(
  workspace: Pick<WorkspaceStore, "connections">,
  { connectionId }: Pick<ConnectorRecord, "connectionId">,
): Promise<boolean> {
  return connectionId !== null && (await workspace.connections.find(connectionId))?.way === "server";
}

async function toJudged(
  { sources }: Pick<ConnectorDeps, "sources">,
  workspace: WorkspaceStore,
  connector: ConnectorRecord,
  hasThem?: boolean,
): Promise<Judged> {
  const { connectorId, ownerUserId, state, pausedBy, accountId, connectionId } = connector;
  const source = await sources.find(connector.providerId);
  const hasCredentials =
    hasThem ??
    (accountId !== null ||
      connectionId !== null ||
      (await workspace.connectors.findCredentials(connectorId)) !== undefined);
  const isLent = await readsThroughLent(workspace, { connectionId });
  return {
    ownerUserId,
    state,
    pausedBy,
    isLent,
    isForAdmins: isLent || (source !== undefined && isForAdmins(source, connector.config, { hasCredentials })),
    isPushed: source !== undefined && takesKey(source.spec),
  };
}

async function refusal(
  { sources }: Pick<ConnectorDeps, "sources">,
  workspace: WorkspaceStore,
  { act, verdict, who, connector }: { act: ConnectorAct; verdict: Verdict; who: Who; connector: ConnectorRecord },
): Promise<ApiError> {
  const doing = ACT_WORDS[act];
  const { connectorId, ownerUserId } = connector;
  switch (verdict) {
    case "owner": {
      // Only people who manage the connector get here, and they may learn who owns it.
      const owner = await workspace.members.find(ownerUserId);
      const whose = owner ? `${owner.name}, who owns this connector,` : "The owner of this connector";
      return forbidden(
        act === "take_over" ? "This connector has an owner." : `Only ${whose} can ${doing}.`,
        "Ask them. You can pause or delete it, narrow what it reads and who sees it, or create one of your own.",
      );
    }
    case "orphan":
      return forbidden(
        `The owner of this connector left, so no one can ${doing}.`,
        `Take it over first: kb connectors update ${connectorId} --take-over`,
      );
    case "workspace_owner":
      return forbidden(
        "The owner of this connector left. Only an owner of the workspace can take over a push connector.",
        "Ask an owner of the workspace.",
      );
    case "admin": {
      const name = (await sources.find(connector.providerId))?.spec.name ?? connector.providerId;
      return forbidden(
        `Only an admin can ${doing}: connecting ${name} this way is for admins.`,
        who.role === "member"
          ? "Ask an admin of the workspace. You can still pause or delete it, and let fewer people see it."
          : "Use a browser session, or a credential with the scope kb:admin.",
      );
    }
    case "yes":
    case "hidden":
      return noSuchThing();
    default:
      return assertNever(verdict);
  }
}
