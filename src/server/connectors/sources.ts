import { z } from "zod";
import { ApiError, forbidden } from "#api/errors.ts";
import type { SourceKind } from "#api/connector-records.ts";
import { closest } from "#core/edit-distance.ts";
import { defined } from "#core/defined.ts";
import type { KindLinks } from "#core/link-rules.ts";
import { redact } from "#core/redact.ts";
import { type Actor, actsAsAdmin } from "#storage/access/actor.ts";
import type { SourceContext } from "#sources/context.ts";
import { originOf, type Source } from "#sources/contract.ts";
import type { WorkspaceStore } from "#storage/records/store.ts";
import { type Credentials, parseCredentials, type ConnectorCredentials } from "./credentials.ts";
import { type ConnectorDeps, requireSource } from "./deps.ts";

/** The longest time that a person waits for a check or a list of nodes, in milliseconds. */
const ASK_MS = 30_000;

/** Lists every source kind, and whether it can be connected here. */
export async function listSources({ sources }: Pick<ConnectorDeps, "sources">): Promise<{ sources: SourceKind[] }> {
  const kinds = await Promise.all((await sources.list()).map(toKind));
  return { sources: kinds.sort((a, b) => (a.name < b.name ? -1 : 1)) };
}

interface ConnectionInput {
  credentials?: unknown;
  accountId?: unknown;
  connectionId?: unknown;
}

/**
 * Returns the source if this person may connect it here with these credentials.
 *
 * @throws ApiError `provider_unknown`, `provider_unavailable`, `forbidden`, `connector_config_invalid`
 */
export async function requireUsable(
  { sources }: Pick<ConnectorDeps, "sources">,
  actor: Actor,
  { providerId, ...input }: { providerId: string } & ConnectionInput,
): Promise<Source> {
  const source = await requireSource(sources, providerId);
  const { auth, name } = source.spec;
  const types = new Set(auth.map(({ type }) => type));
  const takesCredentials = types.has("credentials");
  const takesAccount = types.has("account");
  // Only admins may connect a source that reads the server's own machine or needs no account.
  const needsPerson = takesCredentials || takesAccount || types.has("connection");
  if (!needsPerson && !source.isForAdmins && !actsAsAdmin(actor)) {
    throw forbidden(`Only an admin can connect ${name}.`);
  }
  const reason = await source.unavailable?.();
  if (reason !== undefined) throw new ApiError("provider_unavailable", { message: reason, field: "providerId" });
  const field = (["credentials", "accountId", "connectionId"] as const).find(
    (key) =>
      input[key] !== undefined &&
      !(takesCredentials && key === "credentials") &&
      !(takesAccount && key === "accountId") &&
      !(types.has("connection") && key === "connectionId"),
  );
  if (field !== undefined) {
    throw new ApiError("connector_config_invalid", { message: `${name} does not use ${field}.`, field });
  }
  const sent = (["accountId", "connectionId", "credentials"] as const).filter((key) => input[key] !== undefined);
  if (sent.length > 1) {
    throw new ApiError("connector_config_invalid", {
      message: "Give only one of these: credentials, an account or a connection.",
      ...defined({ field: sent[0] }),
    });
  }
  return source;
}

/**
 * Returns the credentials for a check or a list of nodes: those in the body, used with the rights of the person who
 * asks. Only its owner may use an account or a connection. Source: S5.
 *
 * @throws ApiError `connector_config_invalid`, also for an account that isn't theirs
 */
export async function credentialsOfActor(
  { accounts, connections }: Pick<ConnectorDeps, "accounts" | "connections">,
  actor: Actor,
  source: Source,
  input: { credentials?: Credentials | undefined; accountId?: string | undefined; connectionId?: string | undefined },
): Promise<ConnectorCredentials> {
  const isAdminMade = actsAsAdmin(actor);
  const { accountId, connectionId } = input;
  if (connectionId !== undefined) {
    await connections.requireOwn(actor, connectionId);
    const mcp = await connections.wayOf(actor.workspaceId, connectionId);
    return { credentials: {}, connectionId, mcp, isAdminMade };
  }
  if (accountId === undefined) return { credentials: parseCredentials(source, input.credentials), isAdminMade };
  const way = source.spec.auth.find(({ type }) => type === "account");
  const providerId = (way?.type === "account" ? way.provider : undefined) ?? source.spec.providerId;
  return { credentials: {}, account: await accounts.own(actor, accountId, providerId), isAdminMade };
}

/**
 * Checks that an account is used only for its own instance. A config with another address is refused before any
 * request.
 *
 * @throws ApiError `connector_config_invalid`
 */
export function requireAccountPlace(
  source: Source,
  config: unknown,
  { account }: Pick<ConnectorCredentials, "account">,
): void {
  const origin = originOf(source, config);
  if (account === undefined || origin === undefined || account.origins.includes(origin)) return;
  throw new ApiError("connector_config_invalid", {
    message: `This account is for ${account.origins[0] ?? "another instance"}, and the config leads to ${origin}. Leave the address out to use the account's.`,
    field: "accountId",
  });
}

/**
 * Adds the address of the account's instance to a config without an address. The key with `fromAccount` receives it.
 */
export function withAccountPlace(
  { spec }: Pick<Source, "spec">,
  config: Record<string, unknown>,
  { account }: Pick<ConnectorCredentials, "account">,
): Record<string, unknown> {
  const place = account?.place;
  if (place === undefined) return config;
  const { properties = {} } = z.toJSONSchema(spec.config, { io: "input" });
  const own = Object.entries(properties).flatMap(([key, schema]) => {
    const from = typeof schema === "object" ? schema["fromAccount"] : undefined;
    return from === "baseUrl" || from === "apiUrl" ? [[key, place[from]] as const] : [];
  });
  return { ...Object.fromEntries(own), ...config };
}

/** @throws ApiError `connector_config_invalid`, which names every invalid field */
export function parseConfig(source: Source, config: Record<string, unknown>): Record<string, unknown> {
  const result = source.spec.config.safeParse(config);
  // A source's config is an object by contract.
  if (result.success) return result.data as Record<string, unknown>;
  const errors = result.error.issues.flatMap((issue) => {
    const path = ["config", ...issue.path.map(String)];
    if (issue.code === "unrecognized_keys") return issue.keys.map((key) => unknownSetting(source, [...path, key]));
    const message = isMissing(issue, config) ? "This setting is required." : issue.message;
    return [{ path: path.join("."), message }];
  });
  const [first = { path: "config", message: "It is not an object." }] = errors;
  throw new ApiError("connector_config_invalid", {
    message: `The config of ${source.spec.name} is not valid. "${first.path}": ${first.message}`,
    field: first.path,
    errors,
  });
}

/** Reports an unknown setting of the source's own schema, with the known settings. */
function unknownSetting({ spec }: Source, path: readonly string[]): { path: string; message: string } {
  const known = path.length === 2 ? Object.keys(z.toJSONSchema(spec.config, { io: "input" }).properties ?? {}) : [];
  const key = path.at(-1) ?? "";
  const near = closest(key, known, Math.floor(key.length / 3));
  const settings = known.length === 0 ? "" : ` Its settings: ${known.join(", ")}.`;
  const next = near === undefined ? settings : ` Did you mean "${near}"?`;
  return { path: path.join("."), message: `There is no such setting.${next}` };
}

function isMissing({ code, path: [key, ...below] }: z.core.$ZodIssue, config: Record<string, unknown>): boolean {
  return code === "invalid_type" && typeof key === "string" && below.length === 0 && config[key] === undefined;
}

/** The identity of a connector's account, as the source's server reports it. */
export interface CheckedAccount {
  tenantId: string | undefined;
  accountId: string | undefined;
  scopes: readonly string[] | undefined;
}

/** Stores a connector's identity, in the transaction of the change that causes it. */
export async function keepCheckedAccount(
  { instances, connectors }: Pick<WorkspaceStore, "instances" | "connectors">,
  connectorId: string,
  checked: CheckedAccount,
): Promise<void> {
  await instances.setTenant(connectorId, checked.tenantId);
  await connectors.setAccount(connectorId, checked);
}

/**
 * Checks at the source whether it can be used with these settings.
 *
 * @returns the identity that the server reports, and the source's warnings
 * @throws ApiError `connector_check_failed`, which names the invalid field, and the source's own errors
 */
export async function checkSource(
  deps: Pick<ConnectorDeps, "clock" | "log" | "http">,
  source: Source,
  config: Record<string, unknown>,
  connector: { id: string; name: string } & ConnectorCredentials,
): Promise<{ checked: CheckedAccount; warnings?: string[] }> {
  const result = await source.check(makeContext(deps, source, config, connector));
  if (result.ok) {
    const { tenantId, accountId, scopes, warnings = [] } = result;
    return { checked: { tenantId, accountId, scopes }, ...(warnings.length > 0 && { warnings: warnings.map(redact) }) };
  }
  const { code, message, hint, field } = result.problem;
  throw new ApiError("connector_check_failed", {
    message: redact(message),
    // This text is from kb, not from the source: a person pastes a path from it.
    ...defined({ hint }),
    ...(field !== undefined && { field: /^(?:config|credentials)(?:\.|$)/.test(field) ? field : `config.${field}` }),
    details: { problem: code },
  });
}

/** Makes the context for calls of the source. @throws ApiError `connector_config_invalid` */
export function makeContext(
  { clock, log, http }: Pick<ConnectorDeps, "clock" | "log" | "http">,
  source: Source,
  config: Record<string, unknown>,
  { credentials, account, mcp, id, name }: { id: string; name: string } & ConnectorCredentials,
): SourceContext<unknown> {
  const parsed = parseConfig(source, config);
  const signal = AbortSignal.timeout(ASK_MS);
  return {
    config: parsed,
    connector: { id, name },
    ...http.for({ source, config: parsed, credentials, ...defined({ account }), signal }),
    ...defined({ mcp }),
    signal,
    now: () => clock.now(),
    log: (message, fields) => log.info({ providerId: source.spec.providerId, ...fields }, message),
  };
}

/** Whether connectors of this source have keys, with which others send items. */
export function takesKey({ auth }: Pick<Source["spec"], "auth">): boolean {
  return auth.some(({ type }) => type === "key");
}

/** Returns a source kind's rules for addresses. If connectors of the kind have keys, items are pushed to them. */
export function linksOf({ spec }: Pick<Source, "spec">): KindLinks {
  return { ...spec.links, providerId: spec.providerId, isPushed: takesKey(spec) };
}

/** Returns one method for clients that expect a single value: the one that needs the most steps by a person. */
function mainAuthOf(auth: Source["spec"]["auth"]): SourceKind["auth"] {
  const types = new Set(auth.map(({ type }) => type));
  return (["connection", "account", "credentials", "key"] as const).find((type) => types.has(type)) ?? "none";
}

async function toKind(source: Source): Promise<SourceKind> {
  const { providerId, name, kinds, auth, acl, isForOwner, config, credentials } = source.spec;
  const reason = await source.unavailable?.();
  const capabilities: SourceKind["capabilities"] = [];
  if (source.sessions) capabilities.push("sync");
  if (source.browse) capabilities.push("browse");
  if (source.fetchContent) capabilities.push("content");
  if (source.inScope) capabilities.push("scope");
  if (takesKey(source.spec)) capabilities.push("push");
  if (source.webhook) capabilities.push("webhook");
  return {
    providerId,
    name,
    kinds: [...kinds],
    auth: mainAuthOf(auth),
    authTypes: [...new Set(auth.map(({ type }) => type))],
    configSchema: z.toJSONSchema(config, { io: "input" }),
    ...(credentials && { credentialsSchema: z.toJSONSchema(credentials, { io: "input" }) }),
    acl,
    capabilities,
    available: reason === undefined,
    ...defined({ isForOwner, reason }),
  };
}
