import { instanceName, normalizeBaseUrl } from "#core/base-url.ts";
import { authorityOf, mayName, parsePrincipal, type Authority, type Principal } from "#core/principals.ts";
import type { Source } from "#sources/contract.ts";
import type { SourceItem, SourcePerson } from "#sources/item.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { RegisteredInstance } from "#storage/records/instances.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";

/** The instance of an app that a connector reads. */
export interface ConnectorInstance {
  /** The name of the instance in principals. */
  name: string;
  /** Whether the instance is registered, or fixed by the code of the source. If so, its users may be members here. */
  isRegistered: boolean;
}

/**
 * Returns the instance whose users the connector's source reports; undefined if the source reports no users. A base URL
 * that isn't registered is an instance of that connector alone, since a member of a server can serve anything under a
 * path that they control. Source: S2.
 */
export async function findInstance(
  workspace: Pick<WorkspaceStore, "instances">,
  source: Pick<Source, "spec" | "baseUrlOf">,
  { connectorId, providerId, config }: Pick<ConnectorRecord, "connectorId" | "providerId" | "config">,
  ofOperator: readonly RegisteredInstance[],
): Promise<ConnectorInstance | undefined> {
  const { spec } = source;
  if (spec.hasPeople !== true) return undefined;
  const parsed = spec.config.safeParse(config);
  const baseUrl = parsed.success ? normalizeBaseUrl(source.baseUrlOf?.(parsed.data) ?? "") : undefined;
  if (baseUrl === undefined) return { name: connectorId, isRegistered: false };
  const registered = [...ofOperator, ...(await workspace.instances.list())];
  const isRegistered =
    (spec.instances ?? []).some((fixed) => normalizeBaseUrl(fixed) === baseUrl) ||
    registered.some((each) => each.providerId === providerId && each.baseUrl === baseUrl);
  if (!isRegistered) return { name: connectorId, isRegistered };
  return { name: instanceName(baseUrl, await workspace.instances.tenantOf(connectorId)), isRegistered };
}

/**
 * Returns the principals that a sync of the connector may name, from the current records of the connector and its
 * workspace. Groups of the workspace and `workspace` are allowed only if the connector's config names them. If the
 * connector's own access is the only one, `workspace` just repeats it.
 */
export async function loadAuthority(
  workspace: Pick<WorkspaceStore, "groups">,
  { spec }: Pick<Source, "spec">,
  connector: Pick<ConnectorRecord, "connectorId" | "providerId" | "ownerUserId" | "config">,
  instance: ConnectorInstance | undefined,
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
  return authorityOf({ connectorId, providerId, ownerUserId, named, instance: instance?.name });
}

/** Returns the item with its people. If a person has a principal that may not be named, the person becomes a claim. */
export function withoutUnknownPeople(item: SourceItem, authority: Authority): SourceItem {
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

/** The principals that these keys of a config name: `grp_…`, `group:grp_…` or `workspace`, alone or in a list. */
function namedInConfig(keys: readonly string[], config: Readonly<Record<string, unknown>>): Principal[] {
  return keys
    .flatMap((key): unknown => config[key])
    .flatMap((value) => {
      if (typeof value !== "string") return [];
      return [value.startsWith("grp_") ? `group:${value}` : value];
    });
}
