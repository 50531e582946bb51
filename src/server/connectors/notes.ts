import type { Actor } from "#storage/access/actor.ts";
import type { ConnectorHealth } from "#storage/records/connector-health.ts";
import type { Believing } from "#storage/access/clocks.ts";
import type { Store } from "#storage/records/store.ts";
import { staleOf } from "./view.ts";

/** Notes for a searching agent about the person's own connectors. They contain no text from a source. */
export async function connectorNotes(
  store: Store,
  actor: Actor,
  { now, isSynced }: { now: number; isSynced(providerId: string): boolean },
): Promise<string[]> {
  const { connectorHealth, access } = store.in(actor.workspaceId);
  const own = await connectorHealth.listOwnedBy(actor.userId);
  if (own.length === 0) return [];
  const age = { now, maxAclAgeMs: await access.maxAclAgeMs() };
  return own.flatMap((record) => noteOf(record, age, isSynced(record.providerId)));
}

function noteOf(record: ConnectorHealth, age: Believing, isSynced: boolean): string[] {
  const { name, state, lastFullAt } = record;
  const shown = JSON.stringify(name);
  const stale = staleOf(record, age);
  if (stale?.cause === "refused") return [`Connector ${shown} needs new credentials; its items are hidden until then.`];
  if (stale) return [`Connector ${shown} could not check who can read its items; they are hidden until it can.`];
  if (state === "needs_reauth") return [`Connector ${shown} needs new credentials; its items may be out of date.`];
  if (state === "error") return [`Connector ${shown} can't sync; its items may be out of date.`];
  if (state === "active" && lastFullAt === null && isSynced) {
    return [`Connector ${shown} is still being indexed; later searches may find more.`];
  }
  return [];
}
