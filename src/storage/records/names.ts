import { ID_PREFIXES } from "#api/common.ts";
import type { SqlHandles } from "#storage/handles.ts";
import { READ_ACTION } from "#storage/read-rows.ts";
import { inWorkspace } from "#storage/in-workspace.ts";
import { GROUPS, INVITATIONS, MEMBERS, WORKSPACES } from "#storage/tables/people.ts";
import { CONNECTORS } from "#storage/tables/connectors.ts";
import { API_TOKENS, GRANTS, SESSIONS } from "#storage/tables/credentials.ts";
import { AUDIT } from "#storage/tables/access.ts";

/** Ids of one query. */
const SLICE = 500;

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
        for (let at = 0; at < own.length; at += SLICE) {
          for (const { id, name } of await query(own.slice(at, at + SLICE))) if (name !== null) found.set(id, name);
        }
      }
      return found;
    },
  };
}

const OWN_ID = new RegExp(`^(?:${Object.values(ID_PREFIXES).join("|")})_`);
/** OAuth clients are called as they registered, or by the address of their document. */
const CLIENTS = "";

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
function tellApart(rows: readonly Named[], others: readonly Named[]): { id: string; name: string }[] {
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
      return tellApart(rows, await namesakesOf({ read }, workspaceId, rows));
    },
    [ID_PREFIXES.group]: (ids) =>
      inWorkspace({ read }, workspaceId, GROUPS)
        .select()
        .select(["groupId as id", "name"])
        .where("groupId", "in", ids)
        .execute(),
    [ID_PREFIXES.connector]: (ids) =>
      inWorkspace({ read }, workspaceId, CONNECTORS)
        .select()
        .select(["connectorId as id", "name"])
        .where("connectorId", "in", ids)
        .execute(),
    [ID_PREFIXES.token]: (ids) =>
      inWorkspace({ read }, workspaceId, API_TOKENS)
        .select()
        .select(["tokenId as id", "name"])
        .where("tokenId", "in", ids)
        .execute(),
    [ID_PREFIXES.invitation]: (ids) =>
      inWorkspace({ read }, workspaceId, INVITATIONS)
        .select()
        .select(["invitationId as id", "email as name"])
        .where("invitationId", "in", ids)
        .execute(),
    [ID_PREFIXES.session]: (ids) =>
      inWorkspace({ read }, workspaceId, SESSIONS)
        .select()
        .select(["sessionId as id", "userAgent as name"])
        .where("sessionId", "in", ids)
        .execute(),
    [ID_PREFIXES.workspace]: (ids) =>
      inWorkspace({ read }, workspaceId, WORKSPACES)
        .select()
        .select(["workspaceId as id", "name"])
        .where("workspaceId", "in", ids)
        .execute(),
    [ID_PREFIXES.grant]: (ids) =>
      inWorkspace({ read }, workspaceId, GRANTS)
        .select()
        .select(["grantId as id", "clientName as name"])
        .where("grantId", "in", ids)
        .execute(),
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
    [CLIENTS]: (ids) =>
      inWorkspace({ read }, workspaceId, GRANTS)
        .select()
        .select(["clientId as id", "clientName as name"])
        .where("clientId", "in", ids)
        .execute(),
  };
}
