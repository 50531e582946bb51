import { randomBytes } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { onTestFinished } from "vitest";
import { makeId, type Role, type Scope } from "#api/common.ts";
import { openDatabase, type Database, type DatabaseOptions } from "#storage/database/db.ts";
import { migrate } from "#storage/database/migrate.ts";
import { openWriter } from "#storage/sqlite.ts";
import { makeStore, type Store } from "#storage/records/store.ts";
import { makeVault } from "#storage/vault.ts";
import { type AppOptions, type AppServices, makeApp } from "#server/app.ts";
import type { AppSettings, Foundation } from "#server/compose/foundation.ts";
import { type Identity, type IdentityOptions, makeIdentity } from "#server/compose/identity.ts";
import type { App } from "#server/http/env.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { Log } from "#core/log.ts";
import { makeOperatorProof, OPERATOR_HEADER } from "#core/operator-proof.ts";
import type { AddressGuard } from "#net/address-guard.ts";
import { makePasswords } from "#server/identity/sessions/passwords.ts";
import { boundedQueries } from "./bounded-queries.ts";
import { NO_NETWORK } from "./network.ts";
import { tempDir } from "./temp-dir.ts";

/** What a server of a test calls itself to others. */
export const TEST_INSTANCE = "instance-of-a-test";

/** What proves the operator of a test server. */
export const TEST_OPERATOR_KEY = new Uint8Array(32).fill(5);

/** A vault whose key everybody may know. */
export const TEST_VAULT = makeVault([{ id: "test", key: new Uint8Array(32).fill(7) }], randomBytes);

/** A real database of its own for the test, writer inline. */
export async function openTestStore(
  options: Pick<DatabaseOptions, "inline"> = {},
): Promise<{ database: Database; store: Store }> {
  const file = join(tempDir(), "kb.db");
  // A copy of an empty one: creating all tables costs more than most tests do.
  emptyDatabase ??= makeEmptyDatabase();
  writeFileSync(file, (await emptyDatabase).bytes);
  const database = await openDatabase({ file, ...options });
  onTestFinished(async () => {
    await database.close();
    if (++closed % CLOSED_AT_ONCE === 0) await freeClosed();
  });
  const watch = boundedQueries((await emptyDatabase).tablesOfWorkspaces);
  const watched = { ...database, read: database.read.withPlugin(watch), write: database.write.withPlugin(watch) };
  return { database, store: makeStore(watched) };
}

/** The tables whose rows belong to a workspace. */
export async function testTablesOfWorkspaces(): Promise<ReadonlySet<string>> {
  return (await (emptyDatabase ??= makeEmptyDatabase())).tablesOfWorkspaces;
}

let closed = 0;
/** With seven files each, these are half of the 1,024 that a process may commonly have open. */
const CLOSED_AT_ONCE = 64;

/**
 * Lets go of the files of closed databases. The driver can't finalize a statement: SQLite keeps the files of a closed
 * connection open until the last statement of it is collected, and nothing else makes that happen in time.
 */
export async function freeClosed(): Promise<void> {
  setFlagsFromString("--expose-gc");
  // Given by the flag.
  collect ??= runInNewContext("gc") as () => void;
  collect();
  // What the driver does for a collected statement comes after this turn.
  await setImmediate();
}

let collect: (() => void) | undefined;

let emptyDatabase: Promise<EmptyDatabase> | undefined;

interface EmptyDatabase {
  bytes: Buffer;
  tablesOfWorkspaces: ReadonlySet<string>;
}

/** A database that was migrated and holds nothing. */
async function makeEmptyDatabase(): Promise<EmptyDatabase> {
  const dir = mkdtempSync(join(tmpdir(), "kb-test-"));
  try {
    const file = join(dir, "kb.db");
    const connection = openWriter(file, "normal");
    await migrate(connection);
    // All of it is to be in the one file.
    connection.raw.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    const { rows } = connection.execute(TABLES_OF_WORKSPACES, []);
    connection.close();
    return { bytes: readFileSync(file), tablesOfWorkspaces: new Set(rows.map(({ name }) => String(name))) };
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
}

const TABLES_OF_WORKSPACES =
  "select t.name from sqlite_master t join pragma_table_info(t.name) c where t.type = 'table' and c.name = 'workspaceId'";

/** The clock of a test server stands still until the test moves it. */
export interface TestClock {
  now(): number;
  advance(ms: number): void;
}

/** 2026-11-21T09:30:00.000Z. */
export const TEST_NOW = Date.UTC(2026, 10, 21, 9, 30);

export function makeTestClock(at = TEST_NOW): TestClock {
  let now = at;
  return { now: () => now, advance: (ms) => void (now += ms) };
}

/** Log lines as a test finds them. */
export interface TestLog extends Log {
  lines: { level: string; fields: Record<string, unknown>; message: string }[];
}

export function makeTestLog(): TestLog {
  const lines: TestLog["lines"] = [];
  const at = (level: string) => (fields: Record<string, unknown>, message: string) =>
    void lines.push({ level, fields, message });
  return { lines, debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
}

/** argon2 that costs next to nothing. */
export const TEST_PASSWORD_COSTS = { memoryKib: 8, passes: 1 };

export const TEST_PASSWORD = "blue kettle morning";

/** An answer of the app, already read. */
export interface TestAnswer {
  status: number;
  headers: Headers;
  /** The parsed JSON, of any shape; undefined for an empty body. */
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into answers of every route
  json: any;
  text: string;
}

export interface TestRequest {
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as it is. */
  raw?: string;
  headers?: Record<string, string>;
  /** The peer's address; 127.0.0.1 unless told. */
  ip?: string;
}

/** Somebody to act as: `get("/api/session")`, `post("/api/groups", {name})`. */
export interface TestClient {
  request(method: string, path: string, request?: TestRequest): Promise<TestAnswer>;
  get(path: string): Promise<TestAnswer>;
  post(path: string, body?: unknown): Promise<TestAnswer>;
  patch(path: string, body?: unknown): Promise<TestAnswer>;
  delete(path: string): Promise<TestAnswer>;
}

/** A person of a test server, with an open session. */
export interface TestUser {
  userId: string;
  workspaceId: string;
  email: string;
  role: Role;
  sessionSecret: string;
}

export interface TestServerOptions extends Pick<DatabaseOptions, "inline"> {
  settings?: Partial<AppSettings>;
  /** Appends what the app under test needs beside identity. */
  extend?: AppOptions["extend"];
  announceSetupCode?: (code: string) => void;
  /** The mail server, the identity provider, and where OAuth clients are described. */
  outside?: Pick<IdentityOptions, "mailer" | "sso" | "fetchDocument">;
  /** Judges addresses; without it none is reached. */
  addressGuard?: AddressGuard;
  /** `false` makes `/readyz` say so. */
  isReady?: () => boolean;
}

/**
 * The whole HTTP app over a database of its own: still clock, cheap password hashes, answers checked by the contract.
 * `deps` may be given further services by `more` before the app is made.
 */
export async function makeServer<More extends object = object>(
  options: TestServerOptions = {},
  more?: (deps: Foundation & Identity, database: Database) => More | Promise<More>,
) {
  const { database, store } = await openTestStore(options.inline && { inline: options.inline });
  const clock = makeTestClock();
  const log = makeTestLog();
  const settings: AppSettings = {
    baseUrl: "http://127.0.0.1:7700",
    mode: "self-hosted",
    signup: "invite",
    allowedHosts: [],
    trustedProxies: [],
    localRoots: [],
    instances: [],
    accounts: {},
    webhookSecrets: {},
    dataDir: dirname(database.file),
    homeDir: undefined,
    rateLimits: "on",
    mcpLifecycle: "auto",
    ...options.settings,
  };
  const foundation: Foundation = {
    settings,
    store,
    clock,
    log,
    randomBytes,
    vault: TEST_VAULT,
    instanceId: TEST_INSTANCE,
    addressGuard: options.addressGuard ?? NO_NETWORK,
  };
  const identity = makeIdentity(foundation, {
    cursorKey: Buffer.alloc(32, 7),
    oauthKey: Buffer.alloc(32, 9),
    operatorKey: TEST_OPERATOR_KEY,
    passwordCosts: TEST_PASSWORD_COSTS,
    ...options.outside,
    ...(options.announceSetupCode && { announceSetupCode: options.announceSetupCode }),
  });
  const core = { ...foundation, ...identity };
  const services = await more?.(core, database);
  // `more` gives what `AppServices` holds beyond identity; a test that mounts more than it gives fails at once.
  const deps = {
    ...core,
    ...services,
    isReady: options.isReady ?? (() => true),
    storage: database.health,
  } as unknown as AppServices & More;
  const app = makeApp(deps, { checksAnswers: true, ...(options.extend && { extend: options.extend }) });
  const people = makePeople(deps);
  const client = (headers: Record<string, string>): TestClient => makeClient(app, settings.baseUrl, headers);

  return {
    app,
    deps,
    store,
    database,
    clock,
    log,
    settings,
    ...people,
    /** Acts with the person's session. */
    as: (user: TestUser) => client({ cookie: `${deps.cookie.name}=${user.sessionSecret}` }),
    /** Acts with a token or a connector key. */
    withToken: (plaintext: string) => client({ authorization: `Bearer ${plaintext}` }),
    /** The header of somebody who can read the data folder. */
    operator: () => ({ [OPERATOR_HEADER]: makeOperatorProof(TEST_OPERATOR_KEY, clock.now()) }),
    /** Acts without a credential. */
    anyone: () => client({}),
    /** The actor that a request of this person's session would have. */
    async actor(user: TestUser): Promise<Actor> {
      const actor = await deps.sessions.findActor(user.sessionSecret);
      if (!actor) throw new Error(`${user.email} is not signed in.`);
      return actor;
    },
    /** A token of the person, made by way of the service. */
    async token(user: TestUser, scopes: readonly Scope[] = ["mcp:read"]): Promise<string> {
      const actor = await deps.sessions.findActor(user.sessionSecret);
      if (!actor) throw new Error(`${user.email} is not signed in.`);
      const call = { actor, body: { name: "test", scopes: [...scopes] } };
      // The handler reads nothing else of a call.
      return (await deps.tokens.create(call as Parameters<typeof deps.tokens.create>[0])).plaintext;
    },
  };
}

export type TestServer = Awaited<ReturnType<typeof makeServer>>;

function makePeople(deps: Foundation & Identity) {
  const { store, clock, sessions } = deps;
  let count = 0;
  let passwordHash: Promise<string> | undefined;

  async function addWorkspace(name = "Acme"): Promise<string> {
    const workspaceId = makeId("workspace", randomBytes);
    await store.workspaces.insert({ workspaceId, name, timeZone: "UTC", createdAt: clock.now() });
    return workspaceId;
  }

  /** A member with an account whose password is `TEST_PASSWORD`, signed in. */
  async function addMember(workspaceId: string, role: Role = "member", email?: string): Promise<TestUser> {
    const address = email ?? `person${++count}@acme.test`;
    passwordHash ??= makePasswords(TEST_PASSWORD_COSTS).hash(TEST_PASSWORD);
    const user = {
      userId: makeId("user", randomBytes),
      email: address,
      name: address.split("@")[0] ?? address,
      passwordHash: await passwordHash,
      emailVerifiedAt: null,
      timeZone: null,
      createdAt: clock.now(),
    };
    await store.transaction(async (tx) => {
      await tx.users.insert(user);
      await tx.in(workspaceId).members.insert({ userId: user.userId, role, joinedAt: clock.now() });
    });
    return signIn({ userId: user.userId, workspaceId, email: address, role, sessionSecret: "" });
  }

  /** Another session of the person. */
  async function signIn(user: TestUser): Promise<TestUser> {
    const context = { origin: { requestId: "req_test", clientIp: "127.0.0.1" }, userAgent: null, formerSecret: null };
    const { setCookie } = await store.transaction((tx) => sessions.open(tx, user, context));
    return { ...user, sessionSecret: setCookie.slice(setCookie.indexOf("=") + 1, setCookie.indexOf(";")) };
  }

  /** A workspace with its owner. */
  async function addOwner(name?: string): Promise<TestUser> {
    return addMember(await addWorkspace(name), "owner");
  }

  return { addWorkspace, addMember, addOwner, signIn };
}

function makeClient(app: App, baseUrl: string, headers: Record<string, string>): TestClient {
  async function request(method: string, path: string, { body, raw, headers: extra, ip }: TestRequest = {}) {
    const content = raw ?? (body === undefined ? undefined : JSON.stringify(body));
    const response = await app.request(
      baseUrl + path,
      {
        method,
        headers: { ...headers, ...(body !== undefined && { "content-type": "application/json" }), ...extra },
        ...(content !== undefined && { body: content }),
      },
      { incoming: { socket: { remoteAddress: ip ?? "127.0.0.1" } } },
    );
    const text = await response.text();
    const isJson = /[/+]json\b/.test(response.headers.get("content-type") ?? "");
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
  }
  return {
    request,
    get: (path) => request("GET", path),
    post: (path, body) => request("POST", path, { body }),
    patch: (path, body) => request("PATCH", path, { body }),
    delete: (path) => request("DELETE", path),
  };
}
