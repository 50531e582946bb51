import type { Authority } from "#core/principals.ts";
import type { Scope } from "#core/scope.ts";
import type { Source, SourceContext } from "#sources/contract.ts";
import { NO_NETWORK, poolOf } from "../network.ts";
import type { AddressGuard } from "#net/address-guard.ts";

/** A source over a remote of its own (real, emulated or made up), and the ways to change that remote. */
export interface KitFixture<Config = unknown, Cursor = unknown> {
  source: Source<Config, Cursor>;
  config: Config;
  /** Configurations that the schema or `check` must refuse; at least one. */
  badConfigs: readonly unknown[];
  /** What the source signs in with; none unless told. */
  credentials?: Readonly<Record<string, string>>;
  /** Lets the source reach its remote; every address is refused unless told. */
  guard?: AddressGuard;
  /** Credentials that `check` must refuse, for sources that take any. */
  badCredentials?: Readonly<Record<string, string>>;
  /** Differs from the kit's own context (an hour after now, no credentials, a workspace connector) where needed. */
  context?: Partial<Pick<SourceContext<Config>, "connector" | "now">>;
  /** What the source may name in access lists. */
  authority: Authority;
  /** How many items the remote holds at least; 6 or more make the resume checks worth something. */
  minItems: number;
  /** A scope that leaves out some of the items, and not all. */
  narrowerScope: Scope;
  /** Each changes the remote and gives the externalId of the item it touched. */
  add(): Promise<string>;
  edit(): Promise<string>;
  remove(): Promise<string>;
  /** Adds items with titles in other scripts, very long, empty or blank as the remote allows; gives their ids. */
  addOdd?(): Promise<readonly string[]>;
}

/** Makes a fixture that shares nothing with any other. */
export type MakeFixture = () => Promise<KitFixture>;

/** The context of a call, with its own abort signal. */
export function contextOf(
  fixture: KitFixture,
  signal: AbortSignal = new AbortController().signal,
): SourceContext<unknown> {
  const { source, config, credentials = {}, guard = NO_NETWORK } = fixture;
  return {
    config,
    connector: { id: fixture.authority.connectorId, name: "Kit", visibility: "workspace" },
    ...poolOf(guard).for({ source, config, credentials, signal }),
    now: () => Date.now(),
    ...fixture.context,
    signal,
    log: () => undefined,
  };
}
