/** A sync of many items of an app by the built server, which is killed in the middle of it. */
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { DatabaseSync } from "@photostructure/sqlite";
import { signInAdmin, startServerProcess, type ServerProcess } from "../../e2e/server-process.ts";
import type { Forge } from "./forge.ts";

type Admin = Awaited<ReturnType<typeof signInAdmin>>;

/** A server on a data folder, and its one connector, once it is there. */
export interface Running {
  server: ServerProcess;
  admin: Admin;
  dataDir: string;
}

export async function startOn(dataDir: string, { apiUrl }: Pick<Forge, "apiUrl">): Promise<Running> {
  const server = await startServerProcess(dataDir, { KB_INSTANCES: `github=${apiUrl}` });
  return { server, admin: await signInAdmin(server.url), dataDir };
}

export async function connect({ admin }: Running, { apiUrl, token }: Forge): Promise<string> {
  const { status, json } = await admin("POST", "/api/connectors", {
    providerId: "github",
    name: "Forge",
    config: { apiUrl, repositories: ["acme"], content: ["issues", "pulls"] },
    credentials: { token },
    access: { visibility: "workspace" },
  });
  if (status !== 201) throw new Error(`Not connected: ${JSON.stringify(json)}`);
  return json.connector.id;
}

export async function kill({ server }: Running): Promise<void> {
  if (server.child.kill("SIGKILL")) await once(server.child, "exit");
}

interface Run {
  id: string;
  mode: string;
  state: string;
  finishedAt: string | null;
  problem: { code: string } | null;
  counts: Record<string, number>;
}

/** Waits until no run is going on or waiting; gives the last one. */
export async function settled({ admin }: Running, connectorId: string): Promise<Run> {
  for (;;) {
    const syncs: Run[] = (await admin("GET", `/api/connectors/${connectorId}/syncs`)).json.syncs;
    const [last] = syncs;
    if (last && syncs.every(({ finishedAt }) => finishedAt !== null)) return last;
    await wait(100);
  }
}

/** A run that somebody asks for. */
export async function syncNow(running: Running, connectorId: string, mode: "full" | "incremental"): Promise<Run> {
  await running.admin("POST", `/api/connectors/${connectorId}/syncs`, { mode });
  return settled(running, connectorId);
}

const ACCESS = (column: string) => `(select group_concat(principals, ' & ') from (
  select l.principals from accesses a, access_lists l, json_each('[' || a.listIds || ']') j
  where a.aclId = i.${column} and l.listId = j.value order by l.principals)) as ${column}`;

/** Of each kind of row what depends neither on chance nor on time; a version has the connector's id in it. */
const ROWS = {
  items: `select externalId, parentExternalId, replyTo, title, textHash, indexState, textReason,
    removedAt is not null as isRemoved, ${ACCESS("aclId")}, ${ACCESS("ownAclId")} from items i`,
  texts: "select i.externalId, t.chunk, t.text from item_texts t join items i on i.kbId = t.kbId",
  entities: "select i.externalId, e.role, e.name, e.isHome from item_entities e join items i on i.kbId = e.kbId",
  memberships: "select groupPrincipal, memberPrincipal, reportedBy from memberships",
  groups: "select groupPrincipal, toldIn, members from source_groups",
  identities: "select principal, toldIn, state, name, login from identities",
  held: "select i.externalId from removals r join items i on i.kbId = r.kbId",
};

/** Rows by the names of the table above. */
export type Ends = Record<string, readonly string[]>;

/** Rows that only one of two has, a few of each kind. */
export function differences(wanted: Ends, got: Ends): string[] {
  return Object.entries(wanted).flatMap(([name, rows]) => {
    const [before, after] = [new Set(rows), new Set(got[name])];
    const lost = rows.filter((row) => !after.has(row)).map((row) => `- ${name} ${row}`);
    const added = [...after].filter((row) => !before.has(row)).map((row) => `+ ${name} ${row}`);
    return [
      ...lost.slice(0, 2),
      ...added.slice(0, 2),
      ...(rows.length === got[name]?.length ? [] : [`${name}: another number`]),
    ];
  });
}

/** What a data folder holds of a connector. */
export function endOf({ dataDir }: Pick<Running, "dataDir">): Ends {
  const db = new DatabaseSync(join(dataDir, "kb.db"), { readOnly: true, timeout: 10_000 });
  const plain = (row: unknown) =>
    JSON.stringify(row)
      .replaceAll(/\b(con|usr|wsp|syn)_[2-9a-z]{16}\b/g, "$1")
      // A time in a principal is the clock of an access.
      .replaceAll(/\b1[789]\d{11}\b/g, "TIME");
  try {
    const entries = Object.entries(ROWS).map(([name, sql]) => [name, db.prepare(sql).all().map(plain).sort()] as const);
    return Object.fromEntries(entries);
  } finally {
    db.close();
  }
}

/** A comment that was listed, of an issue that wasn't, has a clock of each. */
export function withoutClocks(ends: Ends): Ends {
  const oneClock = (row: string) => row.replaceAll(":TIME", "").replaceAll(/(\[[^\]]*\])(?: & \1)+/g, "$1");
  return Object.fromEntries(Object.entries(ends).map(([name, rows]) => [name, rows.map(oneClock)]));
}
