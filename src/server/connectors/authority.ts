import { authorityOf, mayName, parsePrincipal, type Authority, type Principal } from "#core/principals.ts";
import type { Source, SourceItem, SourcePerson } from "#sources/contract.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { WorkspaceStore } from "#storage/store.ts";

/**
 * What a sync of the connector may name, from its record and its workspace as they are now. Groups of the workspace and
 * `workspace` only where its config names them; where the connector's own access is all there is, `workspace` only
 * repeats that.
 */
export async function loadAuthority(
  workspace: Pick<WorkspaceStore, "groups">,
  { spec }: Pick<Source, "spec">,
  connector: Pick<ConnectorRecord, "connectorId" | "providerId" | "ownerUserId" | "config">,
): Promise<Authority> {
  const { connectorId, providerId, ownerUserId } = connector;
  const inConfig = namedInConfig(spec.namedIn ?? [], connector.config);
  const groupIds = inConfig.flatMap((principal) => {
    const parsed = parsePrincipal(principal);
    return parsed?.type === "group" ? [parsed.groupId] : [];
  });
  const groups = groupIds.length === 0 ? new Set<string>() : await workspace.groups.whichOf(groupIds);
  const isForWorkspace = spec.acl === "connector" || inConfig.includes("workspace");
  const named = [...[...groups].map((id) => `group:${id}`), ...(isForWorkspace ? ["workspace"] : [])];
  return authorityOf({ connectorId, providerId, ownerUserId, named });
}

/** The item with its people: who has a principal that may not be named is only a claim. */
export function claimStrangers(item: SourceItem, authority: Authority): SourceItem {
  const isFine = (person: SourcePerson): boolean => {
    if (person.principal === undefined) return true;
    const type = parsePrincipal(person.principal)?.type;
    return (type === "user" || type === "source_user") && mayName(person.principal, authority);
  };
  const { author, assignees, people } = item;
  if ([...(author ? [author] : []), ...(assignees ?? []), ...(people ?? [])].every(isFine)) return item;
  const judged = (person: SourcePerson): SourcePerson => {
    if (isFine(person)) return person;
    const { principal: _principal, ...rest } = person;
    return { ...rest, claimed: true };
  };
  return {
    ...item,
    ...(author && { author: judged(author) }),
    ...(assignees && { assignees: assignees.map(judged) }),
    ...(people && { people: people.map(judged) }),
  };
}

/** What these keys of a config name: `grp_…`, `group:grp_…` or `workspace`, alone or in a list. */
function namedInConfig(keys: readonly string[], config: Readonly<Record<string, unknown>>): Principal[] {
  return keys
    .flatMap((key): unknown => config[key])
    .flatMap((value) => {
      if (typeof value !== "string") return [];
      return [value.startsWith("grp_") ? `group:${value}` : value];
    });
}
