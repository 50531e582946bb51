import { sql as raw } from "kysely";
import { ID_PREFIXES } from "#api/common.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { READ_ACTION } from "#storage/read-rows.ts";
import type { Tables } from "#storage/schema.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { readInChunks } from "#storage/results.ts";
import { GROUPS, INVITATIONS, MEMBERS, WORKSPACES } from "#storage/tables/people.ts";
import { CONNECTORS } from "#storage/tables/connectors.ts";
import { API_TOKENS, GRANTS, SESSIONS } from "#storage/tables/credentials.ts";
import { AUDIT } from "#storage/tables/access.ts";
import type { Table } from "#storage/tables/table.ts";

/** Current names of a workspace's objects, by id. */
export function makeNameStore(sql: SqlHandles, workspaceId: string) {
  const queries = makeQueries(sql, workspaceId);
  return {
    /**
     * Names by id: people who are or were here, groups, connectors, tokens, invitations (their address), OAuth clients
     * and grants (the client's name), the workspace, and sessions (the `User-Agent` that opened them). Where two people
     * share a name, or a name contains an address, it is shown with the person's own address, so that no one can pass
     * for someone else. The caller is responsible for who may see the names. Items are left out: their titles are
     * subject to access.
     *
     * @returns only those that are there
     */
    async of(ids: readonly string[]): Promise<Map<string, string>> {
      const found = new Map<string, string>();
      const unique = [...new Set(ids)];
      for (const [prefix, query] of Object.entries(queries)) {
        const own = unique.filter((id) => (prefix === CLIENTS ? !OWN_ID.test(id) : id.startsWith(`${prefix}_`)));
        for (const { id, name } of await readInChunks(own, query)) if (name !== null) found.set(id, name);
      }
      return found;
    },
  };
}

const OWN_ID = new RegExp(`^(?:${Object.values(ID_PREFIXES).join("|")})_`);
/** OAuth clients are called as they registered, or by the address of their document. */
const CLIENTS = "";

type ColumnOf<T extends Table> = keyof T["columns"] & string;
type Query = (ids: readonly string[]) => Promise<{ id: string; name: string | null }[]>;

/** Characters that look like an address's @: such a name is shown with the person's own address. */
const LOOKS_TOLD = /[@\u{fe6b}\u{ff20}]/u;

interface Named {
  id: string;
  name: string;
  email: string;
}

/** Members whose name is, but for case, one of these. */
async function namesakesOf({ read }: Pick<SqlHandles, "read">, workspaceId: string, rows: readonly Named[]) {
  if (rows.length === 0) return [];
  const folded = [...new Set(rows.map(({ name }) => name.toLowerCase()))];
  return inWorkspace({ read }, workspaceId, MEMBERS)
    .select()
    .innerJoin("users", "users.userId", "members.userId")
    .select(["users.userId as id", "users.name", "users.email"])
    .where(({ or, eb, fn }) =>
      or([
        eb(
          "users.name",
          "in",
          rows.map(({ name }) => name),
        ),
        eb(fn<string>("lower", ["users.name"]), "in", folded),
      ]),
    )
    .execute();
}

/**
 * The names, with the address where someone else has the same name, or where it could pass for a name with an address.
 */
function distinguish(rows: readonly Named[], others: readonly Named[]): { id: string; name: string }[] {
  const holders = new Map<string, Set<string>>();
  for (const { id, name } of [...rows, ...others]) {
    const key = name.toLowerCase();
    holders.set(key, (holders.get(key) ?? new Set()).add(id));
  }
  return rows.map(({ id, name, email }) => {
    const isShared = (holders.get(name.toLowerCase())?.size ?? 0) > 1;
    const hasAddress = LOOKS_TOLD.test(name) && name.toLowerCase() !== email.toLowerCase();
    return { id, name: isShared || hasAddress ? `${name} (${email})` : name };
  });
}

/** One query for each kind of id; each gives nothing of another workspace. */
function makeQueries({ read }: SqlHandles, workspaceId: string): Record<string, Query> {
  const named =
    <T extends Table<keyof Tables>>(table: T, id: ColumnOf<T>, name: ColumnOf<T>): Query =>
    async (ids) => {
      const { rows } = await raw<{ id: string; name: string | null }>`
        select ${raw.ref(id)} as id, ${raw.ref(name)} as name from ${raw.table(table.name)}
        where "workspaceId" = ${workspaceId} and ${raw.ref(id)} in (${raw.join(ids)})`.execute(read);
      return rows;
    };
  return {
    [ID_PREFIXES.user]: async (ids) => {
      const rows = await read
        .selectFrom("users")
        .select(["userId as id", "name", "email"])
        .where("userId", "in", ids)
        // People who left are still named through their acts.
        .where(({ exists, or, selectFrom }) =>
          or([
            exists(
              selectFrom("members")
                .select("members.userId")
                .where("members.workspaceId", "=", workspaceId)
                .whereRef("members.userId", "=", "users.userId"),
            ),
            exists(
              selectFrom("audit")
                .select("audit.seq")
                .where("audit.workspaceId", "=", workspaceId)
                .whereRef("audit.actorUserId", "=", "users.userId"),
            ),
          ]),
        )
        .execute();
      return distinguish(rows, await namesakesOf({ read }, workspaceId, rows));
    },
    [ID_PREFIXES.group]: named(GROUPS, "groupId", "name"),
    [ID_PREFIXES.connector]: named(CONNECTORS, "connectorId", "name"),
    [ID_PREFIXES.token]: named(API_TOKENS, "tokenId", "name"),
    [ID_PREFIXES.invitation]: named(INVITATIONS, "invitationId", "email"),
    [ID_PREFIXES.session]: named(SESSIONS, "sessionId", "userAgent"),
    [ID_PREFIXES.workspace]: named(WORKSPACES, "workspaceId", "name"),
    [ID_PREFIXES.grant]: named(GRANTS, "grantId", "clientName"),
    // The server's folders belong to no workspace: a workspace that allowed one knows its path from its own audit row.
    [ID_PREFIXES.root]: async (ids) => {
      const rows = await inWorkspace({ read }, workspaceId, AUDIT)
        .select({ action: "local_root.added" })
        .select(["targetId", "details"])
        .where("targetId", "in", ids)
        // As the partial index has it.
        .where("action", "<>", READ_ACTION)
        .execute();
      return rows.map(({ targetId, details }) => {
        const { path } = JSON.parse(details) as Record<string, unknown>;
        return { id: targetId, name: typeof path === "string" ? path : null };
      });
    },
    [CLIENTS]: named(GRANTS, "clientId", "clientName"),
  };
}
