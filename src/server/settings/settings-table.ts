import { canParseUrl } from "#api/parse-url.ts";
import { delimiter } from "node:path";
import { z } from "zod";
import { faultOfAddressRanges } from "#net/addresses.ts";
import { normalizeBaseUrl } from "#core/base-url.ts";
import { faultOfAppScheme } from "#server/identity/oauth/policy.ts";
import type { RegisteredInstance } from "#storage/records/instances.ts";

const Count = wholeNumber(0, Number.MAX_SAFE_INTEGER, "is not a whole number");

/** Every setting of the server, with its default and meaning. */
export const SETTINGS = {
  publicUrl: z
    .string()
    .transform(toOrigin)
    .optional()
    .describe(
      "The address that people and agents use, such as `https://kb.example.org`: the origin of links, cookies and host checks. Default: `http://127.0.0.1:<port>`.",
    ),
  host: z.string().min(1).default("127.0.0.1").describe("The address to listen on. `--host` overrides it."),
  port: wholeNumber(0, 65_535, "is not a port (1-65535)")
    .default(7700)
    .describe("The port to listen on, 0 for a free one. `--port` overrides it."),
  allowedHosts: list(",").default([]).describe("Additional host names that requests can use, separated by commas."),
  dataDir: z
    .string()
    .min(1)
    .describe(
      "The folder for all of kb's data. Default: `$XDG_DATA_HOME/kb`, usually `~/.local/share/kb`. `--data-dir` overrides it.",
    ),
  dataDirGroup: z
    .preprocess(toFlag, z.boolean("Expected 1 or 0"))
    .default(false)
    .describe(
      "`1` lets the data folder's group read it, including the key file: folders get mode 0750, files 0640. Default: 0700 and 0600.",
    ),
  mode: z
    .enum(["self-hosted", "managed"])
    .default("self-hosted")
    .describe("`managed` runs the server for other people's workspaces, which can't read folders of this machine."),
  signup: z
    .enum(["invite", "open", "closed"])
    .optional()
    .describe(
      "How people join: `invite` = by invitation, `open` = by signing up, each with a workspace of their own, `closed` = not at all. Default: `open` in managed mode, otherwise `invite`.",
    ),
  localRoots: list(delimiter)
    .default([])
    .describe("Folders that filesystem connectors can read, separated by `:` (`;` on Windows)."),
  bootstrapEmail: z
    .string()
    .regex(/^[^\s@]+@[^\s@]+$/, "Expected an email address")
    .optional()
    .describe("The first admin's address, instead of the setup code. Ignored once the installation has an owner."),
  bootstrapPassword: z
    .string()
    .min(1)
    .optional()
    .describe("The first admin's password; needs `KB_BOOTSTRAP_EMAIL`. Prefer `KB_BOOTSTRAP_PASSWORD_FILE`."),
  allowPrivateHosts: list(",")
    .default([])
    .describe(
      "Private addresses that the connectors of every member can reach, each as `host:port`, separated by commas; also for ports other than 80, 443 and 22. They apply only to addresses in a configuration, not to addresses that a response leads to. Not available in managed mode.",
    ),
  mcpAuthorizationServers: list(",")
    .default([])
    .describe(
      "Authorization servers at a private address, or at a different port than their MCP server, each as `host:port`, separated by commas. The OAuth metadata of every provider server can lead there, if `KB_ALLOW_PRIVATE_HOSTS` lists them too.",
    ),
  instances: list(",")
    .pipe(z.array(z.string().transform(toInstance)))
    .default([])
    .describe(
      "Instances whose users can be members of every workspace, and that connectors can reach at private addresses, each as `source=base URL` (`gitea=https://git.example.org`), separated by commas. Admins can register others for their workspace.",
    ),
  secretKeys: z
    .string()
    .optional()
    .describe(
      "The keys that encrypt connectors' credentials, each as `id:base64` of 32 bytes, separated by commas: the first encrypts, all decrypt. Default: a key in the data folder. Prefer `KB_SECRET_KEYS_FILE`.",
    ),
  webhookSecrets: z
    .record(
      z.string(),
      z.string().min(16, "Expected 16 or more characters"),
      "Expected a secret by the ID of its source",
    )
    .default({})
    .describe(
      "The secret of the single webhook that an app uses for all its connectors, at `/hooks/<source>`. Prefer `KB_<SOURCE>_WEBHOOK_SECRET_FILE`.",
    ),
  ...accountSettings("github", "GitHub", "https://github.com"),
  githubApiUrl: z
    .string()
    .transform(toBaseUrl)
    .optional()
    .describe(
      "The API of that GitHub instance. Default: `https://api.github.com`; with your own base URL, `<base URL>/api/v3`.",
    ),
  ...accountSettings("google", "Google", "https://accounts.google.com"),
  googleApiUrl: z
    .string()
    .transform(toBaseUrl)
    .optional()
    .describe(
      "The API of that Google instance. Default: `https://www.googleapis.com`; with your own base URL, that URL.",
    ),
  ...accountSettings("slack", "Slack", "https://slack.com"),
  giteaUrl: z
    .string()
    .transform(toBaseUrl)
    .optional()
    .describe(
      "The Gitea or Forgejo instance where people can connect accounts, such as `https://git.example.org`. Its users can be members of every workspace, and connectors can reach it at a private address.",
    ),
  ...clientSettings("gitea", "Gitea"),
  smtpUrl: z
    .string()
    .refine(isSmtpUrl, "Expected smtp://user:password@host:587 or smtps://…")
    .optional()
    .describe(
      "The mail server for links and notices, `smtp://…` (upgraded to TLS if the server offers it) or `smtps://…`. Without it, links are shown to the person who created them. Prefer `KB_SMTP_URL_FILE`.",
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
    .describe("The issuer of the OpenID Connect provider that people can sign in with."),
  oidcClientId: z.string().min(1).optional().describe("This server's client ID at that provider."),
  oidcClientSecret: z
    .string()
    .min(1)
    .optional()
    .describe("The client secret, if any. Prefer `KB_OIDC_CLIENT_SECRET_FILE`."),
  oidcName: z.string().min(1).max(60).default("single sign-on").describe("The provider's name on the sign-in button."),
  oidcDomains: list(",")
    .default([])
    .describe(
      "Domains, separated by commas, whose email addresses the provider can prove. Never a domain where anyone can get an address.",
    ),
  logLevel: z
    .enum(["debug", "info", "warn", "error", "silent"])
    .default("info")
    .describe("The minimum level that is logged: `debug`, `info`, `warn`, `error`, `silent`."),
  logFile: z
    .string()
    .min(1)
    .optional()
    .describe(
      "Log to this file instead of standard output. At 5 MB it is renamed to `<file>.1`, which replaces the previous one.",
    ),
  trustedProxies: list(",")
    .superRefine((entries, context) => {
      const message = faultOfAddressRanges(entries);
      if (message !== undefined) context.addIssue({ code: "custom", message });
    })
    .default([])
    .describe("Addresses or ranges of proxies whose `X-Forwarded-For` is trusted, separated by commas."),
  insecureHttp: z
    .enum(["on", "off"])
    .default("off")
    .describe(
      "`on` lets other machines reach the server over plain HTTP, where anyone on the network can read passwords and tokens. Same as `--insecure-http`.",
    ),
  rateLimits: z
    .enum(["on", "off"])
    .default("on")
    .describe("`off` is allowed only while the server listens on loopback."),
  quotas: z
    .preprocess(
      toPairs,
      z.strictObject({ items: Count, textMb: Count, connectors: Count, members: Count, tokens: Count }).partial(),
    )
    .default({})
    .describe(
      "Limits of each workspace, such as `items=50000,textMb=500,connectors=10,members=25,tokens=200`; see [limits.md](limits.md). Managed mode has default limits, other modes have none.",
    ),
  syncMemoryMb: wholeNumber(1, 65_536, "is not a number of megabytes (1-65536)")
    .default(256)
    .describe(
      "Megabytes of memory that the text of files can use at once, in all syncs and pushes together; see [memory](self-hosting.md#memory).",
    ),
  durability: z
    .enum(["normal", "full"])
    .default("normal")
    .describe(
      "`normal` survives a crash of the process at any moment; `full` also survives a power failure, with slower syncs.",
    ),
  shutdownTimeoutS: wholeNumber(0, 600, "is not a number of seconds (0-600)")
    .default(20)
    .describe("Seconds that requests in progress get to finish at shutdown."),
  drainS: wholeNumber(0, 600, "is not a number of seconds (0-600)")
    .default(0)
    .describe(
      "Seconds that `/readyz` answers 503 before the port closes, while requests are still served. Set it to the time your load balancer needs to notice the shutdown.",
    ),
  keepAliveS: wholeNumber(1, 3_600, "is not a number of seconds (1-3600)")
    .default(75)
    .describe(
      "Seconds that an idle connection stays open for its next request. Keep it longer than your proxy's, or the proxy may use a connection that is just closing.",
    ),
  oauthClientDocuments: z
    .enum(["on", "off"])
    .default("on")
    .describe(
      "`off` refuses OAuth clients that identify themselves by the address of a document, and reads no such document; see [oauth.md](oauth.md#client-documents).",
    ),
  oauthAppSchemes: list(",")
    .pipe(z.array(z.string().transform(toAppScheme)))
    .default([])
    .describe(
      "Additional schemes of apps that OAuth clients can be sent back to, such as `windsurf-next,positron`, separated by commas.",
    ),
  mcpLifecycle: z
    .enum(["auto", "strict", "open"])
    .default("auto")
    .describe("The protocol versions that `POST /mcp` accepts; see [mcp.md](mcp.md#versions)."),
} as const;

export const Settings = z.object(SETTINGS).transform((settings) => ({
  ...settings,
  signup: settings.signup ?? (settings.mode === "managed" ? "open" : "invite"),
}));
export type Settings = z.output<typeof Settings>;

/** Settings of a service where people connect accounts: this server's OAuth client there, and the service's address. */
function accountSettings<Name extends string>(name: Name, title: string, usual: string) {
  const baseUrl = z
    .string()
    .transform(toBaseUrl)
    .optional()
    .describe(
      `A ${title} instance of your own, which connectors can reach at a private address. Default: \`${usual}\`.`,
    );
  return {
    ...clientSettings(name, title),
    ...({ [`${name}BaseUrl`]: baseUrl } as Record<`${Name}BaseUrl`, typeof baseUrl>),
  };
}

function clientSettings<Name extends string>(name: Name, title: string) {
  const clientId = z
    .string()
    .min(1)
    .optional()
    .describe(`This server's OAuth client ID at ${title}, for [accounts](accounts.md).`);
  const env = `KB_${name.toUpperCase()}_CLIENT_SECRET_FILE`;
  const clientSecret = z.string().min(1).optional().describe(`The client's secret. Prefer \`${env}\`.`);
  // For the compiler a computed key is a string, but these are exactly the two names in the mapped types.
  return { [`${name}ClientId`]: clientId, [`${name}ClientSecret`]: clientSecret } as Record<
    `${Name}ClientId` | `${Name}ClientSecret`,
    typeof clientId
  >;
}

/** A list, or a text with this separator. */
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

/** A whole number within bounds, as text or as a number. In the error message, `fault` follows the value. */
function wholeNumber(min: number, max: number, fault: string) {
  return z.unknown().transform((value, context): number => {
    const text = String(value);
    const number = /^\d{1,16}$/.test(text.trim()) ? Number(text) : Number.NaN;
    if (number >= min && number <= max) return number;
    context.addIssue({ code: "custom", message: `"${text}" ${fault}` });
    return z.NEVER;
  });
}

/** Converts `1`, `on` and `true` to true. */
function toFlag(value: unknown): unknown {
  const text = String(value).toLowerCase();
  if (["1", "on", "true"].includes(text)) return true;
  return ["0", "off", "false"].includes(text) ? false : value;
}

/** Parses pairs such as `items=5,tokens=7`. */
function toPairs(value: unknown): unknown {
  if (typeof value !== "string") return value;
  const pairs = value.split(",").map((pair) => pair.trim().split("=", 2));
  return Object.fromEntries(pairs.filter(([name]) => name !== ""));
}

function toInstance(text: string, context: z.RefinementCtx): RegisteredInstance {
  const [, providerId, url = ""] = /^([a-z][a-z0-9-]{0,63})=(.+)$/.exec(text) ?? [];
  const baseUrl = normalizeBaseUrl(url);
  if (providerId !== undefined && baseUrl !== undefined) return { providerId, baseUrl };
  context.addIssue({ code: "custom", message: "Expected source=base URL, such as gitea=https://git.example.org" });
  return z.NEVER;
}

function toBaseUrl(text: string, context: z.RefinementCtx): string {
  const baseUrl = normalizeBaseUrl(text);
  if (baseUrl !== undefined) return baseUrl;
  context.addIssue({ code: "custom", message: "Expected a base URL such as https://git.example.org" });
  return z.NEVER;
}

/** Accepts `myapp`, `myapp:` and `myapp://` as the same scheme. */
function toAppScheme(text: string, context: z.RefinementCtx): string {
  const scheme = text.toLowerCase().replace(/:(?:\/\/)?$/, "");
  const fault = faultOfAppScheme(scheme);
  if (fault !== undefined) context.addIssue({ code: "custom", message: `${JSON.stringify(text)} ${fault}` });
  return scheme;
}

function toOrigin(text: string, context: z.RefinementCtx): string {
  const url = canParseUrl(text) ? new URL(text) : undefined;
  const isOrigin =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    [url.pathname, url.search, url.hash, url.username, url.password].join("") === "/";
  if (isOrigin) return url.origin;
  context.addIssue({ code: "custom", message: `Expected an origin such as https://kb.example.org, without a path` });
  return z.NEVER;
}

/**
 * Returns the issuer unchanged, with its path and without an added trailing slash, since issuers are compared byte for
 * byte.
 */
function toIssuer(text: string, context: z.RefinementCtx): string {
  const url = canParseUrl(text) ? new URL(text) : undefined;
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
  const url = canParseUrl(text) ? new URL(text) : undefined;
  return url !== undefined && /^smtps?:$/.test(url.protocol) && url.hostname !== "";
}
