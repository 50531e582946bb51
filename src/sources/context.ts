/** What the methods of a source are called with. */
import type { Principal } from "#core/principals.ts";
import type { SourceConnect, SourceHttp } from "./http-contract.ts";
import type { ContainerRef } from "./item.ts";
import type { SourceMcp } from "./mcp-contract.ts";

/** What a source is called with. `config` is already parsed by its schema. */
export interface SourceContext<Config> {
  config: Config;
  /** `visibility` is the connector's access; absent counts as wider than private. */
  connector: {
    id: string;
    name: string;
    visibility?: "private" | "members" | "workspace" | "source";
    /** The connector's owner. A source with `acl: "connector"` may name them in an access; nobody when it is not told. */
    owner?: Principal;
    /** The instance that its users are of, for `formatPrincipal`; absent in `check` and `browse`, and without `hasPeople`. */
    instance?: string;
  };
  /** The only way to the provider over HTTP. It signs in: a source never has a credential. */
  http: SourceHttp;
  /** A guarded connection for other protocols, for a source whose `spec.ports` names its ports. */
  connect?: SourceConnect;
  /**
   * For what the git program reads, which speaks for itself: decrypted credentials for this remote, never logged. Only where
   * a way to sign in is of scheme `git`, or with `spec.readsGit`. Source: S38.
   *
   * @throws ApiError `address_not_allowed` for a remote that the connector's credentials are not for
   */
  git?: { credentialsFor(url: string): Promise<Readonly<Record<string, string>>> };
  /** For a connector on a connection to a provider server, whose source has `{ type: "connection" }` as a way to sign in. */
  mcp?: SourceMcp;
  signal: AbortSignal;
  /** How long permissions count that are not read again; in a run alone. What ends sooner must not be told as lasting. */
  maxAclAgeMs?: number;
  /** Epoch milliseconds. */
  now(): number;
  log(message: string, fields?: Record<string, unknown>): void;
}

/** What a source is called with in a run. */
export interface SyncContext<Config> extends SourceContext<Config> {
  /** What is stored of the connector: asked for as it is needed, so a run that knows what changed reads little. */
  stored: StoredItems;
  /** What the source keeps between runs besides its cursor. */
  state: SourceState;
}

export interface StoredItems {
  /** What is stored of an item, so that an unchanged one is `seen` instead of read again. Cheap in the order of the ids. */
  version(externalId: string): Promise<string | undefined>;
  /** `accessKeyOf` the access that is stored as the item's own: equal = nothing to tell. */
  accessKey(externalId: string): Promise<string | undefined>;
  /** Every item that has this container in its home chain, by externalId. */
  list(container: ContainerRef): AsyncIterable<{ externalId: string; version?: string }>;
}

/** Small values as JSON. What is put is stored with the next checkpoint; a run that dies before has not put it. */
export interface SourceState {
  get(key: string): Promise<unknown>;
  /**
   * @param key  at most 200 characters
   * @param value  at most 64 KiB as JSON; undefined deletes the key
   */
  put(key: string, value: unknown): void;
}
