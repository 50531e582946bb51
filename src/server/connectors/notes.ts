import type { Actor } from "#storage/access/actor.ts";
import type { ConnectorRecord } from "#storage/records/connectors.ts";
import type { Store } from "#storage/store.ts";

/** What an agent should know of the person's own connectors while it searches; no words of a source. */
export async function connectorNotes(store: Store, actor: Actor): Promise<string[]> {
  const records = await store.in(actor.workspaceId).connectors.list();
  return records.flatMap((record) => (record.ownerUserId === actor.userId ? noteOf(record) : []));
}

function noteOf({ name, state, lastFullAt, providerId }: ConnectorRecord): string[] {
  const shown = JSON.stringify(name);
  if (state === "needs_reauth") return [`Connector ${shown} needs new credentials; its items may be out of date.`];
  if (state === "error") return [`Connector ${shown} can't sync; its items may be out of date.`];
  if (state === "active" && lastFullAt === null && providerId !== "push") {
    return [`Connector ${shown} is still being indexed; later searches may find more.`];
  }
  return [];
}
