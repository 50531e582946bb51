/** The context that a source's methods get. */
import type { Principal } from "#core/principals.ts";
import type { SourceConnect, SourceHttp } from "./http-contract.ts";
import type { ContainerRef } from "./item.ts";
import type { SourceMcp } from "./mcp-contract.ts";

/** The context of every call to a source. `config` is already parsed by its schema. */
export interface SourceContext<Config> {
  config: Config;
  /**
   * `visibility` is the connector's access. If absent, the connector is treated as more widely visible than private.
   */
  connector: {
    id: string;
    name: string;
    visibility?: "private" | "members" | "workspace" | "source";
    /**
     * The connector's owner. A source with `acl: "connector"` may name the owner in an access. Absent = the connector
     * has no owner.
     */
    owner?: Principal;
    /**
     * The instance that the connector's users belong to, for `formatPrincipal`. Absent in `check` and `browse`, and for
     * sources without `hasPeople`.
     */
    instance?: string;
  };
  /** The only HTTP client for the provider. It authenticates requests, so a source never gets a credential. */
  http: SourceHttp;
  /** A guarded connection for other protocols, for a source that lists its ports in `spec.ports`. */
  connect?: SourceConnect;
  /**
   * Decrypted credentials for this remote, for the git program, which authenticates itself. They are never logged.
   * Present only if a way to sign in has the scheme `git`, or with `spec.readsGit`. Source: S38.
   *
   * @throws ApiError `address_not_allowed` for a remote that the connector's credentials don't belong to
   */
  git?: { credentialsFor(url: string): Promise<Readonly<Record<string, string>>> };
  /**
   * The provider server, for a connector that uses a connection. Its source offers `{ type: "connection" }` in `auth`.
   */
  mcp?: SourceMcp;
  signal: AbortSignal;
  /**
   * How long permissions stay valid without being read again. Present only in a run. A source must not report access
   * that ends before this time has passed, because the access would outlive its end.
   */
  maxAclAgeMs?: number;
  /** Epoch milliseconds. */
  now(): number;
  log(message: string, fields?: Record<string, unknown>): void;
}

/** The context of a run. */
export interface SyncContext<Config> extends SourceContext<Config> {
  /** The connector's stored items, read on demand. A run that knows what changed therefore reads little. */
  stored: StoredItems;
  /** Values that the source keeps between runs in addition to its cursor. */
  state: SourceState;
}

export interface StoredItems {
  /**
   * Returns the stored version of an item, so that an unchanged item is reported as `seen` instead of being read again.
   * Lookups in the order of the ids are cheap.
   */
  version(externalId: string): Promise<string | undefined>;
  /** Returns the `accessKeyOf` of the item's own stored access. If the key is unchanged, there is nothing to report. */
  accessKey(externalId: string): Promise<string | undefined>;
  /** Lists every item that has this container in its home chain, by externalId. */
  list(container: ContainerRef): AsyncIterable<{ externalId: string; version?: string }>;
}

/**
 * Small JSON values. A `put` is stored with the next checkpoint. If the run crashes before that checkpoint, the value
 * is lost.
 */
export interface SourceState {
  get(key: string): Promise<unknown>;
  /**
   * @param key  at most 200 characters
   * @param value  at most 64 KiB as JSON; undefined deletes the key
   */
  put(key: string, value: unknown): void;
}
