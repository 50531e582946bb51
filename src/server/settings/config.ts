import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { parse as parseYaml } from "yaml";
import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import { closest } from "#core/edit-distance.ts";
import { SETTINGS, Settings } from "./settings-table.ts";

export type { Settings };

export interface SettingsInput {
  env: Readonly<Record<string, string | undefined>>;
  /** The content of the settings file, with its name for messages. */
  file?: { name: string; values: unknown };
  /** Options of the command line. `undefined` if an option wasn't used. */
  flags?: Readonly<Record<string, string | undefined>>;
  /** Reads the file whose path a `KB_X_FILE` contains. */
  readSecret: (path: string) => string;
}

/** Variables of clients and tests, which the server ignores. */
const NOT_OURS = /^KB_(?:URL|TOKEN|TOKEN_FILE|PROFILE|CONNECTOR_KEY|CONFIG_DIR|TEST_.*)$/;
/** The webhook secret of an app, for all connectors of that app. */
const WEBHOOK_SECRET = /^KB_([A-Z][A-Z0-9_]*)_WEBHOOK_SECRET$/;
/** Removed settings, which are distinguished from misspelled ones. */
const LATER = /^KB_(?:EMBEDDINGS_\w+|METRICS_TOKEN|MCP_CHATGPT_ALIASES|DATABASE_URL|OPENSEARCH_URL|ROLE)$/;

/**
 * Reads the settings. A flag has precedence over the environment, then the settings file, then the default.
 *
 * @throws ApiError `settings_invalid`, which names the key, where it is set and a valid value
 */
export function readSettings(input: SettingsInput): { settings: Settings; warnings: string[] } {
  const values: SettingValues = new Map();
  for (const [key, value] of flatten(input.file?.values, input.file?.name ?? "")) {
    addValue(values, key, value, `${key} in ${input.file?.name ?? "the settings file"}`);
  }
  readEnv(values, input);
  for (const [key, value] of Object.entries(input.flags ?? {})) {
    if (value !== undefined) addValue(values, key, value, `--${toKebab(key)}`);
  }
  if (!values.has("dataDir")) values.set("dataDir", { value: defaultDataDir(input.env), place: "the home folder" });
  const parsed = Settings.safeParse(Object.fromEntries([...values].map(([key, { value }]) => [key, value])));
  if (!parsed.success) throw describeProblem(parsed.error, values);
  const settings = { ...parsed.data, dataDir: resolve(parsed.data.dataDir) };
  return { settings, warnings: judge(settings) };
}

export interface SettingInfo {
  key: string;
  env: string;
  /** The default as it would be written in the environment; "" if there is none. */
  default: string;
  meaning: string;
}

/** Describes every setting of the server, from the schema itself. */
export function describeSettings(): SettingInfo[] {
  return Object.entries(SETTINGS).map(([key, schema]) => {
    const parsed = z.object({ value: schema }).safeParse({});
    const value = parsed.success ? parsed.data.value : undefined;
    return {
      key,
      env: key === "webhookSecrets" ? "KB_<SOURCE>_WEBHOOK_SECRET" : toEnvName(key),
      default: value === undefined || typeof value === "object" ? "" : String(value),
      meaning: schema.description ?? "",
    };
  });
}

/** Reads the settings of this process, with the settings file if there is one. @throws ApiError `settings_invalid` */
export function loadSettings(options: {
  env: SettingsInput["env"];
  flags: Readonly<Record<string, string | undefined>>;
  /** The value of `--config`. */
  configFile?: string;
}): { settings: Settings; warnings: string[] } {
  const { env, flags, configFile } = options;
  const dataDir = flags["dataDir"] ?? env["KB_DATA_DIR"] ?? defaultDataDir(env);
  const name = configFile ?? join(dataDir, "server.yaml");
  const readSecret = (path: string) => readFileSync(path, "utf8").replace(/\r?\n$/, "");
  if (configFile === undefined && !existsSync(name)) return readSettings({ env, flags, readSecret });
  return readSettings({ env, flags, readSecret, file: { name, values: readYaml(name) } });
}

/**
 * Whether strangers can own workspaces here, and are then the admins of them. In that case connectors can't reach any
 * resource of the operator: neither folders nor private addresses.
 */
export function isOpenToStrangers({ mode, signup }: Pick<Settings, "mode" | "signup">): boolean {
  return mode === "managed" || signup === "open";
}

/** Returns the base URL once the port is known: `publicUrl`, otherwise the loopback address. */
export function baseUrlOf(settings: Pick<Settings, "publicUrl">, port: number): string {
  return settings.publicUrl ?? `http://127.0.0.1:${port}`;
}

type SettingValues = Map<string, { value: unknown; place: string }>;

function addValue(values: SettingValues, key: string, value: unknown, place: string): void {
  if (!(key in SETTINGS)) throw unknownKey(place, key, Object.keys(SETTINGS));
  values.set(key, { value, place });
}

function readEnv(values: SettingValues, { env, readSecret }: SettingsInput): void {
  const known = new Map(Object.keys(SETTINGS).map((key) => [toEnvName(key), key]));
  known.delete(toEnvName("webhookSecrets"));
  const seen = new Set<string>();
  const secrets: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith("KB_") || value === undefined || value === "" || NOT_OURS.test(name)) continue;
    const base = known.has(name) ? name : name.replace(/_FILE$/, "");
    const [, app] = WEBHOOK_SECRET.exec(base) ?? [];
    const key = app === undefined ? known.get(base) : "webhookSecrets";
    if (key === undefined) {
      if (LATER.test(base)) throw invalid(`${name} belongs to a later version of kb. Remove it.`);
      throw unknownKey(name, name, [...known.keys()]);
    }
    if (seen.has(base)) throw invalid(`Both ${base} and ${base}_FILE are set. Keep one.`);
    seen.add(base);
    const text = base === name ? value : readNamed(name, value, readSecret);
    if (app === undefined) values.set(key, { value: text, place: name });
    else secrets[toProviderId(app)] = text;
  }
  const place = "KB_<SOURCE>_WEBHOOK_SECRET";
  if (Object.keys(secrets).length > 0) values.set("webhookSecrets", { value: secrets, place });
}

function readNamed(name: string, path: string, readSecret: (path: string) => string): string {
  try {
    return readSecret(path);
  } catch (cause) {
    throw new ApiError("settings_invalid", { message: `${name} names a file that can't be read: ${path}`, cause });
  }
}

/** Joins nested keys to one word: `mcp: {lifecycle: strict}` becomes `mcpLifecycle`. */
function flatten(values: unknown, name: string): [string, unknown][] {
  if (values === undefined || values === null) return [];
  if (typeof values !== "object" || Array.isArray(values)) throw invalid(`${name} must contain keys and values.`);
  return Object.entries(values).flatMap(([key, value]): [string, unknown][] => {
    // For this setting the whole record is the value.
    const isValue = typeof value !== "object" || value === null || Array.isArray(value) || key === "webhookSecrets";
    if (isValue) return [[key, value]];
    return flatten(value, name).map(([inner, leaf]) => [key + inner.charAt(0).toUpperCase() + inner.slice(1), leaf]);
  });
}

function readYaml(name: string): unknown {
  try {
    return parseYaml(readFileSync(name, "utf8"));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message.split("\n")[0] : String(cause);
    throw new ApiError("settings_invalid", { message: `${name} can't be read: ${why}`, cause });
  }
}

/** Returns the errors of settings that are invalid in combination. */
function judge(settings: Settings): string[] {
  const warnings: string[] = [];
  const isLocal = isLoopback(settings.host);
  if (settings.rateLimits === "off" && !isLocal) {
    throw invalid(`KB_RATE_LIMITS=off is for loopback only, and the server listens on ${settings.host}.`);
  }
  if ((settings.bootstrapEmail === undefined) !== (settings.bootstrapPassword === undefined)) {
    throw invalid("KB_BOOTSTRAP_EMAIL and KB_BOOTSTRAP_PASSWORD belong together: set both or none.");
  }
  if (settings.smtpUrl !== undefined && settings.mailFrom === undefined) {
    throw invalid("KB_SMTP_URL needs KB_MAIL_FROM: the sender of the messages.");
  }
  if ((settings.oidcIssuer === undefined) !== (settings.oidcClientId === undefined)) {
    throw invalid("KB_OIDC_ISSUER and KB_OIDC_CLIENT_ID belong together: set both or none.");
  }
  for (const { name, clientId, clientSecret } of accountClients(settings)) {
    if ((clientId === undefined) === (clientSecret === undefined)) continue;
    throw invalid(`KB_${name}_CLIENT_ID and KB_${name}_CLIENT_SECRET belong together: set both or none.`);
  }
  if (settings.giteaClientId !== undefined && settings.giteaUrl === undefined) {
    throw invalid("KB_GITEA_CLIENT_ID needs KB_GITEA_URL, the server at which the client is registered.");
  }
  if (settings.mode === "managed" && settings.bootstrapEmail !== undefined) {
    throw invalid("KB_BOOTSTRAP_EMAIL is not available in managed mode.");
  }
  const where = settings.mode === "managed" ? "in managed mode" : "on a server with KB_SIGNUP=open";
  if (isOpenToStrangers(settings) && settings.allowPrivateHosts.length > 0) {
    throw invalid(
      `KB_ALLOW_PRIVATE_HOSTS is not available ${where}: connectors there can reach public addresses only.`,
    );
  }
  if (settings.signup === "open" && settings.smtpUrl === undefined) {
    throw invalid(
      `${settings.mode === "managed" ? "In managed mode people sign up themselves, which" : "KB_SIGNUP=open"} needs email: without it, sign-up reveals who has an account here. Set KB_SMTP_URL and KB_MAIL_FROM, or KB_SIGNUP=invite.`,
    );
  }
  if (isOpenToStrangers(settings) && settings.localRoots.length > 0) {
    warnings.push(
      `KB_LOCAL_ROOTS is not available ${where}: connectors can't read folders of this machine. Remove it.`,
    );
  }
  return [...warnings, ...judgeTransport(settings, isLocal)];
}

function accountClients(settings: Settings) {
  return [
    { name: "GITHUB", clientId: settings.githubClientId, clientSecret: settings.githubClientSecret },
    { name: "GOOGLE", clientId: settings.googleClientId, clientSecret: settings.googleClientSecret },
    { name: "SLACK", clientId: settings.slackClientId, clientSecret: settings.slackClientSecret },
    { name: "GITEA", clientId: settings.giteaClientId, clientSecret: settings.giteaClientSecret },
  ];
}

/** Other machines must connect over https, unless the settings explicitly allow plain http. Source: S32. */
function judgeTransport({ host, publicUrl, insecureHttp }: Settings, isLocal: boolean): string[] {
  const isPlainAddress = publicUrl?.startsWith("http:") === true && !isLoopback(new URL(publicUrl).hostname);
  if (!isPlainAddress && (isLocal || publicUrl?.startsWith("https:") === true)) return [];
  const what = isPlainAddress ? `${publicUrl} is plain HTTP` : `The server listens on ${host} without HTTPS`;
  if (insecureHttp !== "on") {
    throw invalid(
      `${what}: anyone on the network could read passwords and tokens. Set KB_PUBLIC_URL to an https address (with a TLS proxy in front), or pass --insecure-http (KB_INSECURE_HTTP=on).`,
    );
  }
  const warnings = [`${what}: anyone on the network can read passwords and tokens (--insecure-http).`];
  if (publicUrl === undefined) warnings.push("Links point to 127.0.0.1: set KB_PUBLIC_URL.");
  return warnings;
}

function isLoopback(hostname: string): boolean {
  return hostname.endsWith(".localhost") || /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/.test(hostname);
}

/**
 * Returns the names of settings that make the installation less secure than by default. They are recorded in the audit
 * log when the server starts.
 */
export function weakeningSettings(settings: Settings): string[] {
  const isPlain = settings.insecureHttp === "on" && judgeTransport(settings, isLoopback(settings.host)).length > 0;
  return [
    ...(settings.allowPrivateHosts.length > 0 ? ["allowPrivateHosts"] : []),
    ...(isPlain ? ["insecureHttp"] : []),
    ...(settings.rateLimits === "off" ? ["rateLimits"] : []),
  ];
}

function describeProblem(error: z.ZodError, values: SettingValues): ApiError {
  const [issue] = error.issues;
  const key = String(issue?.path[0] ?? "");
  const place = values.get(key)?.place ?? toEnvName(key);
  const message = issue?.message ?? "not valid";
  // If a message begins with the value, the place is put before it: `--port "80a" is not a port (1-65535).`
  return invalid(message.startsWith('"') ? `${place} ${message}.` : `${place}: ${message}.`);
}

function unknownKey(place: string, key: string, known: readonly string[]): ApiError {
  const nearest = closest(key, known, 4);
  const suggestion = nearest === undefined ? "" : ` Did you mean ${nearest}?`;
  return invalid(`${place} is not a setting of kb.${suggestion}`);
}

function invalid(message: string): ApiError {
  return new ApiError("settings_invalid", { message });
}

/** Returns `$XDG_DATA_HOME/kb`, or `~/.local/share/kb` if the variable isn't set. */
function defaultDataDir(env: SettingsInput["env"]): string {
  const home = env["HOME"] ?? env["USERPROFILE"];
  const base = env["XDG_DATA_HOME"] ?? (home === undefined ? undefined : join(home, ".local", "share"));
  if (base === undefined) throw invalid("No home folder found. Set KB_DATA_DIR.");
  return join(base, "kb");
}

function toEnvName(key: string): string {
  return `KB_${key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

/** Converts the name in an environment variable to the id of the source: `MY_WIKI` becomes `my-wiki`. */
function toProviderId(name: string): string {
  return name.toLowerCase().replaceAll("_", "-");
}

function toKebab(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
