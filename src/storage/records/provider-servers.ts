import type { Selectable } from "kysely";
import type { SqlHandles } from "#storage/handles.ts";
import type { ProviderServersTable } from "#storage/schema.ts";

export type ServerAuthKind = "none" | "bearer" | "header" | "oauth";
export type ServerHealth = "healthy" | "degraded" | "down" | "unknown";

/** A step that failed, by name and code: nothing of an answer is ever kept. Source: S31. */
export interface ServerProblem {
  step: string;
  code: string;
}

/** What a server said of itself, cleaned. */
export interface ServerSaid {
  serverInfo: { name: string; title?: string | undefined; version: string } | null;
  protocolVersion: string | null;
  capabilities: Readonly<Record<string, boolean>> | null;
}

/** An MCP server of others. Instants are epoch milliseconds. */
export interface ProviderServerRecord extends ServerSaid {
  serverId: string;
  name: string;
  url: string;
  slug: string;
  authKind: ServerAuthKind;
  headerName: string | null;
  clientId: string | null;
  /** What stands behind the address to come back to with that client; null = nothing, for a client of an earlier program. Source: S30. */
  callback: string | null;
  /** The authorization server for which that client is, from its first use on. Source: S31. */
  issuer: string | null;
  isEnabled: boolean;
  connectPolicy: "admins" | "members";
  /** Slugs that can be connected; null = all. */
  apps: readonly string[] | null;
  /** How its tools are read; null = they are not. */
  mapping: unknown;
  /** When, and by whom, that was set last; null for one of an earlier program. */
  mappedAt: number | null;
  mappedBy: string | null;
  health: ServerHealth;
  checkedAt: number | null;
  latencyMs: number | null;
  /** In a row. */
  failures: number;
  lastProblem: ServerProblem | null;
  /** When it is probed next; null = disabled. */
  dueAt: number | null;
  createdAt: number;
  createdBy: string;
}

export type ProviderServerPatch = Partial<Omit<ProviderServerRecord, "serverId" | "createdAt" | "createdBy">>;

/** MCP servers of others in one workspace. */
export function makeProviderServerStore(sql: SqlHandles, workspaceId: string) {
  const some = () => sql.read.selectFrom("provider_servers").selectAll().where("workspaceId", "=", workspaceId);

  return {
    async find(serverId: string): Promise<ProviderServerRecord | undefined> {
      const row = await some().where("serverId", "=", serverId).executeTakeFirst();
      return row && toRecord(row);
    },

    async findByUrl(url: string): Promise<ProviderServerRecord | undefined> {
      const row = await some().where("url", "=", url).executeTakeFirst();
      return row && toRecord(row);
    },

    /** Oldest first; `after` is the last one of the page before. */
    async list({
      limit,
      after,
    }: {
      limit: number;
      after?: { value: number; id: string } | undefined;
    }): Promise<ProviderServerRecord[]> {
      let query = some();
      if (after) {
        const { value, id } = after;
        query = query.where((eb) =>
          eb.or([eb("createdAt", ">", value), eb("createdAt", "=", value).and("serverId", ">", id)]),
        );
      }
      const rows = await query.orderBy("createdAt").orderBy("serverId").limit(limit).execute();
      return rows.map(toRecord);
    },

    async insert(server: ProviderServerRecord): Promise<void> {
      // Every column is there: a record has every field.
      const row = { ...toRow(server), workspaceId } as Selectable<ProviderServersTable>;
      await sql.write.insertInto("provider_servers").values(row).execute();
    },

    async update(serverId: string, patch: ProviderServerPatch): Promise<void> {
      const row = toRow(patch);
      if (Object.keys(row).length === 0) return;
      await sql.write
        .updateTable("provider_servers")
        .set(row)
        .where("workspaceId", "=", workspaceId)
        .where("serverId", "=", serverId)
        .execute();
    },

    /** Its connections and all secrets go with it. */
    async remove(serverId: string): Promise<void> {
      await sql.write
        .deleteFrom("provider_servers")
        .where("workspaceId", "=", workspaceId)
        .where("serverId", "=", serverId)
        .execute();
    },

    /** The envelope over the server's own secrets. */
    async findSecret(serverId: string): Promise<string | undefined> {
      const row = await sql.read
        .selectFrom("provider_server_secrets")
        .select("sealed")
        .where("workspaceId", "=", workspaceId)
        .where("serverId", "=", serverId)
        .executeTakeFirst();
      return row?.sealed;
    },

    /** Replaces the one before; undefined deletes it. */
    async putSecret(serverId: string, sealed: string | undefined): Promise<void> {
      if (sealed === undefined) {
        await sql.write
          .deleteFrom("provider_server_secrets")
          .where("workspaceId", "=", workspaceId)
          .where("serverId", "=", serverId)
          .execute();
        return;
      }
      await sql.write
        .insertInto("provider_server_secrets")
        .values({ workspaceId, serverId, sealed })
        .onConflict((oc) => oc.columns(["workspaceId", "serverId"]).doUpdateSet({ sealed }))
        .execute();
    },
  };
}

/** Servers that are due for a probe, across workspaces. */
export function makeProviderServerLookup(sql: SqlHandles) {
  return {
    /** The longest due first. */
    async list(now: number, limit: number): Promise<{ workspaceId: string; serverId: string }[]> {
      return sql.read
        .selectFrom("provider_servers")
        .select(["workspaceId", "serverId"])
        .where("dueAt", "<=", now)
        .orderBy("dueAt")
        .limit(limit)
        .execute();
    },
  };
}

function toRow({ isEnabled, apps, mapping, lastProblem, serverInfo, capabilities, ...rest }: ProviderServerPatch) {
  return {
    ...rest,
    ...(isEnabled !== undefined && { isEnabled: isEnabled ? 1 : 0 }),
    ...(apps !== undefined && { apps: json(apps) }),
    ...(mapping !== undefined && { mapping: json(mapping) }),
    ...(lastProblem !== undefined && { lastProblem: json(lastProblem) }),
    ...(serverInfo !== undefined && { serverInfo: json(serverInfo) }),
    ...(capabilities !== undefined && { capabilities: json(capabilities) }),
  };
}

function json(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}

function toRecord({ workspaceId: _workspaceId, ...row }: Selectable<ProviderServersTable>): ProviderServerRecord {
  const parsed = <Value>(text: string | null) => (text === null ? null : (JSON.parse(text) as Value));
  return {
    ...row,
    // All of these are written from these types only.
    authKind: row.authKind as ServerAuthKind,
    connectPolicy: row.connectPolicy as ProviderServerRecord["connectPolicy"],
    health: row.health as ServerHealth,
    isEnabled: row.isEnabled === 1,
    apps: parsed<string[]>(row.apps),
    mapping: parsed(row.mapping),
    lastProblem: parsed<ServerProblem>(row.lastProblem),
    serverInfo: parsed<NonNullable<ServerSaid["serverInfo"]>>(row.serverInfo),
    capabilities: parsed<Record<string, boolean>>(row.capabilities),
  };
}
