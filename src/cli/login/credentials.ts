/**
 * Stored logins by origin: in the system's keychain if there is one, otherwise in a 0600 file. The file exists in both cases; with a keychain it only
 * records who signed in, and that the secrets are in the keychain.
 */
import { join } from "node:path";
import { defined } from "#core/defined.ts";
import type { Deps } from "#cli/host/deps.ts";
import { type CliFailure, failure } from "#cli/host/failure.ts";
import { KeychainUnavailable } from "#cli/host/keychain.ts";
import type { LockOptions } from "#cli/host/lock.ts";
import { asRecord, modeForOthers, parseObject, readStateFile, textOf, writeStateFile } from "#cli/host/state-file.ts";

/** A token that expires. */
export interface AccessToken {
  token: string;
  /** Milliseconds since the epoch, by this machine's clock. */
  expiresAt: number;
}

/** An access token that was just looked up; `warning` is the reason if it can't be renewed. */
export interface FoundAccess extends AccessToken {
  warning?: string;
}

/** An OAuth login with everything needed to renew it. */
export interface OAuthLogin {
  tokenEndpoint: string;
  revocationEndpoint: string;
  refreshToken: string;
  scopes: string[];
  /** The token for `<base>/api`. */
  api?: AccessToken;
  /** The token for `<base>/mcp`. */
  mcp?: AccessToken;
}

/** Everything stored for one origin. Each field may be absent. */
export interface StoredLogin {
  email?: string;
  oauth?: OAuthLogin;
  /** The token with admin rights for an hour, from `kb login --admin`. */
  admin?: AccessToken;
  /** `name=value` of the session cookie: access to the member's REST routes. */
  session?: string;
  /** A personal access token from --with-token. */
  apiToken?: string;
  /** The bridge's `mcp:read` token, stored in addition to a session. */
  mcpToken?: { id: string; plaintext: string };
}

/** The audience of a token: the member's REST routes, or the tools. */
export type Purpose = "api" | "mcp";

export type StoreName = "keychain" | "file";

/** Where a login was stored. `why` is the reason if the keychain was requested but couldn't be used. */
export interface Kept {
  store: StoreName;
  why?: string;
}

export interface CredentialStore {
  /** @throws CliFailure `keychain_unavailable` when the login is in a keychain that doesn't open */
  find(origin: string): Promise<StoredLogin | undefined>;
  /** Replaces the origin's stored login. It is stored in the same place as before, otherwise in the keychain, unless `wanted` is given. */
  save(origin: string, login: StoredLogin, wanted?: StoreName): Promise<Kept>;
  remove(origin: string): Promise<void>;
  /** Returns every origin with a login, without its secrets. */
  list(): Promise<{ origin: string; email: string | undefined; store: StoreName }[]>;
  /** Runs `work` while no other kb process changes this origin's login. */
  exclusively<T>(origin: string, work: () => Promise<T>): Promise<T>;
  /** Path of the file, for messages. */
  path: string;
}

export type StoreDeps = Pick<Deps, "env" | "home" | "platform" | "keychain" | "clock">;

/** A token that expires sooner than this is renewed, so that a call that begins now ends before the token expires. */
const MARGIN_MS = 60_000;

/** True while the token is valid long enough to begin a call. */
export function isFresh(access: AccessToken, now: number): boolean {
  return access.expiresAt - MARGIN_MS > now;
}

/** Returns the stored token for `purpose` if it is valid long enough to begin a call, and isn't the `refused` one. */
export function usableAccess(
  oauth: OAuthLogin,
  purpose: Purpose,
  refused: string | undefined,
  now: number,
): AccessToken | undefined {
  const access = oauth[purpose];
  return access !== undefined && access.token !== refused && isFresh(access, now) ? access : undefined;
}

/** Returns the folder of the person's kb settings: `KB_CONFIG_DIR`, otherwise the system's default. */
export function configDir(deps: Pick<Deps, "env" | "home" | "platform">): string {
  const { env, home, platform } = deps;
  if (env["KB_CONFIG_DIR"]) return env["KB_CONFIG_DIR"];
  if (platform === "win32" && env["APPDATA"]) return join(env["APPDATA"], "kb");
  return join(env["XDG_CONFIG_HOME"] || join(home, ".config"), "kb");
}

/**
 * Returns the origins of the person's logins, in whichever place each is stored. Empty when the file can't be read; a command that needs a login
 * reports that.
 */
export async function storedOrigins(deps: Pick<Deps, "env" | "home" | "platform">): Promise<ReadonlySet<string>> {
  const file = await readStateFile(join(configDir(deps), "credentials.json")).catch(() => undefined);
  return new Set(Object.keys(asRecord(file?.["origins"]) ?? {}));
}

/** Makes the store in the person's settings folder. It returns a token only for the origin that the token was saved under. */
export function makeCredentialStore(deps: StoreDeps): CredentialStore {
  const { keychain, clock } = deps;
  const dir = configDir(deps);
  const path = join(dir, "credentials.json");

  /** @throws CliFailure `credentials_readable` when other users of this machine can read the file. Source: S48. */
  async function readAll(): Promise<Record<string, unknown>> {
    const mode = await modeForOthers(path, deps.platform);
    if (mode !== undefined) throw readable(path, mode);
    const origins = (await readStateFile(path))?.["origins"];
    return typeof origins === "object" && origins !== null ? { ...origins } : {};
  }

  /** Loaded when something is written: the bridge starts without it. */
  async function locked<T>(path: string, times: LockTimes, work: () => Promise<T>): Promise<T> {
    const { withLock } = await import("#cli/host/lock.ts");
    return await withLock(path, { clock, ...times }, work);
  }

  async function change(act: (all: Record<string, unknown>) => void): Promise<void> {
    await locked(`${path}.lock`, FILE_LOCK, async () => {
      const all = await readAll();
      act(all);
      await writeStateFile(path, { version: 1, origins: all });
    });
  }

  async function entryOf(origin: string): Promise<Record<string, unknown> | undefined> {
    const all = await readAll();
    return Object.hasOwn(all, origin) ? asRecord(all[origin]) : undefined;
  }

  /**
   * A token that can't be retrieved again must not be lost because the keychain fails, so it is stored in the file. Source:
   * docs/login.md#where-the-login-is-kept.
   */
  async function saveInKeychain(origin: string, login: StoredLogin): Promise<string | undefined> {
    try {
      await keychain.save(origin, JSON.stringify(login));
      return undefined;
    } catch (error) {
      if (error instanceof KeychainUnavailable) return error.message;
      throw error;
    }
  }

  return {
    path,
    async find(origin) {
      const entry = await entryOf(origin);
      if (entry === undefined || storeOf(entry) === "file") return entry && readLogin(entry);
      const secrets = await keychain.find(origin).catch((error: unknown) => {
        throw error instanceof KeychainUnavailable ? unopened(origin, error) : error;
      });
      const login = readLogin(secrets === undefined ? {} : (parseObject(secrets) ?? {}));
      // The entry was removed from the keychain, which is equivalent to signing out.
      return secrets === undefined ? undefined : { ...login, ...emailOf(entry) };
    },
    async save(origin, login, wanted) {
      const former = await entryOf(origin);
      const store = wanted ?? (former === undefined ? "keychain" : storeOf(former));
      const why = store === "keychain" ? await saveInKeychain(origin, login) : undefined;
      const isInFile = store === "file" || why !== undefined;
      await change((all) => {
        all[origin] = isInFile ? { store: "file", ...login } : { store: "keychain", ...emailOf(login) };
      });
      if (isInFile && former !== undefined && storeOf(former) === "keychain") await forget(deps, origin);
      return why === undefined ? { store } : { store: "file", why };
    },
    async remove(origin) {
      const entry = await entryOf(origin);
      if (entry !== undefined && storeOf(entry) === "keychain") await forget(deps, origin);
      await change((all) => delete all[origin]);
    },
    async list() {
      return Object.entries(await readAll()).map(([origin, value]) => {
        const entry = asRecord(value) ?? {};
        return { origin, email: textOf(entry["email"]), store: storeOf(entry) };
      });
    },
    async exclusively(origin, work) {
      const name = origin.replace(/[^A-Za-z0-9.]+/g, "-");
      return await locked(join(dir, `login-${name}.lock`), LOGIN_LOCK, work);
    },
  };
}

type LockTimes = Pick<LockOptions, "leaseMs" | "waitMs">;

/** The file's lock is held only while the file is written. */
const FILE_LOCK = { leaseMs: 10_000, waitMs: 15_000 };
/** Longer than a refresh may take: its request times out after 15 s, and the keychain after 3 s. */
const LOGIN_LOCK = { leaseMs: 30_000, waitMs: 45_000 };

/** Secrets that remain in a keychain that can't be opened any more are useless after the server has revoked them. */
async function forget(deps: StoreDeps, origin: string): Promise<void> {
  await deps.keychain.remove(origin).catch((error: unknown) => {
    if (!(error instanceof KeychainUnavailable)) throw error;
  });
}

function storeOf(entry: Record<string, unknown>): StoreName {
  return entry["store"] === "keychain" ? "keychain" : "file";
}

function emailOf(entry: { email?: unknown }): { email?: string } {
  return defined({ email: textOf(entry.email) });
}

function readLogin(record: Record<string, unknown>): StoredLogin {
  const mcpToken = asRecord(record["mcpToken"]);
  const id = textOf(mcpToken?.["id"]);
  const plaintext = textOf(mcpToken?.["plaintext"]);
  return {
    ...emailOf(record),
    ...defined({
      session: textOf(record["session"]),
      apiToken: textOf(record["apiToken"]),
      oauth: readOAuth(asRecord(record["oauth"])),
      admin: readAccess(record["admin"]),
      mcpToken: id === undefined || plaintext === undefined ? undefined : { id, plaintext },
    }),
  };
}

function readOAuth(record: Record<string, unknown> | undefined): OAuthLogin | undefined {
  const tokenEndpoint = textOf(record?.["tokenEndpoint"]);
  const revocationEndpoint = textOf(record?.["revocationEndpoint"]);
  const refreshToken = textOf(record?.["refreshToken"]);
  if (record === undefined || tokenEndpoint === undefined) return undefined;
  if (revocationEndpoint === undefined || refreshToken === undefined) return undefined;
  const scopes = Array.isArray(record["scopes"]) ? record["scopes"].filter((scope) => typeof scope === "string") : [];
  const access = defined({ api: readAccess(record["api"]), mcp: readAccess(record["mcp"]) });
  return { tokenEndpoint, revocationEndpoint, refreshToken, scopes, ...access };
}

function readAccess(value: unknown): AccessToken | undefined {
  const record = asRecord(value);
  const token = textOf(record?.["token"]);
  const expiresAt = record?.["expiresAt"];
  return token === undefined || typeof expiresAt !== "number" ? undefined : { token, expiresAt };
}

function readable(path: string, mode: string): CliFailure {
  return failure(
    "notSignedIn",
    "credentials_readable",
    `kb does not use ${path}: it holds your login, and other users of this machine can read it (mode ${mode}).`,
    `chmod 600 ${path}; if others may have read it, then also: kb logout, and kb login again.`,
  );
}

function unopened(origin: string, error: KeychainUnavailable): CliFailure {
  return failure(
    "notSignedIn",
    "keychain_unavailable",
    `Your login to ${origin} is in the system's keychain, which can't be used now: ${error.message}.`,
    `Unlock it and try again, or sign in without it: kb login ${origin} --insecure-storage`,
    { cause: error },
  );
}
