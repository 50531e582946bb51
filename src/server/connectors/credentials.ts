import { z } from "zod";
import { ApiError } from "#api/errors.ts";
import { actsAsAdmin, type Actor } from "#storage/access/actor.ts";
import type { Source } from "#sources/contract.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store } from "#storage/store.ts";
import type { SealedPlace, Vault } from "#storage/vault.ts";

/** Secrets by their names, as the source's schema takes them. */
export type Credentials = Readonly<Record<string, string>>;

/** The credentials that a connector uses by itself. */
export interface Standing {
  credentials: Credentials;
  /** Made by somebody who is an admin here now. */
  isAdminMade: boolean;
}

/** What connectors sign in with: sealed in the store, opened for their source and for nobody else. */
export interface CredentialKeeper {
  /** What a connector acts with; seals again what an older key has sealed. @throws ApiError `secret_unreadable` */
  standingOf(workspaceId: string, connector: Pick<ConnectorRecord, "connectorId" | "createdBy">): Promise<Standing>;
  /** Who gave the stored ones; undefined when there are none. */
  giverOf(workspaceId: string, connectorId: string): Promise<string | undefined>;
  /** Replaces the stored ones, in the transaction of its reason; none = they are deleted. */
  keep(tx: Store, actor: Actor, connectorId: string, credentials: Credentials): Promise<void>;
  /** Deletes the stored ones. */
  drop(tx: Store, workspaceId: string, connectorId: string): Promise<void>;
}

/** Makes the keeper. */
export function makeCredentialKeeper({
  store,
  vault,
  now,
}: {
  store: Store;
  vault: Vault;
  now: () => number;
}): CredentialKeeper {
  return {
    async standingOf(workspaceId, { connectorId, createdBy }) {
      const workspace = store.in(workspaceId);
      const maker = await workspace.members.find(createdBy);
      const isAdminMade = maker?.role === "owner" || maker?.role === "admin";
      const stored = await workspace.connectors.findCredentials(connectorId);
      if (!stored) return { credentials: {}, isAdminMade };
      const place = placeOf(workspaceId, connectorId);
      const text = vault.open(place, stored.sealed);
      if (vault.isOutdated(stored.sealed)) {
        const sealed = vault.seal(place, text);
        await store.in(workspaceId).connectors.resealCredentials(connectorId, stored.sealed, sealed);
      }
      return { credentials: Stored.parse(JSON.parse(text)), isAdminMade };
    },
    async giverOf(workspaceId, connectorId) {
      return (await store.in(workspaceId).connectors.findCredentials(connectorId))?.givenBy;
    },
    async keep(tx, actor, connectorId, credentials) {
      const { connectors } = tx.in(actor.workspaceId);
      await connectors.deleteCredentials(connectorId);
      if (Object.keys(credentials).length === 0) return;
      const sealed = vault.seal(placeOf(actor.workspaceId, connectorId), JSON.stringify(credentials));
      await connectors.addCredentials({ connectorId, sealed, givenBy: actor.userId, givenAt: now() });
    },
    drop: (tx, workspaceId, connectorId) => tx.in(workspaceId).connectors.deleteCredentials(connectorId),
  };
}

/**
 * Credentials as the source's schema takes them; nothing given is nothing kept. No message repeats a value.
 *
 * @throws ApiError `connector_config_invalid` with the key at fault
 */
export function parseCredentials(source: Source, received: Credentials | undefined): Credentials {
  const { credentials, name } = source.spec;
  if (received === undefined || Object.keys(received).length === 0) return {};
  if (!credentials) throw new ApiError("connector_config_invalid", { message: `${name} does not use credentials.` });
  const result = credentials.safeParse(received);
  if (result.success) return result.data;
  const errors = result.error.issues.map((issue) => ({
    path: ["credentials", ...issue.path.map(String)].join("."),
    message: issue.message,
  }));
  throw new ApiError("connector_config_invalid", {
    message: `The credentials of ${name} are not valid: ${errors[0]?.message ?? "unknown"}`,
    field: errors[0]?.path ?? "credentials",
    errors,
  });
}

/**
 * What speaks for nobody's account is for admins, unless the source says otherwise.
 *
 * @throws ApiError `forbidden` when only an admin may connect this, so; `connector_config_invalid` when the source needs
 *   credentials and has none
 */
export function requireMayConnect(actor: Actor, source: Source, config: unknown, credentials: Credentials): void {
  const hasCredentials = Object.keys(credentials).length > 0;
  const { auth, name } = source.spec;
  const isNeeded = auth.every(({ type }) => type !== "none" && type !== "key");
  if (isNeeded && !hasCredentials) {
    throw new ApiError("connector_config_invalid", { message: `${name} needs credentials.`, field: "credentials" });
  }
  if (actsAsAdmin(actor)) return;
  const isForAdmins = source.isForAdmins?.(config, { hasCredentials }) ?? !hasCredentials;
  if (!isForAdmins) return;
  throw new ApiError("forbidden", {
    message: `Only an admin can connect ${name} without credentials.`,
    hint: "Give your own credentials, or ask an admin.",
  });
}

const Stored = z.record(z.string(), z.string());

function placeOf(workspaceId: string, connectorId: string): SealedPlace {
  return { table: "connector_credentials", row: [workspaceId, connectorId], column: "sealed" };
}
