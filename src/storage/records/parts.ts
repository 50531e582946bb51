import type { Clock, RandomBytes } from "#core/clock.ts";
import type { Log } from "#core/log.ts";
import type { Store } from "./store.ts";
import type { Vault } from "#storage/vault.ts";

/** The parts of which services are made. Each service names the parts that it needs. */
export interface Parts {
  store: Store;
  clock: Clock;
  randomBytes: RandomBytes;
  log: Log;
  vault: Vault;
}
