import type { InstanceInput } from "#api/workspace.ts";
import { ApiError, forbidden } from "#api/errors.ts";
import { instanceName, normalizeBaseUrl } from "#core/base-url.ts";
import type { Actor } from "#storage/access/actor.ts";
import type { RegisteredInstance } from "#storage/records/instances.ts";
import type { Store } from "#storage/records/store.ts";

/** Mail domains where anyone can get an address. Such an address doesn't identify a person in a company. Source: S3. */
const CONSUMER_DOMAINS = new Set(
  (
    "gmail.com googlemail.com outlook.com hotmail.com live.com msn.com yahoo.com icloud.com me.com mac.com aol.com gmx.de " +
    "gmx.net gmx.at gmx.ch gmx.com web.de t-online.de freenet.de proton.me protonmail.com pm.me tutanota.com mail.ru " +
    "yandex.ru yandex.com qq.com 163.com 126.com zoho.com fastmail.com hey.com mail.com"
  ).split(" "),
);

/** @throws ApiError `forbidden` unless the actor is an owner, `invalid_request` for a domain of a mail provider */
export function checkDomains(actor: Actor, domains: readonly string[]): string[] {
  if (actor.role !== "owner") {
    throw forbidden("Only an owner of the workspace can change its identity domains.");
  }
  const consumer = domains.find((domain) => CONSUMER_DOMAINS.has(domain));
  if (consumer !== undefined) {
    throw new ApiError("invalid_request", {
      message: `Anyone can get an address at ${consumer}, so it can't say who someone is.`,
      field: "identityDomains",
    });
  }
  return [...new Set(domains)].sort();
}

/** @throws ApiError `invalid_request` for an invalid base URL */
export function checkInstances(instances: readonly InstanceInput[]): RegisteredInstance[] {
  const byKey = new Map<string, RegisteredInstance>();
  for (const { providerId, baseUrl } of instances) {
    const normal = normalizeBaseUrl(baseUrl);
    if (normal === undefined) {
      throw new ApiError("invalid_request", {
        message: `${JSON.stringify(baseUrl)} is not a base URL. Write its address and path, such as https://git.acme.test.`,
        field: "instances",
      });
    }
    byKey.set(`${providerId} ${normal}`, { providerId, baseUrl: normal });
  }
  return [...byKey.values()];
}

/**
 * Replaces the registered instances with these. Connectors of the apps concerned read everything again, because the
 * identities in their items depend on whether kb trusts their server.
 *
 * @returns the changes, for the audit
 */
export async function setInstances(
  tx: Store,
  actor: Actor,
  after: readonly RegisteredInstance[],
  now: number,
): Promise<{ instancesAdded: string[]; instancesRemoved: string[] }> {
  const { instances, connectors, itemWrites } = tx.in(actor.workspaceId);
  const before = await instances.list();
  const added = without(after, before);
  const removed = without(before, after);
  for (const instance of added) await instances.add(instance, actor.userId, now);
  for (const instance of removed) {
    await instances.remove(instance);
    await endJoinsOf(tx, actor.workspaceId, instance, now);
  }
  const concerned = new Set([...added, ...removed].map(({ providerId }) => providerId));
  for (const { connectorId, providerId, everyMinutes } of concerned.size === 0 ? [] : await connectors.list()) {
    if (!concerned.has(providerId)) continue;
    await itemWrites.forgetVersions(connectorId);
    await connectors.update(connectorId, { lastFullAt: null, ...(everyMinutes !== null && { nextRunAt: now }) });
  }
  return { instancesAdded: added.map(toText), instancesRemoved: removed.map(toText) };
}

/** Ends links to users of an instance that is no longer trusted, until it is trusted again. */
async function endJoinsOf(
  tx: Store,
  workspaceId: string,
  { providerId, baseUrl }: RegisteredInstance,
  now: number,
): Promise<void> {
  const { identities } = tx.in(workspaceId);
  const name = encodeURIComponent(instanceName(baseUrl, undefined));
  // If the instance has a tenant, the name continues after a "#".
  for (const prefix of [`user:${providerId}:${name}:`, `user:${providerId}:${name}%23`]) {
    for (const principal of await identities.listJoinedOf(prefix)) {
      await identities.end(principal, { at: now, by: null, reason: "untied" });
    }
  }
}

function without(some: readonly RegisteredInstance[], others: readonly RegisteredInstance[]): RegisteredInstance[] {
  const known = new Set(others.map(toText));
  return some.filter((each) => !known.has(toText(each)));
}

function toText({ providerId, baseUrl }: RegisteredInstance): string {
  return `${providerId} ${baseUrl}`;
}
