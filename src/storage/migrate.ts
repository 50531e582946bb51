import { Kysely, Migrator, sql, type Migration } from "kysely";
import { ApiError } from "#api/errors.ts";
import { INDEX_DDL } from "./index/schema.ts";
import { makeLocalDialect } from "./dialect.ts";
import * as initial from "./migrations/0001-initial.ts";
import * as credentials from "./migrations/0003-credentials.ts";
import * as pushSets from "./migrations/0004-push-sets.ts";
import * as secrets from "./migrations/0005-secrets.ts";
import * as places from "./migrations/0006-places.ts";
import * as doors from "./migrations/0007-doors.ts";
import * as ownAccess from "./migrations/0008-own-access.ts";
import * as membershipsByMember from "./migrations/0009-memberships-by-member.ts";
import * as leftConnectors from "./migrations/0010-left-connectors.ts";
import * as closedGroups from "./migrations/0011-closed-groups.ts";
import * as titles from "./migrations/0012-titles.ts";
import * as ownersKeys from "./migrations/0016-owners-keys.ts";
import * as withheldItems from "./migrations/0017-withheld-items.ts";
import * as sourcePeople from "./migrations/0018-source-people.ts";
import * as itemClocks from "./migrations/0019-item-clocks.ts";
import * as instances from "./migrations/0020-instances.ts";
import * as homes from "./migrations/0021-homes.ts";
import * as turns from "./migrations/0022-turns.ts";
import * as identityRuns from "./migrations/0023-identity-runs.ts";
import * as bindings from "./migrations/0024-bindings.ts";
import * as lastingGroups from "./migrations/0025-lasting-groups.ts";
import * as webhooks from "./migrations/0026-webhooks.ts";
import * as webhookSubscriptions from "./migrations/0030-webhook-subscriptions.ts";
import * as groupHomes from "./migrations/0027-group-homes.ts";
import * as accounts from "./migrations/0028-accounts.ts";
import * as providerAccounts from "./migrations/0029-provider-accounts.ts";
import * as handLinks from "./migrations/0031-hand-links.ts";
import * as folderMark from "./migrations/0032-folder-mark.ts";
import * as listDigests from "./migrations/0033-list-digests.ts";
import * as providerServers from "./migrations/0034-provider-servers.ts";
import * as outgoingEvents from "./migrations/0035-outgoing-events.ts";
import * as clientIssuers from "./migrations/0036-client-issuers.ts";
import * as principalNumbers from "./migrations/0037-principal-numbers.ts";
import * as readers from "./migrations/0040-readers.ts";
import * as ownersActs from "./migrations/0041-owners-acts.ts";
import * as peopleFirst from "./migrations/0042-people-first.ts";
import * as toolAgreements from "./migrations/0044-tool-agreements.ts";
import * as fallenRoles from "./migrations/0043-fallen-roles.ts";
import * as keyCheck from "./migrations/0046-key-check.ts";
import * as formerTexts from "./migrations/0047-former-texts.ts";
import * as whatIsMissing from "./migrations/0049-what-is-missing.ts";
import * as maskedNames from "./migrations/0050-masked-names.ts";
import * as clientDocuments from "./migrations/0052-client-documents.ts";
import * as entitiesByEmail from "./migrations/0053-entities-by-email.ts";
import * as waitingReads from "./migrations/0054-waiting-reads.ts";
import * as formerOwners from "./migrations/0056-former-owners.ts";
import * as ownCallbacks from "./migrations/0057-own-callbacks.ts";
import type { SqliteConnection } from "./sqlite.ts";

/** In order; a name never changes once released. */
const MIGRATIONS: Record<string, Migration> = {
  "0001-initial": initial,
  // Tables for SQLite only: with another index adapter, they aren't created.
  "0002-index-embedded": { up: (db) => runAll(db, INDEX_DDL) },
  "0003-credentials": credentials,
  "0004-push-sets": pushSets,
  "0005-secrets": secrets,
  "0006-places": places,
  // The same DDL again, for tables added to the index later.
  "0006-index-acl-chunks": { up: (db) => runAll(db, INDEX_DDL) },
  "0007-doors": doors,
  "0008-own-access": ownAccess,
  "0009-memberships-by-member": membershipsByMember,
  "0010-left-connectors": leftConnectors,
  "0011-closed-groups": closedGroups,
  "0012-titles": titles,
  "0016-owners-keys": ownersKeys,
  "0017-withheld-items": withheldItems,
  "0018-source-people": sourcePeople,
  "0019-item-clocks": itemClocks,
  "0020-instances": instances,
  "0021-homes": homes,
  "0022-turns": turns,
  "0023-identity-runs": identityRuns,
  "0024-bindings": bindings,
  "0025-lasting-groups": lastingGroups,
  "0026-webhooks": webhooks,
  "0027-group-homes": groupHomes,
  "0028-accounts": accounts,
  "0029-provider-accounts": providerAccounts,
  "0030-webhook-subscriptions": webhookSubscriptions,
  "0031-hand-links": handLinks,
  "0032-folder-mark": folderMark,
  "0033-list-digests": listDigests,
  "0034-provider-servers": providerServers,
  "0035-outgoing-events": outgoingEvents,
  "0036-client-issuers": clientIssuers,
  "0037-principal-numbers": principalNumbers,
  // Changes nothing: from here on, item changes are written as bytes, which earlier programs can't read.
  "0038-index-delta-bytes": { up: async () => {} },
  // Likewise: from here on, these bytes include hashes of words.
  "0039-index-delta-hashes": { up: async () => {} },
  "0040-readers": readers,
  "0041-owners-acts": ownersActs,
  "0042-people-first": peopleFirst,
  "0043-fallen-roles": fallenRoles,
  "0044-tool-agreements": toolAgreements,
  "0046-key-check": keyCheck,
  "0047-former-texts": formerTexts,
  "0049-what-is-missing": whatIsMissing,
  "0050-masked-names": maskedNames,
  "0052-client-documents": clientDocuments,
  "0053-entities-by-email": entitiesByEmail,
  "0054-waiting-reads": waitingReads,
  "0056-former-owners": formerOwners,
  "0057-own-callbacks": ownCallbacks,
};

/**
 * Migrates the database to this program's schema, under the database's migration lock, so that two programs that start
 * at once migrate one after the other.
 *
 * @throws ApiError `schema_too_new` when the database was written by a newer program
 */
export async function migrate(connection: SqliteConnection): Promise<void> {
  const ran = readRan(connection);
  if (isCurrent(ran)) return;
  refuseNewer(ran);
  const db = new Kysely<unknown>({ dialect: makeLocalDialect(() => connection, 1) });
  const migrator = new Migrator({ db, provider: { getMigrations: async () => MIGRATIONS } });
  const { error } = await migrator.migrateToLatest();
  if (error) throw error;
}

/** Leaves the schema alone, because another process has the database. @throws ApiError `data_folder_in_use` when it differs */
export async function requireCurrent(connection: SqliteConnection): Promise<void> {
  if (isCurrent(readRan(connection))) return;
  throw new ApiError("data_folder_in_use", {
    message:
      "The server that uses this data folder runs another version. Use that version's kb, or stop the server first.",
  });
}

async function runAll(db: Kysely<unknown>, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}

/** Returns the names of this database's migrations from Kysely's own table; none before the first. */
function readRan(connection: SqliteConnection): Set<unknown> {
  const tables = connection.execute(
    "select 1 from sqlite_master where type = 'table' and name = 'kysely_migration'",
    [],
  );
  if (tables.rows.length === 0) return new Set();
  const { rows } = connection.execute("select name from kysely_migration", []);
  return new Set(rows.map(({ name }) => name));
}

function isCurrent(ran: ReadonlySet<unknown>): boolean {
  const names = Object.keys(MIGRATIONS);
  return ran.size === names.length && names.every((name) => ran.has(name));
}

function refuseNewer(ran: ReadonlySet<unknown>): void {
  const unknown = [...ran].map(String).filter((name) => !(name in MIGRATIONS));
  if (unknown.length === 0) return;
  throw new ApiError("schema_too_new", {
    message: `The database was written by a newer kb (it has "${unknown.join('", "')}"). Start that version, or restore a backup from before the upgrade.`,
  });
}
