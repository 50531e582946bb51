import type { AuditRecorder } from "#server/identity/audit/recorder.ts";
import type { Parts } from "#storage/records/parts.ts";
import { existing } from "#api/errors.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store } from "#storage/records/store.ts";
import type { Flows } from "./flows.ts";
import type { AccountLinks } from "./links.ts";
import type { KnownProvider, ProviderBook } from "./providers.ts";
import type { AccountKeeper } from "./tokens.ts";

/** Dependencies of every function about accounts. */
export interface AccountDeps extends Pick<Parts, "store" | "clock" | "randomBytes" | "log"> {
  audit: AuditRecorder;
  book: ProviderBook;
  flows: Flows;
  keeper: AccountKeeper;
  links: AccountLinks;
  /** Requests a run of a connector that resumes after a stop. */
  request(tx: Store, workspaceId: string, connector: ConnectorRecord): Promise<unknown>;
  /** Reports that jobs were queued. */
  wake(): void;
}

/** @throws ApiError `not_found` */
export function requireProvider(book: ProviderBook, providerId: string): KnownProvider {
  return existing(book.find(providerId));
}
