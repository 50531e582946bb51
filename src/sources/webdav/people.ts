import type { SourceContext } from "#sources/contract.ts";
import type { IdentityEvent } from "#sources/identity-events.ts";
import { readersGroup, readersOf, type WebdavConfig } from "./config.ts";

/** Who belongs to the one group is what the config says: it is told whole in every run, and costs no request. */
export async function* tellReaders(ctx: SourceContext<WebdavConfig>): AsyncGenerator<IdentityEvent, void> {
  yield { t: "group", group: readersGroup(ctx.connector.id), members: readersOf(ctx.config) };
  yield { t: "end", listing: "complete" };
}
