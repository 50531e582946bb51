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

/** Reads the current names of a workspace's objects, by id. */
export function makeNameStore(sql: SqlHandles, workspaceId: string) {
  const queries = makeQueries(sql, workspaceId);
  return {
    /**
     * Returns names by id: people who are or were here, groups, connectors, tokens, invitations (their address), OAuth
     * clients and grants (the client's name), the workspace, and sessions (the `User-Agent` that opened them). If two
     * people share a name, or a name contains an address, the person's own address is added to the name, so that no one
     * can pass for someone else. The caller must check who may see the names. Items are left out, because their titles
     * are subject to access.
     *
     * @returns only the names of ids that exist
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
/**
 * The empty ID prefix, for OAuth clients: their IDs are those with which they registered, or the addresses of their
 * documents.
 */
const CLIENTS = "";

type ColumnOf<T extends Table> = keyof T["columns"] & string;
type Query = (ids: readonly string[]) => Promise<{ id: string; name: string | null }[]>;

/** Characters that look like the @ of an address. A name with one of them is shown with the person's own address. */
const LOOKS_TOLD = /[@\u{fe6b}\u{ff20}]/u;

interface Named {
  id: string;
  name: string;
  email: string;
}

/** Selects members who have one of these names, ignoring case. */
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
 * Returns the people's names. Adds a person's address when someone else has the same name, or when the name looks like
 * a name with an address.
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

/** Makes one query for each kind of id. None of them returns anything of another workspace. */
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
        // People who left are still named, because of their acts.
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
    // The server's folders belong to no workspace. A workspace that allowed a folder knows its path from its own audit
    // row.
    [ID_PREFIXES.root]: async (ids) => {
      const rows = await inWorkspace({ read }, workspaceId, AUDIT)
        .select({ action: "local_root.added" })
        .select(["targetId", "details"])
        .where("targetId", "in", ids)
        // Worded like the condition of the partial index, so that SQLite uses the index.
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
