import { type Authority, mayName } from "#core/principals.ts";
import type { Source } from "#sources/contract.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import { isMirror } from "#server/sync/clocks.ts";

/**
 * Makes the readers that the config names members of the connector's group. It runs in the transaction of the config
 * change, so access is added and removed at once, not at the next run. Does nothing for a source whose items name their
 * readers. Source: S60.
 */
export async function nameReaders(
  { access, sourcePeople }: Pick<WorkspaceStore, "access" | "sourcePeople">,
  source: Source,
  { connectorId, config }: Pick<ConnectorRecord, "connectorId" | "config">,
  { authority, now }: { authority: Authority; now: number },
): Promise<void> {
  const named = source.namedGroup?.(source.spec.config.parse(config), connectorId);
  if (named === undefined) return;
  const members = [...new Set(named.members)].filter((member) => mayName(member, authority));
  await access.setMembers(named.group, members, connectorId);
  const neverAges = !isMirror(source.spec);
  await sourcePeople.nameGroup(named.group, { connectorId, members: members.length, now, neverAges });
  // A user who could not be a member before may be one now, because the group's row is new.
  await access.raiseEpoch();
}
