import type { SqlHandles } from "#storage/handles.ts";
import { acrossWorkspaces, inWorkspace } from "#storage/in-workspace.ts";
import { recordsOf } from "#storage/results.ts";
import { PROVIDER_SERVERS, PROVIDER_SERVER_SECRETS } from "#storage/tables/servers.ts";
import type { RecordOf } from "#storage/tables/table.ts";
import { pageOf, type PageRequest } from "./pages.ts";

export type { ServerProblem } from "#storage/tables/servers.ts";

/** A third-party MCP server. Instants are epoch milliseconds. */
export type ProviderServerRecord = RecordOf<typeof PROVIDER_SERVERS>;

export type ProviderServerPatch = Partial<Omit<ProviderServerRecord, "serverId" | "createdAt" | "createdBy">>;

/** Reads and writes third-party MCP servers in one workspace. */
export function makeProviderServerStore(sql: SqlHandles, workspaceId: string) {
  const servers = inWorkspace(sql, workspaceId, PROVIDER_SERVERS);
  const secrets = inWorkspace(sql, workspaceId, PROVIDER_SERVER_SECRETS);
  return {
    find: (serverId: string) => servers.find({ serverId }),

    findByUrl: (url: string) => servers.find({ url }),

    /** Returns servers, oldest first; `after` is the last one of the previous page. */
    list: (page: PageRequest) =>
      recordsOf(PROVIDER_SERVERS, pageOf(servers.select().selectAll(), ["createdAt", "serverId"], "asc", page)),

    insert: servers.insert,

    update: (serverId: string, patch: ProviderServerPatch) => servers.update({ serverId }, patch),

    /** Deletes a server with its connections and all secrets. */
    remove: (serverId: string) => servers.remove({ serverId }),

    /** Returns the envelope of the server's own secrets. */
    findSecret: async (serverId: string): Promise<string | undefined> => (await secrets.find({ serverId }))?.sealed,

    /** Replaces the secret; undefined deletes it. */
    async putSecret(serverId: string, sealed: string | undefined): Promise<void> {
      if (sealed === undefined) await secrets.remove({ serverId });
      else await secrets.insert({ serverId, sealed }, { sealed });
    },
  };
}

/** Reads and writes servers that are due for a probe, across workspaces. */
// Raw: across workspaces.
export function makeProviderServerLookup(sql: SqlHandles) {
  return {
    /** Returns servers, the longest due first. */
    list: (now: number, limit: number) =>
      acrossWorkspaces(sql, PROVIDER_SERVERS)
        .select()
        .select(["workspaceId", "serverId"])
        .where("dueAt", "<=", now)
        .orderBy("dueAt")
        .limit(limit)
        .execute(),
  };
}
