/**
 * Watches every query of every test for rows of another workspace: a query of a table that belongs to workspaces names one, or
 * is one of those that are meant to look across them. It sees what the records ask through Kysely, not what the writer's
 * procedures and the index do.
 */
import type { KyselyPlugin } from "kysely";

/**
 * Queries that look across workspaces, by table and the columns that they choose by: what is due, whatever workspace it is in,
 * and what an unguessable secret or an id of a person finds before the workspace is known.
 */
const ACROSS: Record<string, readonly string[]> = {
  account_flows: ["expiresAt stage", "expiresAt flowHash stage", "flowHash stage", "flowHash"],
  connections: ["pendingUntil", "pendingUntil status"],
  connector_keys: ["expiresAt hash revokedAt state"],
  connector_webhooks: ["connectorId state"],
  connectors: [
    "aclCheckedAt refusedAt",
    "aclCheckedAt state wholeAt",
    "connectorId dueAt madeAt providerId scopeVersion secretMadeAt state",
    "nextRunAt state",
    "everyMinutes providerId state",
    "providerId state",
  ],
  event_targets: ["", "dueAt leaseUntil", "previousUntil"],
  grants: [
    "clientId expiresAt revokedAt",
    "expiresAt revokedAt",
    "grantId",
    "grantId lastUsedAt",
    "grantId revokedAt",
    "revokedAt",
    "revokedAt userId",
  ],
  identity_schedules: ["nextRunAt state"],
  invitations: ["acceptedAt email expiresAt revokedAt", "tokenHash"],
  items: ["removedAt", "formerSince removedAt"],
  jobs: [
    "dedupeKey",
    "dedupeKey leaseOwner",
    "jobId",
    "jobId leaseOwner",
    "jobId leaseUntil priority runAt",
    "leaseUntil priority runAt",
    "leaseUntil runAt",
    "leaseUntil runAt type",
  ],
  members: ["emailKey userId", "expiresAt grantId hash revokedAt", "idHash model", "tokenHash", "userId"],
  provider_accounts: ["dueAt"],
  provider_servers: ["dueAt"],
  sessions: ["expiresAt lastSeenAt revokedAt", "revokedAt", "revokedAt sessionId", "sessionId", "tokenHash"],
  workspaces: [""],
};

const QUERIES: ReadonlySet<string> = new Set(["SelectQueryNode", "UpdateQueryNode", "DeleteQueryNode"]);

/** A part of a query, as Kysely's compiler sees it: every kind has members of its own. */
type Node = Readonly<Record<string, unknown>>;

/** @param tables  names of the tables whose rows belong to a workspace */
export function boundedQueries(tables: ReadonlySet<string>): KyselyPlugin {
  return {
    transformQuery({ node }) {
      // A node is an object of plain members.
      for (const query of queriesIn(node as unknown as Node)) requireBounded(query, tables);
      return node;
    },
    transformResult: async ({ result }) => result,
  };
}

function requireBounded(query: Node, tables: ReadonlySet<string>): void {
  const owned = [...tablesOf(query["from"] ?? query["table"])].filter((table) => tables.has(table));
  if (owned.length === 0) return;
  const columns = [...new Set(columnsOf(query["where"]))].sort();
  if (columns.includes("workspaceId")) return;
  const shape = columns.join(" ");
  for (const table of owned) {
    if (ACROSS[table]?.includes(shape)) continue;
    throw new Error(
      `A query of "${table}" by [${shape}] names no workspace. If it is meant to look across them, list it in test/bounded-queries.ts.`,
    );
  }
}

function* queriesIn(value: unknown): Generator<Node, void> {
  if (typeof value !== "object" || value === null) return;
  // Only members of nodes and arrays of them are reached.
  const node = value as Node;
  if (QUERIES.has(String(node["kind"]))) yield node;
  for (const inner of Object.values(node)) yield* queriesIn(inner);
}

/** Tables that it reads or changes itself; a joined one is chosen by what it is joined to. */
function* tablesOf(value: unknown): Generator<string, void> {
  if (Array.isArray(value)) for (const each of value) yield* tablesOf(each);
  if (typeof value !== "object" || value === null) return;
  const node = value as Node;
  if (node["kind"] === "TableNode") {
    // Kysely's names of a table and its schema.
    yield (node["table"] as { identifier: { name: string } }).identifier.name;
  } else if (node["kind"] === "FromNode") yield* tablesOf(node["froms"]);
  else if (node["kind"] === "AliasNode") yield* tablesOf(node["node"]);
}

/** Columns that a condition names, in fragments of SQL too; those of a query inside it are that query's. */
function* columnsOf(value: unknown): Generator<string, void> {
  if (typeof value !== "object" || value === null) return;
  const node = value as Node;
  if (QUERIES.has(String(node["kind"]))) return;
  if (node["kind"] === "ColumnNode") yield (node["column"] as { name: string }).name;
  if (node["kind"] === "RawNode") {
    for (const [, name = ""] of String(node["sqlFragments"]).matchAll(/"(\w+)"/gu)) yield name;
  }
  for (const inner of Object.values(node)) yield* columnsOf(inner);
}
