/** Finds provider servers and connections by the words of a command line. */
import type { RecordOf } from "#api/client.ts";
import type { Api } from "#cli/calls/api.ts";
import { type Thing, idOf } from "#cli/calls/remote-command.ts";
import { pickNamed } from "#cli/line/pick.ts";

export type ServerRecord = RecordOf<"/api/mcp-servers", "servers">;
export type ConnectionRecord = RecordOf<"/api/mcp-servers/{id}/connections", "connections">;

export const SERVER: Thing<ServerRecord, { id: string }> = {
  name: "server",
  summary: "its name, URL or srv_…",
  find: findServer,
  at: idOf,
};

export const CONNECTION: Thing<ConnectionRecord, { id: string; connectionId: string }> = {
  name: "connection",
  summary: "its name or cnx_…",
  find: findConnection,
  at: ({ id, serverId }) => ({ id: serverId, connectionId: id }),
};

/** Finds a server by its id, name or URL, case-insensitively. Throws CliFailure 3 if there is none, 2 if several match. */
export async function findServer(api: Api, word: string): Promise<ServerRecord> {
  const servers = await api.list("/api/mcp-servers", "servers");
  return pickNamed(servers, word, ({ id, name, url }) => ({ id, names: [name, url] }), {
    many: "servers",
    none: `There is no server "${word}" that you can see.`,
    list: "kb servers list",
  });
}

/** Returns the connections to a server that are visible to the person. */
export async function connectionsOf(api: Api, { id }: Pick<ServerRecord, "id">): Promise<ConnectionRecord[]> {
  return api.list("/api/mcp-servers/{id}/connections", "connections", { at: { id } });
}

/** Returns the visible connections to every server. */
export async function allConnections(api: Api): Promise<ConnectionRecord[]> {
  const all: ConnectionRecord[] = [];
  for (const server of await api.list("/api/mcp-servers", "servers")) all.push(...(await connectionsOf(api, server)));
  return all;
}

/** Finds a connection by its id or name, case-insensitively; the person's own connections take precedence. Throws as `findServer` does. */
export async function findConnection(api: Api, word: string): Promise<ConnectionRecord> {
  const live = (await allConnections(api)).filter(({ id, status }) => id === word || !ENDED.has(status));
  const isNamed = ({ name }: ConnectionRecord): boolean => name.toLowerCase() === word.toLowerCase();
  const mine = live.filter(({ isMine }) => isMine);
  return pickNamed(
    mine.some(isNamed) ? mine : live,
    word,
    ({ id, name, account }) => ({ id, names: account === null ? [name] : [name, account.label] }),
    {
      many: "connections",
      none: `There is no connection "${word}" that you can see.`,
      list: "kb servers connections",
    },
  );
}

/** Connections in these states can only be viewed. */
const ENDED: ReadonlySet<ConnectionRecord["status"]> = new Set(["revoked", "expired", "failed"]);
