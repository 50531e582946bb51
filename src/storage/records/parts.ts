import type { Clock, RandomBytes } from "#core/clock.ts";
import type { Log } from "#core/log.ts";
import type { Store } from "./store.ts";
import type { Vault } from "#storage/vault.ts";

/** The parts that services are made of; each names those that it takes. */
export interface Parts {
  store: Store;
  clock: Clock;
  randomBytes: RandomBytes;
  log: Log;
  vault: Vault;
}
