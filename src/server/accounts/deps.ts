import { noSuchThing } from "#api/errors.ts";
import type { Clock, RandomBytes } from "#core/clock.ts";
import type { Log } from "#core/log.ts";
import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store } from "#storage/records/store.ts";
import type { Flows } from "./flows.ts";
import type { AccountLinks } from "./links.ts";
import type { KnownProvider, ProviderBook } from "./providers.ts";
import type { AccountKeeper } from "./tokens.ts";

/** The dependencies of every function about accounts. */
export interface AccountDeps {
  store: Store;
  clock: Clock;
  randomBytes: RandomBytes;
  log: Log;
  audit: AuditRecorder;
  book: ProviderBook;
  flows: Flows;
  keeper: AccountKeeper;
  links: AccountLinks;
  /** Requests a run of a connector that resumes. */
  request(tx: Store, workspaceId: string, connector: ConnectorRecord): Promise<unknown>;
  /** Reports that jobs were queued. */
  wake(): void;
}

/** @throws ApiError `not_found` */
export function requireProvider(book: ProviderBook, providerId: string): KnownProvider {
  const known = book.find(providerId);
  if (!known) throw noSuchThing();
  return known;
}
