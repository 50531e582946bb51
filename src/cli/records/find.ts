/** Finds members, groups and connectors by the words of a command line: by id, or by name, case-insensitively. */
import type { BodyOf } from "#api/client.ts";
import type { Group, Member } from "#api/workspace.ts";
import type { Api } from "#cli/calls/api.ts";
import { byName, pickNamed } from "#cli/line/pick.ts";
import type { ConnectorRecord } from "./records.ts";
import { idOf, type ById, type Thing } from "#cli/calls/remote-command.ts";
import { someOf } from "#cli/line/values.ts";

export const CONNECTOR: Thing<ConnectorRecord, ById> = {
  name: "connector",
  summary: "its name or con_…",
  find: findConnector,
  at: idOf,
};

export const MEMBER: Thing<Member, ById> = {
  name: "member",
  summary: "email or usr_…",
  find: findMember,
  at: ({ userId }) => ({ id: userId }),
};

export const GROUP: Thing<Group, ById> = { name: "group", summary: "name or grp_…", find: findGroup, at: idOf };

export const ITEM: Thing<{ fileId: string }, { fileId: string }> = {
  name: "kbId",
  summary: "kbi_…",
  find: async (_api, fileId) => ({ fileId }),
  at: (item) => item,
};

/**
 * Finds a connector by its id or name, case-insensitively.
 *
 * @throws CliFailure 3 with the nearest name when none matches; 2 when the name isn't unique
 */
export async function findConnector(api: Api, word: string): Promise<ConnectorRecord> {
  if (/^con_[a-z0-9]+$/.test(word)) {
    return (await api.get("/api/connectors/{id}", { params: { path: { id: word } } })).connector;
  }
  const all: ConnectorRecord[] = await api.list("/api/connectors", "connectors");
  return pickNamed(all, word, byName, {
    many: "connectors",
    none: `There is no connector "${word}" that you can see.`,
    list: "kb connectors list",
  });
}

/** Finds a member by id, email or name, case-insensitively. Throws CliFailure 3 with the nearest member when none matches, 2 when several match. */
export async function findMember(api: Api, word: string): Promise<Member> {
  const members = await api.list("/api/workspace/members", "members");
  return pickNamed(members, word, ({ userId, email, name }) => ({ id: userId, names: [email, name] }), {
    many: "members",
    none: `No one in this workspace is "${word}".`,
    list: "kb members list",
  });
}

/** Finds a group by id or name, case-insensitively. Throws as `findMember` does. */
export async function findGroup(api: Api, word: string): Promise<Group> {
  if (/^grp_[a-z0-9]+$/.test(word)) {
    return (await api.get("/api/groups/{id}", { params: { path: { id: word } } })).group;
  }
  return pickNamed(await api.list("/api/groups", "groups"), word, byName, {
    many: "groups",
    none: `No group is named "${word}".`,
    list: "kb groups list",
  });
}

/** Returns the ids of the named members. */
export async function memberIdsOf(api: Api, words: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const word of words) ids.push(/^usr_[a-z0-9]+$/.test(word) ? word : (await findMember(api, word)).userId);
  return ids;
}

/** Returns the id of the named member; undefined without a name. */
export async function memberIdOf(api: Api, word: string | undefined): Promise<string | undefined> {
  return word === undefined ? undefined : (await memberIdsOf(api, [word]))[0];
}

/** Returns the id of the named member; undefined if no name is given. */
export async function groupIdsOf(api: Api, words: readonly string[]): Promise<string[]> {
  const ids: string[] = [];
  for (const word of words) ids.push((await findGroup(api, word)).id);
  return ids;
}

type AccessBody = BodyOf<"post", "/api/connectors">["access"];

interface AccessOptions<V extends AccessBody["visibility"]> {
  access: V | undefined;
  member: readonly string[];
  group: readonly string[];
}

/** Makes the `access` of a body; undefined when no option concerns it. */
export async function accessOf<V extends AccessBody["visibility"]>(
  api: Api,
  { access, member, group }: AccessOptions<V>,
): Promise<(Omit<AccessBody, "visibility"> & { visibility: V | "members" }) | undefined> {
  const memberIds = await memberIdsOf(api, member);
  const groupIds = await groupIdsOf(api, group);
  const visibility = access ?? (memberIds.length + groupIds.length > 0 ? "members" : undefined);
  return visibility && { visibility, memberIds: someOf(memberIds), groupIds: someOf(groupIds) };
}
