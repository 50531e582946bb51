// Over 400 lines: most of it is the table of settings, and what judges them together stands beside it.
import { existsSync, readFileSync } from "node:fs";
import { delimiter, join, resolve } from "node:path";
import { parse as parseYaml } from "yaml";
import { z } from "zod";
import { ApiError } from "#api/errors.ts";

const Count = z.coerce.number().int().min(0);

/** Everything the server can be told, each with its default and what it means. Source: design page "api", Settings. */
const SETTINGS = {
  publicUrl: z
    .string()
    .transform(toOrigin)
    .optional()
    .describe(
      "The address people and agents use, such as `https://kb.example.org`: the one origin of links, cookies and host checks. Without it `http://127.0.0.1:<port>`.",
    ),
  host: z.string().min(1).default("127.0.0.1").describe("The address to listen on. `--host` goes before it."),
  port: z.coerce
    .number()
    .int()
    .min(0)
    .max(65_535)
    .default(7700)
    .describe("The port to listen on, 0 for a free one. `--port` goes before it."),
  allowedHosts: list(",").default([]).describe("Further host names that requests may carry, separated by commas."),
  dataDir: z
    .string()
    .min(1)
    .describe(
      "The folder with everything kb keeps. Without it `$XDG_DATA_HOME/kb`, usually `~/.local/share/kb`. `--data-dir` goes before it.",
    ),
  databaseUrl: z
    .string()
    .refine(
      () => false,
      "PostgreSQL comes with the distributed profile, which this version does not have. Leave it out: records live in the data folder",
    )
    .optional()
    .describe("For the distributed profile, which this version does not have: leave it out."),
  opensearchUrl: z
    .string()
    .refine(
      () => false,
      "OpenSearch comes with the distributed profile, which this version does not have. Leave it out: the index lives in the data folder",
    )
    .optional()
    .describe("For the distributed profile, which this version does not have: leave it out."),
  role: z
    .string()
    .refine((role) => role === "all", 'Only "all" works in one process with the embedded store')
    .default("all")
    .describe("What this process does; only `all` in this version."),
  mode: z
    .enum(["self-hosted", "managed"])
    .default("self-hosted")
    .describe("`managed`: run for other people's workspaces; none of them reads folders of this machine."),
  signup: z
    .enum(["invite", "open", "closed"])
    .optional()
    .describe(
      "How people come in: `invite` by invitation, `open` with an account and a workspace of their own, `closed` not at all. Without it `open` in managed mode, else `invite`.",
    ),
  localRoots: list(delimiter)
    .default([])
    .describe("Folders that filesystem connectors may read, separated by `:` (`;` on Windows)."),
  bootstrapEmail: z
    .string()
    .regex(/^[^\s@]+@[^\s@]+$/, "Expected an e-mail address")
    .optional()
    .describe("The first admin's address, instead of the setup code. Ignored once the installation has an owner."),
  bootstrapPassword: z
    .string()
    .min(1)
    .optional()
    .describe("The first admin's password; belongs to `KB_BOOTSTRAP_EMAIL`. Better as `KB_BOOTSTRAP_PASSWORD_FILE`."),
  allowPrivateHosts: list(",")
    .default([])
    .describe(
      "Private addresses that connectors made by an admin may reach, each as `host:port`, separated by commas; also ports other than 80, 443 and 22. None in managed mode.",
    ),
  secretKeys: z
    .string()
    .optional()
    .describe(
      "The keys that seal connectors' credentials, `id:base64` of 32 bytes each, separated by commas: the first seals, every one opens. Without it, a key in the data folder. Better as `KB_SECRET_KEYS_FILE`.",
    ),
  smtpUrl: z
    .string()
    .refine(isSmtpUrl, "Expected smtp://user:password@host:587 or smtps://…")
    .optional()
    .describe(
      "The mail server for links and notices, `smtp://…` (upgraded to TLS where it offers it) or `smtps://…`. Without it links are shown to who made them. Better as `KB_SMTP_URL_FILE`.",
    ),
  mailFrom: z
    .string()
    .regex(/^[^\r\n]*[^\s@<>]+@[^\s@<>]+>?$/, "Expected an address such as kb@example.org or kb <kb@example.org>")
    .optional()
    .describe("The sender of messages; needed with `KB_SMTP_URL`."),
  oidcIssuer: z
    .string()
    .transform(toIssuer)
    .optional()
    .describe("The issuer of the OpenID Connect provider that people may sign in with."),
  oidcClientId: z.string().min(1).optional().describe("This server's client at that provider."),
  oidcClientSecret: z
    .string()
    .min(1)
    .optional()
    .describe("Its secret, if it has one. Better as `KB_OIDC_CLIENT_SECRET_FILE`."),
  oidcName: z.string().min(1).max(60).default("single sign-on").describe("What the button calls the provider."),
  oidcDomains: list(",")
    .default([])
    .describe(
      "Domains, separated by commas, for which the provider's word proves an e-mail address. Never one that anybody can have an address at.",
    ),
  logLevel: z
    .enum(["debug", "info", "warn", "error", "silent"])
    .default("info")
    .describe("The least that is logged: `debug`, `info`, `warn`, `error`, `silent`."),
  trustedProxies: list(",")
    .default([])
    .describe("Addresses or ranges, separated by commas, whose `X-Forwarded-For` is believed."),
  insecureHttp: z
    .enum(["on", "off"])
    .default("off")
    .describe(
      "`on` lets other machines reach the server over plain http, where passwords and tokens can be read on the way. `--insecure-http` does the same.",
    ),
  rateLimits: z.enum(["on", "off"]).default("on").describe("`off` only while the server listens on loopback."),
  quotas: z
    .preprocess(
      toPairs,
      z.strictObject({ items: Count, textMb: Count, connectors: Count, members: Count, tokens: Count }).partial(),
    )
    .default({})
    .describe(
      "What each workspace may hold, such as `items=50000,textMb=500,connectors=10,members=25,tokens=200`; see [limits.md](limits.md). In managed mode there are limits without it, otherwise none.",
    ),
  durability: z
    .enum(["normal", "full"])
    .default("normal")
    .describe("`normal` survives the end of the process at any moment, `full` a power cut too, with slower syncs."),
  shutdownTimeoutS: z.coerce
    .number()
    .int()
    .min(0)
    .max(600)
    .default(20)
    .describe("Seconds that requests in flight get at the end."),
  mcpLifecycle: z
    .enum(["auto", "strict", "open"])
    .default("auto")
    .describe("Which protocol versions `POST /mcp` answers; see [mcp.md](mcp.md#versions)."),
} as const;

const Settings = z
  .object(SETTINGS)
  .transform((given) => ({ ...given, signup: given.signup ?? (given.mode === "managed" ? "open" : "invite") }));
export type Settings = z.output<typeof Settings>;

export interface SettingsInput {
  env: Readonly<Record<string, string | undefined>>;
  /** What the settings file says, with its name for messages. */
  file?: { name: string; values: unknown };
  /** From the command line; `undefined` = not given. */
  flags?: Readonly<Record<string, string | undefined>>;
  /** Reads the file that a `KB_X_FILE` names. */
  readSecret: (path: string) => string;
}

/** Client-side and test variables: none of the server's business. */
const NOT_OURS = /^KB_(?:URL|TOKEN|TOKEN_FILE|PROFILE|CONNECTOR_KEY|CONFIG_DIR|TEST_.*)$/;
/** Told apart from typing mistakes. */
const LATER = /^KB_(?:(?:GITHUB|GOOGLE|SLACK|EMBEDDINGS)_\w+|METRICS_TOKEN|MCP_CHATGPT_ALIASES)$/;

/**
 * The settings: flag before environment before file before default.
 *
 * @throws ApiError `settings_invalid`, which names the key, where it stands and what to write instead
 */
export function readSettings(input: SettingsInput): { settings: Settings; warnings: string[] } {
  const given: Given = new Map();
  for (const [key, value] of flatten(input.file?.values, input.file?.name ?? "")) {
    addGiven(given, key, value, `${key} in ${input.file?.name ?? "the settings file"}`);
  }
  readEnv(given, input);
  for (const [key, value] of Object.entries(input.flags ?? {})) {
    if (value !== undefined) addGiven(given, key, value, `--${toKebab(key)}`);
  }
  if (!given.has("dataDir")) given.set("dataDir", { value: defaultDataDir(input.env), place: "the home folder" });
  const parsed = Settings.safeParse(Object.fromEntries([...given].map(([key, { value }]) => [key, value])));
  if (!parsed.success) throw describeProblem(parsed.error, given);
  const settings = { ...parsed.data, dataDir: resolve(parsed.data.dataDir) };
  return { settings, warnings: judge(settings) };
}

/** What a person has to know of one setting. */
export interface SettingInfo {
  key: string;
  env: string;
  /** As it is written in the environment; "" when there is none. */
  default: string;
  meaning: string;
}

/** Every setting of the server, from the schema itself. */
export function describeSettings(): SettingInfo[] {
  return Object.entries(SETTINGS).map(([key, schema]) => {
    const parsed = z.object({ value: schema }).safeParse({});
    const value = parsed.success ? parsed.data.value : undefined;
    return {
      key,
      env: toEnvName(key),
      default: value === undefined || typeof value === "object" ? "" : String(value),
      meaning: schema.description ?? "",
    };
  });
}

/** Reads the settings of this process, with the settings file if there is one. @throws ApiError `settings_invalid` */
export function loadSettings(options: {
  env: SettingsInput["env"];
  flags: Readonly<Record<string, string | undefined>>;
  /** `--config`. */
  configFile?: string;
}): { settings: Settings; warnings: string[] } {
  const { env, flags, configFile } = options;
  const dataDir = flags["dataDir"] ?? env["KB_DATA_DIR"] ?? defaultDataDir(env);
  const name = configFile ?? join(dataDir, "server.yaml");
  const readSecret = (path: string) => readFileSync(path, "utf8").replace(/\r?\n$/, "");
  if (configFile === undefined && !existsSync(name)) return readSettings({ env, flags, readSecret });
  return readSettings({ env, flags, readSecret, file: { name, values: readYaml(name) } });
}

/** The base URL once the port is known: `publicUrl`, else the loopback address. */
export function baseUrlOf(settings: Pick<Settings, "publicUrl">, port: number): string {
  return settings.publicUrl ?? `http://127.0.0.1:${port}`;
}

type Given = Map<string, { value: unknown; place: string }>;

function addGiven(given: Given, key: string, value: unknown, place: string): void {
  if (!(key in SETTINGS)) throw unknownKey(place, key, Object.keys(SETTINGS));
  given.set(key, { value, place });
}

function readEnv(given: Given, { env, readSecret }: SettingsInput): void {
  const known = new Map(Object.keys(SETTINGS).map((key) => [toEnvName(key), key]));
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith("KB_") || value === undefined || value === "" || NOT_OURS.test(name)) continue;
    const base = known.has(name) ? name : name.replace(/_FILE$/, "");
    const key = known.get(base);
    if (key === undefined) {
      if (LATER.test(base)) throw invalid(`${name} belongs to a later version of kb. Remove it.`);
      throw unknownKey(name, name, [...known.keys()]);
    }
    if (seen.has(base)) throw invalid(`Both ${base} and ${base}_FILE are set. Keep one.`);
    seen.add(base);
    given.set(key, { value: base === name ? value : readNamed(name, value, readSecret), place: name });
  }
}

function readNamed(name: string, path: string, readSecret: (path: string) => string): string {
  try {
    return readSecret(path);
  } catch (cause) {
    throw new ApiError("settings_invalid", { message: `The file that ${name} names can't be read: ${path}`, cause });
  }
}

/** Nested keys are one word: `mcp: {lifecycle: strict}` is `mcpLifecycle`. */
function flatten(values: unknown, name: string): [string, unknown][] {
  if (values === undefined || values === null) return [];
  if (typeof values !== "object" || Array.isArray(values)) throw invalid(`${name} must hold keys and values.`);
  return Object.entries(values).flatMap(([key, value]): [string, unknown][] => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) return [[key, value]];
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

/** What fits key by key but not together. */
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
  if (settings.mode === "managed" && settings.bootstrapEmail !== undefined) {
    throw invalid("KB_BOOTSTRAP_EMAIL is not for managed mode.");
  }
  if (settings.mode === "managed" && settings.allowPrivateHosts.length > 0) {
    throw invalid("KB_ALLOW_PRIVATE_HOSTS is not for managed mode: connectors there reach public addresses only.");
  }
  return [...warnings, ...judgeTransport(settings, isLocal)];
}

/** Other machines come by https, or somebody said that they need not. Source: S32. */
function judgeTransport({ host, publicUrl, insecureHttp }: Settings, isLocal: boolean): string[] {
  const isPlainAddress = publicUrl?.startsWith("http:") === true && !isLoopback(new URL(publicUrl).hostname);
  if (!isPlainAddress && (isLocal || publicUrl?.startsWith("https:") === true)) return [];
  const what = isPlainAddress ? `${publicUrl} is plain http` : `The server listens on ${host} without https`;
  if (insecureHttp !== "on") {
    throw invalid(
      `${what}: passwords and tokens could be read on the way. Set KB_PUBLIC_URL to an https address (a TLS proxy in front), or say --insecure-http (KB_INSECURE_HTTP=on).`,
    );
  }
  const warnings = [`${what}: passwords and tokens can be read on the way (--insecure-http).`];
  if (publicUrl === undefined) warnings.push("Links say 127.0.0.1: set KB_PUBLIC_URL.");
  return warnings;
}

function isLoopback(hostname: string): boolean {
  return hostname.endsWith(".localhost") || /^(?:localhost|127(?:\.\d+){3}|\[?::1\]?)$/.test(hostname);
}

/** Settings that make the installation weaker than it is by default, by name; written into the audit at start. */
export function weakeningSettings(settings: Settings): string[] {
  const isPlain = settings.insecureHttp === "on" && judgeTransport(settings, isLoopback(settings.host)).length > 0;
  return [
    ...(settings.allowPrivateHosts.length > 0 ? ["allowPrivateHosts"] : []),
    ...(isPlain ? ["insecureHttp"] : []),
    ...(settings.rateLimits === "off" ? ["rateLimits"] : []),
  ];
}

function describeProblem(error: z.ZodError, given: Given): ApiError {
  const [issue] = error.issues;
  const key = String(issue?.path[0] ?? "");
  return invalid(`${given.get(key)?.place ?? toEnvName(key)}: ${issue?.message ?? "not valid"}.`);
}

function unknownKey(place: string, key: string, known: readonly string[]): ApiError {
  const [nearest] = known
    .map((name) => ({ name, distance: editDistance(key.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const suggestion = nearest && nearest.distance <= 4 ? ` Did you mean ${nearest.name}?` : "";
  return invalid(`${place} is no setting of kb.${suggestion}`);
}

function invalid(message: string): ApiError {
  return new ApiError("settings_invalid", { message });
}

/** `$XDG_DATA_HOME/kb`, by default `~/.local/share/kb`. */
function defaultDataDir(env: SettingsInput["env"]): string {
  const home = env["HOME"] ?? env["USERPROFILE"];
  const base = env["XDG_DATA_HOME"] ?? (home === undefined ? undefined : join(home, ".local", "share"));
  if (base === undefined) throw invalid("There is no home folder. Set KB_DATA_DIR.");
  return join(base, "kb");
}

/** A list, or text with this separator. */
function list(separator: string) {
  const split = (value: unknown) =>
    typeof value !== "string"
      ? value
      : value
          .split(separator)
          .map((part) => part.trim())
          .filter((part) => part !== "");
  return z.preprocess(split, z.array(z.string().min(1)));
}

/** `items=5,tokens=7`. */
function toPairs(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const pairs = value.split(",").map((pair) => pair.trim().split("=", 2));
  return Object.fromEntries(pairs.filter(([name]) => name !== ""));
}

function toOrigin(text: string, context: z.RefinementCtx): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isOrigin =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    [url.pathname, url.search, url.hash, url.username, url.password].join("") === "/";
  if (isOrigin) return url.origin;
  context.addIssue({ code: "custom", message: `Expected an origin such as https://kb.example.org, without a path` });
  return z.NEVER;
}

/** An issuer keeps its path and has no trailing slash of its own: it is compared byte for byte. */
function toIssuer(text: string, context: z.RefinementCtx): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isLoopback = url !== undefined && /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  const isIssuer =
    url !== undefined &&
    (url.protocol === "https:" || (url.protocol === "http:" && isLoopback)) &&
    [url.search, url.hash, url.username, url.password].join("") === "";
  if (isIssuer) return text;
  context.addIssue({ code: "custom", message: "Expected an https address without a query" });
  return z.NEVER;
}

function isSmtpUrl(text: string): boolean {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  return url !== undefined && /^smtps?:$/.test(url.protocol) && url.hostname !== "";
}

function toEnvName(key: string): string {
  return `KB_${key.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`;
}

function toKebab(key: string): string {
  return key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** Insertions, deletions and replacements between two short words. */
function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
