import type { AddressGuard } from "#net/address-guard.ts";
import type { SourceHttp } from "#sources/http-contract.ts";
import { makeSourceHttpPool } from "#sources/http/pool.ts";
import { guardOf } from "./net/everywhere.ts";

/** For tests that speak to nobody: every address is refused. */
export const NO_NETWORK: AddressGuard = guardOf(async ({ host }) => {
  throw new Error(`This test has no network, and was asked for ${host}.`);
});

/** For sources that speak to nobody. */
export const NO_HTTP_POOL = makeSourceHttpPool({ guard: NO_NETWORK, now: () => Date.now() });

/** The way out of a source that has none. */
export const NO_HTTP: SourceHttp = NO_HTTP_POOL.for({
  source: { spec: { auth: [{ type: "none" }] } },
  config: {},
  credentials: {},
  signal: new AbortController().signal,
}).http;
