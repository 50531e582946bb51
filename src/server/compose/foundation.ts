import { randomBytes } from "node:crypto";
import { lookup } from "node:dns/promises";
import { networkInterfaces } from "node:os";
import { ApiError } from "#api/errors.ts";
import type { Clock, RandomBytes } from "#core/clock.ts";
import { defined } from "#core/defined.ts";
import type { Log } from "#core/log.ts";
import { type AddressGuard, faultOfPrivateHosts, makeAddressGuard } from "#net/address-guard.ts";
import { isLoopbackAddress } from "#net/addresses.ts";
import { baseUrlOf, isOpenToStrangers, type Settings } from "#server/settings/config.ts";
import { makeNoThrottle, makeThrottle, type Throttle } from "#server/http/throttle.ts";
import { MANAGED_QUOTAS, type Quotas } from "#server/identity/workspaces/quotas.ts";
import type { Lifecycle } from "#server/mcp/revisions.ts";
import type { AccountSettings } from "#server/accounts/providers.ts";
import type { RegisteredInstance } from "#storage/records/instances.ts";
import type { Store } from "#storage/records/store.ts";
import { parseSecretKeys, type Vault, type VaultKey } from "#storage/vault.ts";

export interface AppSettings {
  /** The origin of all links, of `mcpUrl` and of cookies, without a trailing slash. */
  baseUrl: string;
  mode: "self-hosted" | "managed";
  signup: "invite" | "open" | "closed";
  allowedHosts: readonly string[];
  trustedProxies: readonly string[];
  /** Parsed value of `KB_LOCAL_ROOTS`. */
  localRoots: readonly string[];
  /** Parsed value of `KB_MCP_AUTHORIZATION_SERVERS`: a list of `host:port`. Absent and [] both mean none. */
  mcpAuthorizationServers?: readonly string[];
  /** Parsed value of `KB_INSTANCES`. */
  instances: readonly RegisteredInstance[];
  /** Services at which people connect accounts, by the service's id. */
  accounts: Readonly<Record<string, AccountSettings>>;
  /** Values of `KB_<SOURCE>_WEBHOOK_SECRET`, by the id of the source. */
  webhookSecrets: Readonly<Record<string, string>>;
  dataDir: string;
  /** Home folder of the user who runs the server, if there is one. */
  homeDir: string | undefined;
  /** `off` is allowed only on loopback addresses; `config.ts` enforces it. */
  rateLimits: "on" | "off";
  /** The limits of a workspace. Absent and {} both mean no limits. */
  quotas?: Partial<Quotas>;
  /** How strictly `/mcp` requires two methods of the MCP lifecycle; see `mcp/revisions.ts`. */
  mcpLifecycle: Lifecycle;
  /** Whether an OAuth client can use the address of its metadata document as its id; `on` if absent. */
  oauthClientDocuments?: "on" | "off";
  /** URI schemes of apps that are allowed in redirect addresses, in addition to the known ones. */
  oauthAppSchemes?: readonly string[];
}

/** The services that every feature builds on. */
export interface Foundation {
  settings: AppSettings;
  store: Store;
  clock: Clock;
  log: Log;
  randomBytes: RandomBytes;
  vault: Vault;
  /** The id that this instance sends to provider servers, so that two instances that query each other can detect it. */
  instanceId: string;
  /** Checks every address that came from outside before this server connects to it. */
  addressGuard: AddressGuard;
}

/** Builds the services that every feature uses, from the settings and the opened resources. */
export function makeFoundation(
  settings: Settings,
  opened: {
    /** Home folder of the user who runs the server, if there is one. */
    homeDir: string | undefined;
    clock: Clock;
    log: Log;
    store: Store;
    /** The port that the server listens on. */
    port: number;
    vault: Vault;
  },
): Foundation {
  const appSettings: AppSettings = {
    baseUrl: baseUrlOf(settings, opened.port),
    mode: settings.mode,
    signup: settings.signup,
    allowedHosts: settings.allowedHosts,
    trustedProxies: settings.trustedProxies,
    localRoots: settings.localRoots,
    mcpAuthorizationServers: settings.mcpAuthorizationServers,
    instances: instancesOf(settings),
    accounts: accountsOf(settings),
    webhookSecrets: settings.webhookSecrets,
    dataDir: settings.dataDir,
    homeDir: opened.homeDir,
    rateLimits: settings.rateLimits,
    quotas: { ...(settings.mode === "managed" && MANAGED_QUOTAS), ...chosenQuotas(settings.quotas) },
    mcpLifecycle: settings.mcpLifecycle,
    oauthClientDocuments: settings.oauthClientDocuments,
    oauthAppSchemes: settings.oauthAppSchemes,
  };
  const { clock, log, store, vault } = opened;
  const addressGuard = makeGuard(settings, opened.port);
  const instanceId = randomBytes(12).toString("hex");
  return { settings: appSettings, store, clock, log, randomBytes, vault, instanceId, addressGuard };
}

/** Makes a rate limit of people's actions. If the operator has turned limits off, it never refuses. */
export function makeLimit(
  { clock, settings }: Pick<Foundation, "clock" | "settings">,
  perMinute: number,
  what: string,
): Throttle {
  if (settings.rateLimits === "off") return makeNoThrottle();
  return makeThrottle({ perMinute, clock, message: `Too many ${what}. Wait a moment and try again.` });
}

/** The services where people connect accounts, with this server's OAuth clients there. */
export function accountsOf(settings: Settings): Record<string, AccountSettings> {
  const { githubBaseUrl, githubApiUrl, googleBaseUrl, googleApiUrl } = settings;
  const ofGitHub = githubApiUrl ?? (githubBaseUrl && `${githubBaseUrl}/api/v3`);
  return {
    gitea: defined({
      baseUrl: settings.giteaUrl,
      clientId: settings.giteaClientId,
      clientSecret: settings.giteaClientSecret,
    }),
    github: defined({
      baseUrl: githubBaseUrl,
      apiUrl: ofGitHub,
      clientId: settings.githubClientId,
      clientSecret: settings.githubClientSecret,
    }),
    google: defined({
      baseUrl: googleBaseUrl,
      apiUrl: googleApiUrl ?? googleBaseUrl,
      clientId: settings.googleClientId,
      clientSecret: settings.googleClientSecret,
    }),
    slack: defined({
      baseUrl: settings.slackBaseUrl,
      clientId: settings.slackClientId,
      clientSecret: settings.slackClientSecret,
    }),
  };
}

/** The instances that the operator trusts: the listed instances, and the instances where people connect accounts. */
export function instancesOf(settings: Settings): RegisteredInstance[] {
  const named = Object.entries(accountsOf(settings)).flatMap(([providerId, { baseUrl, apiUrl }]) =>
    [baseUrl, apiUrl].flatMap((url) => (url === undefined ? [] : [{ providerId, baseUrl: url }])),
  );
  return [...settings.instances, ...named];
}

/** @throws ApiError `settings_invalid`; its text never contains a key */
export function readSecretKeys({ secretKeys }: Settings): VaultKey[] {
  const keys = secretKeys === undefined ? [] : parseSecretKeys(secretKeys);
  if (Array.isArray(keys)) return keys;
  throw new ApiError("settings_invalid", { message: `KB_SECRET_KEYS: ${keys.fault}.` });
}

/** @throws ApiError `settings_invalid` when a list of private hosts is invalid */
export function requirePrivateHosts({ allowPrivateHosts, mcpAuthorizationServers }: Settings): void {
  const lists = { KB_ALLOW_PRIVATE_HOSTS: allowPrivateHosts, KB_MCP_AUTHORIZATION_SERVERS: mcpAuthorizationServers };
  for (const [name, entries] of Object.entries(lists)) {
    const fault = faultOfPrivateHosts(entries);
    if (fault !== undefined) throw new ApiError("settings_invalid", { message: `${name}: ${fault}` });
  }
}

/**
 * Returns the hosts with ports that connectors may reach even if their addresses are private: those that the operator
 * lists, and those of the operator's instances. Empty if strangers can own workspaces.
 * Source: docs/decisions/0018-where-strangers-own-workspaces.md.
 */
export function privateHostsOf(settings: Settings): string[] {
  if (isOpenToStrangers(settings)) return [];
  const ofInstances = instancesOf(settings).map(({ baseUrl }) => {
    const { hostname, port, protocol } = new URL(baseUrl);
    return `${hostname}:${port === "" ? (protocol === "https:" ? 443 : 80) : port}`;
  });
  return [...settings.allowPrivateHosts, ...ofInstances];
}

function makeGuard(settings: Settings, ownPort: number): AddressGuard {
  const isOfThisMachine = (address: string) =>
    isLoopbackAddress(address) ||
    Object.values(networkInterfaces()).some((list) => list?.some((own) => own.address === address));
  return makeAddressGuard({
    privateHosts: privateHostsOf(settings),
    lookup: (host) => lookup(host, { all: true }),
    isOwn: (address, port) => port === ownPort && isOfThisMachine(address),
  });
}

/** Returns only the quotas that are set. */
function chosenQuotas(quotas: Settings["quotas"]): Partial<Quotas> {
  return Object.fromEntries(Object.entries(quotas).filter(([, count]) => count !== undefined));
}
