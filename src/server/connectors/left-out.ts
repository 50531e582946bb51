import { isChildId, outermostId } from "#core/child-ids.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { Policy } from "#storage/policy/policy.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { SyncRecord } from "#storage/records/syncs.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import { allowedActs, readsThroughLent } from "./acts.ts";
import type { ConnectorDeps } from "./deps.ts";
import { isOwnedBy } from "./judge.ts";

/**
 * Whether this person may see the names of items that a run left out, which aren't stored. Only the connector's owner
 * may, if the source has no permissions of its own, and if the owner gave the folder or the credentials and may still
 * choose them. Runs from before the connector belonged to them are excluded. Source: S12.
 */
export async function seesLeftOut(
  { sources, judgeAct }: Pick<ConnectorDeps, "sources" | "judgeAct">,
  workspace: WorkspaceStore,
  actor: Actor,
  connector: ConnectorRecord,
  { startedAt }: Pick<SyncRecord, "startedAt">,
): Promise<boolean> {
  if (!isOwnedBy(actor, connector) || startedAt === null || startedAt < connector.ownedSince) return false;
  if ((await sources.find(connector.providerId))?.spec.acl !== "connector") return false;
  if (await readsThroughLent(workspace, connector)) return false;
  return (await allowedActs({ sources, judgeAct }, workspace, actor, connector)).includes("configure");
}

interface Asked {
  connectorId: string;
  externalIds: readonly string[];
  isTold: boolean;
  /** Words that the actor wrote in the connector's config. */
  ownWords?: ReadonlySet<string>;
}

/**
 * Returns the list entries in a connector's config for the connector's owner, for example the names of channels,
 * repositories and drives.
 */
export function ownWordsOf(
  actor: Actor,
  connector: Pick<ConnectorRecord, "ownerUserId" | "state" | "config">,
): Set<string> {
  if (!isOwnedBy(actor, connector)) return new Set();
  const lists = Object.values(connector.config).filter((value) => Array.isArray(value));
  return new Set(lists.flat().filter((word) => typeof word === "string"));
}

/**
 * Filters a connector's external ids to those whose names the actor may see: items that the actor may read; with
 * `isTold`, also ids that aren't items; and ids that aren't items but are in `ownWords`. A file inside an item is
 * treated like that item.
 */
export async function namesFor(
  workspace: Pick<WorkspaceStore, "itemWrites">,
  policy: Pick<Policy, "mayRead">,
  actor: Actor,
  { connectorId, externalIds, isTold, ownWords }: Asked,
): Promise<Set<string>> {
  const named = new Set<string>();
  const judgedBy = new Map<string, string>();
  for (const externalId of new Set(externalIds)) {
    const isInside = isTold && isChildId(externalId);
    const item =
      (await workspace.itemWrites.findStored(connectorId, externalId)) ??
      (isInside ? await workspace.itemWrites.findStored(connectorId, outermostId(externalId)) : undefined);
    if (item) judgedBy.set(externalId, item.kbId);
    else if (isTold || ownWords?.has(externalId)) named.add(externalId);
  }
  if (judgedBy.size === 0) return named;
  const open = await policy.mayRead(actor, [...new Set(judgedBy.values())]);
  for (const [externalId, kbId] of judgedBy) if (open.has(kbId)) named.add(externalId);
  return named;
}
