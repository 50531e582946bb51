/**
 * The server, profile and defaults of a command. Precedence: flag, environment, profile in the person's own file. A kb.json in the working directory
 * belongs to the author of that folder: it may choose among profiles that the person already has, and set harmless defaults; anything else in it is
 * an error. Source: S48.
 */
import { readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { isApiError } from "#api/errors.ts";
import { isLoopbackHost, parseServerUrl, type ServerUrl } from "#api/server-url.ts";
import { checkBuild } from "#core/build.ts";
import { defined } from "#core/defined.ts";
import type { CommonOptions } from "#cli/line/command.ts";
import {
  configDir,
  isFresh,
  makeCredentialStore,
  storedOrigins,
  usableAccess,
  type FoundAccess,
  type Purpose,
  type StoredLogin,
} from "./credentials.ts";
import type { Deps } from "#cli/host/deps.ts";
import { notSignedIn, usageFailure } from "#cli/host/failure.ts";
import { pickNamed } from "#cli/line/pick.ts";
import { asRecord, parseObject, readStateFile, textOf } from "#cli/host/state-file.ts";
import { readNamed } from "#cli/host/unreadable.ts";

/** Harmless defaults that any file may set. */
export interface Defaults {
  source?: string;
  limit?: number;
  format?: "table" | "tsv" | "json";
}

export interface Settings {
  server: ServerUrl;
  /** Where the server's address was set. A token from the environment is sent only to an address that is set in the same place. */
  serverFrom: "flag" | "environment" | "profile";
  profile: string | undefined;
  /** The data folder of the server, if `kb quickstart` started it. */
  dataDir?: string;
  defaults: Defaults;
}

/** A credential and its source. */
export interface Credential {
  kind: "token" | "session";
  value: string;
  from: string;
  /** The kind of login that the credential comes from, for `whoami` and hints. */
  login: "environment" | "browser" | "admin" | "token" | "password";
  /** For a token that expires: milliseconds since the epoch. */
  expiresAt?: number;
  /** Why a working credential can't be renewed; absent if it can. */
  warning?: string;
  /** Present if the credential can be renewed. Returns another credential after a rejection; undefined when there is none. */
  renew?(): Promise<Credential | undefined>;
}

export type SettingsDeps = Pick<Deps, "env" | "cwd" | "home" | "platform">;

/** Dependencies for finding a credential: files, the keychain, and the server when a token has to be renewed. */
export type CredentialDeps = SettingsDeps & Pick<Deps, "keychain" | "clock" | "fetch" | "signal">;

/** Makes the settings of a server without a profile. */
export function settingsOf(server: ServerUrl): Settings {
  return { server, serverFrom: "flag", profile: undefined, defaults: {} };
}

/** The default server when none was named and no one is signed in: the one that `kb serve` starts on this machine. */
export const LOCAL_URL = "http://127.0.0.1:7700";

/**
 * Returns the settings for a command.
 *
 * @throws CliFailure (usage) for a bad address, an unknown profile, or a kb.json that sets more than it may
 */
export async function loadSettings(
  deps: SettingsDeps,
  options: Pick<CommonOptions, "url" | "profile">,
): Promise<Settings> {
  const project = await readProjectFile(deps.cwd);
  const user = await readUserFile(deps);
  const asked = options.profile ?? nonEmpty(deps.env["KB_PROFILE"]) ?? project.profile;
  const profile = asked === undefined ? user.currentProfile : profileNamed(asked, user);
  const known = profile === undefined ? undefined : user.profiles[profile];
  const flag = options.url;
  const fromEnv = nonEmpty(deps.env["KB_URL"]);
  const defaults = { ...known?.defaults, ...project.defaults };
  const serverFrom = flag !== undefined ? "flag" : fromEnv !== undefined ? "environment" : "profile";
  const places = { flag: "--url", environment: "KB_URL", profile: `Profile "${profile ?? ""}"` };
  const named = parseAddress(flag ?? fromEnv ?? known?.url ?? LOCAL_URL, places[serverFrom]);
  const server = hasEnvToken(deps) ? named : await loginsOwnAddress(deps, named);
  return {
    server,
    serverFrom,
    profile,
    // The data folder belongs to this server only; an address given with a profile may be that of another server.
    ...(known?.dataDir !== undefined && known.url === server.baseUrl ? { dataDir: known.dataDir } : {}),
    defaults,
  };
}

function hasEnvToken({ env }: SettingsDeps): boolean {
  return nonEmpty(env["KB_TOKEN"]) !== undefined || nonEmpty(env["KB_TOKEN_FILE"]) !== undefined;
}

/**
 * If `localhost` has no login, it uses the login for `127.0.0.1` at the same port, and then also that address instead of what `localhost` resolves
 * to: another user of this machine may listen on `[::1]`. A login for `localhost` is used for no other name.
 */
async function loginsOwnAddress(deps: SettingsDeps, server: ServerUrl): Promise<ServerUrl> {
  const { protocol, hostname } = new URL(server.baseUrl);
  if (protocol !== "http:" || hostname !== "localhost") return server;
  const twin = parseServerUrl(server.baseUrl.replace("//localhost", "//127.0.0.1"));
  const origins = await storedOrigins(deps);
  return !origins.has(server.origin) && origins.has(twin.origin) ? twin : server;
}

/**
 * Returns the credential for `purpose`: `api` is the member's REST, `mcp` the bridge. Undefined when no one is signed in.
 *
 * @param refused a token that the server has just rejected: a stored login then returns another token or none
 * @throws CliFailure when KB_TOKEN is set without the address that it belongs to, or the address isn't encrypted
 */
export async function findCredential(
  deps: CredentialDeps,
  settings: Settings,
  purpose: Purpose,
  refused?: string,
): Promise<Credential | undefined> {
  const fromEnv = await findEnvToken(deps, settings);
  const credential = fromEnv ?? (await findStored(deps, settings, purpose, refused));
  if (credential !== undefined) refusePlainHttp(settings.server, deps.env);
  return credential;
}

/**
 * Returns the token from the environment for this server; undefined when there is none.
 *
 * @throws CliFailure (usage) when it isn't a token, or is set without the address that it belongs to
 */
async function findEnvToken(deps: SettingsDeps, settings: Settings): Promise<Credential | undefined> {
  const token = await readEnvToken(deps);
  if (token !== undefined && settings.serverFrom === "profile") {
    throw usageFailure(
      `${token.from} is set without its server. A token is never sent to an address from a file.`,
      "Also set KB_URL, or give --url.",
    );
  }
  return token;
}

/**
 * Checks the token from the environment before it is needed. A token in a pipe, as from `<(pass show kb)`, can be read only once, so it isn't read
 * here.
 *
 * @throws CliFailure (usage) as `findEnvToken`, or when the address isn't encrypted
 */
export async function checkEnvToken(deps: SettingsDeps, settings: Settings): Promise<void> {
  const path = nonEmpty(deps.env["KB_TOKEN"]) === undefined ? nonEmpty(deps.env["KB_TOKEN_FILE"]) : undefined;
  const info = path === undefined ? undefined : await stat(path).catch(() => undefined);
  if (info?.isFile() === false) return;
  if ((await findEnvToken(deps, settings)) !== undefined) refusePlainHttp(settings.server, deps.env);
}

/** Like `findCredential`, but throws exit code 4 with the command that signs in when there is no credential. */
export async function getCredential(deps: CredentialDeps, settings: Settings, purpose: Purpose): Promise<Credential> {
  const credential = await findCredential(deps, settings, purpose);
  if (credential !== undefined) return credential;
  throw notSignedIn(`Not signed in to ${settings.server.baseUrl}.`, `kb login ${settings.server.baseUrl}`);
}

/**
 * Refuses to send a login without TLS to another machine, unless KB_ALLOW_HTTP declares the network trusted. Source: docs/decisions/0020.
 *
 * @throws CliFailure (usage)
 */
export function refusePlainHttp(server: ServerUrl, env: Deps["env"]): void {
  const url = new URL(server.baseUrl);
  if (url.protocol === "https:" || isLoopbackHost(url.hostname) || env["KB_ALLOW_HTTP"] === "1") return;
  throw usageFailure(
    `${server.baseUrl} is not encrypted: anyone on the network could read your login, so kb does not send it.`,
    `Use https://${url.host}. On a network that you trust, set KB_ALLOW_HTTP=1.`,
  );
}

/** A server that the person has saved by name. */
export interface Profile {
  url: string;
  /** The data folder of a server that `kb quickstart` started; `kb stop` uses it. */
  dataDir?: string;
  defaults?: Defaults;
}

interface UserFile {
  currentProfile: string | undefined;
  profiles: Record<string, Profile>;
}

const PROJECT_KEYS = ["profile", "source", "limit", "format"];
const MAX_PROJECT_BYTES = 65_536;

export function userFilePath(deps: SettingsDeps): string {
  return join(configDir(deps), "config.json");
}

/** Reads the person's saved choices: profiles, and the current one. @throws CliFailure (usage) when a profile has no address */
export async function readUserFile(deps: SettingsDeps): Promise<UserFile> {
  const path = userFilePath(deps);
  const file = await readStateFile(path);
  const entries = Object.entries(asRecord(file?.["profiles"]) ?? {});
  const profiles: Record<string, Profile> = {};
  for (const [name, value] of entries) {
    const record = asRecord(value);
    const url = textOf(record?.["url"]);
    if (record === undefined || url === undefined) throw usageFailure(`Profile "${name}" in ${path} has no url.`);
    const dataDir = textOf(record["dataDir"]);
    profiles[name] = { url, ...defined({ dataDir }), defaults: readDefaults(record["defaults"], path) };
  }
  return { currentProfile: textOf(file?.["currentProfile"]), profiles };
}

async function readProjectFile(cwd: string): Promise<{ profile: string | undefined; defaults: Defaults }> {
  const path = join(cwd, "kb.json");
  const bytes = await readFile(path).catch(() => undefined);
  if (bytes === undefined) return { profile: undefined, defaults: {} };
  const file = bytes.length > MAX_PROJECT_BYTES ? undefined : parseObject(bytes.toString("utf8"));
  if (file === undefined)
    throw usageFailure(`${path} is not a JSON object.`, "Fix it, or run kb in another directory.");
  const refused = Object.keys(file).filter((key) => !PROJECT_KEYS.includes(key));
  if (refused.length > 0) {
    throw usageFailure(
      `${path} sets ${refused.map((key) => JSON.stringify(key)).join(", ")}. A file in the working directory may set only ${PROJECT_KEYS.join(", ")}: it must not decide where your token goes.`,
      "Remove these keys; name a server with --url, KB_URL or kb login.",
    );
  }
  const { profile, ...defaults } = file;
  if (profile !== undefined && typeof profile !== "string") throw usageFailure(`"profile" in ${path} is not a name.`);
  return { profile, defaults: readDefaults(defaults, path) };
}

function readDefaults(value: unknown, path: string): Defaults {
  const { source, limit, format } = asRecord(value) ?? {};
  if (source !== undefined && typeof source !== "string") throw usageFailure(`"source" in ${path} is not a string.`);
  if (limit !== undefined && (typeof limit !== "number" || !Number.isInteger(limit) || limit < 1)) {
    throw usageFailure(`"limit" in ${path} is not a whole number above 0.`);
  }
  if (format !== undefined && format !== "table" && format !== "tsv" && format !== "json") {
    throw usageFailure(`"format" in ${path} is not one of table, tsv, json.`);
  }
  return {
    ...defined({ source }),
    ...(typeof limit === "number" ? { limit } : {}),
    ...(format === undefined ? {} : { format }),
  };
}

async function readEnvToken(deps: SettingsDeps): Promise<Credential | undefined> {
  const found = (text: string, from: string): Credential => ({
    kind: "token",
    value: checkedToken(text, from),
    from,
    login: "environment",
  });
  const direct = nonEmpty(deps.env["KB_TOKEN"]);
  if (direct !== undefined) return found(direct, "KB_TOKEN");
  const path = nonEmpty(deps.env["KB_TOKEN_FILE"]);
  return path === undefined ? undefined : found((await readNamed(path, "KB_TOKEN_FILE")).trim(), "KB_TOKEN_FILE");
}

/** Parses the address in `place`. @throws CliFailure (usage) that names the place */
function parseAddress(text: string, place: string): ServerUrl {
  refusePlaceholder(text, place);
  try {
    return parseServerUrl(text);
  } catch (error) {
    if (!isApiError(error, "invalid_argument")) throw error;
    throw usageFailure(`${place}: ${error.message}`, error.hint);
  }
}

/** Placeholders for a variable in configuration files. Programs that don't support the syntax pass them on unchanged. */
const PLACEHOLDER = /^(?:\$\{[^}]*\}|\$\w+|%\w+%|\{\{.*\}\})$/s;

/** @throws CliFailure (usage) */
function refusePlaceholder(text: string, place: string): void {
  if (!PLACEHOLDER.test(text.trim())) return;
  throw usageFailure(
    `${place} holds the name of a variable, not its value: the program that started kb didn't fill it in.`,
    `Give the value itself, or leave ${place} out and sign in with: kb login`,
  );
}

/** A token is one word of visible ASCII; anything else could inject a header. */
function checkedToken(token: string, from: string): string {
  refusePlaceholder(token, from);
  if (/^bearer\s/i.test(token)) {
    throw usageFailure(`${from} begins with "Bearer".`, `Leave that word out: ${from} takes the token alone.`);
  }
  if (/^(["'`]).*\1$/.test(token)) {
    throw usageFailure(`${from} is in quotation marks.`, `Leave them out: ${from} takes the token alone.`);
  }
  if (/^[\x21-\x7e]{8,512}$/.test(token)) return token;
  throw usageFailure(`${from} does not contain a token (one word of 8 to 512 visible characters).`);
}

/** Returns the name of the profile that `word` matches, in any case. @throws CliFailure 3 when there is none, 2 for several */
export function profileNamed(word: string, { profiles }: UserFile): string {
  const names = Object.keys(profiles);
  return pickNamed(names, word, (name) => ({ id: name, names: [name] }), {
    many: "profiles",
    none: `There is no profile "${word}".`,
    list: names.length === 0 ? "kb login URL" : "kb context list",
  });
}

const STORED = "the stored login";

async function findStored(
  deps: CredentialDeps,
  settings: Settings,
  purpose: Purpose,
  refused: string | undefined,
): Promise<Credential | undefined> {
  const store = makeCredentialStore(deps);
  const stored = await store.find(settings.server.origin);
  if (stored === undefined) return undefined;
  const { admin } = stored;
  if (purpose === "api" && admin !== undefined && admin.token !== refused && isFresh(admin, deps.clock.now())) {
    const renew = (): Promise<Credential | undefined> => findStored(deps, settings, purpose, admin.token);
    return { kind: "token", value: admin.token, from: STORED, login: "admin", expiresAt: admin.expiresAt, renew };
  }
  if (stored.oauth === undefined) return pick(stored, purpose);
  // Nothing is sent over an unencrypted network, especially not the refresh token of a login.
  refusePlainHttp(settings.server, deps.env);
  const kept = usableAccess(stored.oauth, purpose, refused, deps.clock.now());
  const access: FoundAccess | undefined =
    kept ?? (await (await loadRefresh()).renewAccess(deps, store, settings.server, purpose, refused));
  if (access === undefined) return undefined;
  return {
    kind: "token",
    value: access.token,
    from: STORED,
    login: "browser",
    expiresAt: access.expiresAt,
    ...defined({ warning: access.warning }),
    renew: () => findStored(deps, settings, purpose, access.token),
  };
}

function pick(stored: StoredLogin, purpose: Purpose): Credential | undefined {
  const token = purpose === "mcp" ? (stored.mcpToken?.plaintext ?? stored.apiToken) : stored.apiToken;
  const login = stored.apiToken === undefined ? "password" : "token";
  if (token !== undefined) return { kind: "token", value: token, from: STORED, login };
  if (purpose === "api" && stored.session !== undefined) {
    return { kind: "session", value: stored.session, from: STORED, login };
  }
  return undefined;
}

function nonEmpty(text: string | undefined): string | undefined {
  return text === undefined || text.trim() === "" ? undefined : text.trim();
}

/** Loaded only when a token has to be fetched: the bridge starts without it, and may keep running until after an update. */
async function loadRefresh() {
  checkBuild();
  return import("./refresh.ts");
}
