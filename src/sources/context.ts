/** The arguments of a source's methods. */
import type { Principal } from "#core/principals.ts";
import type { SourceConnect, SourceHttp } from "./http-contract.ts";
import type { ContainerRef } from "./item.ts";
import type { SourceMcp } from "./mcp-contract.ts";

/** The context of every call to a source. `config` is already parsed by its schema. */
export interface SourceContext<Config> {
  config: Config;
  /** `visibility` is the connector's access; absent is treated as wider than private. */
  connector: {
    id: string;
    name: string;
    visibility?: "private" | "members" | "workspace" | "source";
    /** The connector's owner. A source with `acl: "connector"` may name them in an access; absent = no one. */
    owner?: Principal;
    /**
     * The instance its users belong to, for `formatPrincipal`; absent in `check` and `browse`, and without `hasPeople`.
     */
    instance?: string;
  };
  /** The only way to the provider over HTTP. It authenticates requests: a source never has a credential. */
  http: SourceHttp;
  /** A guarded connection for other protocols, for a source that lists its ports in `spec.ports`. */
  connect?: SourceConnect;
  /**
   * Decrypted credentials for this remote, for the git program, which authenticates itself; never logged. Only where a
   * way to sign in is of scheme `git`, or with `spec.readsGit`. Source: S38.
   *
   * @throws ApiError `address_not_allowed` for a remote that the connector's credentials are not for
   */
  git?: { credentialsFor(url: string): Promise<Readonly<Record<string, string>>> };
  /**
   * For a connector on a connection to a provider server, whose source offers `{ type: "connection" }` in its `auth`.
   */
  mcp?: SourceMcp;
  signal: AbortSignal;
  /**
   * How long permissions stay valid without being read again; only in a run. A source must not report access that ends
   * sooner as lasting.
   */
  maxAclAgeMs?: number;
  /** Epoch milliseconds. */
  now(): number;
  log(message: string, fields?: Record<string, unknown>): void;
}

/** The context of a run. */
export interface SyncContext<Config> extends SourceContext<Config> {
  /** The connector's stored items, read on demand, so a run that knows what changed reads little. */
  stored: StoredItems;
  /** Values that the source keeps between runs besides its cursor. */
  state: SourceState;
}

export interface StoredItems {
  /**
   * The stored version of an item, so that an unchanged one is reported as `seen` instead of read again. Cheap in the
   * order of the ids.
   */
  version(externalId: string): Promise<string | undefined>;
  /** `accessKeyOf` the item's own stored access: if equal, there is nothing to report. */
  accessKey(externalId: string): Promise<string | undefined>;
  /** Every item that has this container in its home chain, by externalId. */
  list(container: ContainerRef): AsyncIterable<{ externalId: string; version?: string }>;
}

/** Small values as JSON. A `put` is stored with the next checkpoint; if the run dies before that, it is lost. */
export interface SourceState {
  get(key: string): Promise<unknown>;
  /**
   * @param key  at most 200 characters
   * @param value  at most 64 KiB as JSON; undefined deletes the key
   */
  put(key: string, value: unknown): void;
}
