import { z } from "zod";
import type { ItemWriteStore } from "#storage/records/item-writes.ts";
import type { SyncMode } from "#storage/records/syncs.ts";

/** The key in a connector's state that stores its unfinished pass. No source uses this key. */
const PASS_KEY = "kb:pass";

/** Several runs that together list everything. Each continues where the previous one stopped. */
export interface Pass {
  /** The id of the pass's first run. */
  passId: string;
  /** The mode of the pass's runs. A run that reads only changes isn't part of a full listing. */
  mode: "full" | "incremental";
  /** The number of runs so far that stopped at a limit. */
  runs: number;
}

const Stored = z.object({
  passId: z.string(),
  scopeVersion: z.number(),
  mode: z.enum(["full", "incremental"]).default("full"),
  runs: z.number().default(1),
});

/**
 * Returns the pass that the connector's last listing left unfinished; undefined = the next run begins a pass. After a
 * change of scope, a new pass begins.
 */
export async function findPass(
  itemWrites: Pick<ItemWriteStore, "findState">,
  { connectorId, scopeVersion, cursor }: { connectorId: string; scopeVersion: number; cursor: unknown },
): Promise<Pass | undefined> {
  if (cursor === null) return undefined;
  const text = await itemWrites.findState(connectorId, PASS_KEY);
  if (text === undefined) return undefined;
  const stored = Stored.safeParse(JSON.parse(text)).data;
  return stored?.scopeVersion === scopeVersion ? stored : undefined;
}

/** Returns the pass that a run continues or begins; undefined for a run that doesn't list everything. */
export async function passOf(
  itemWrites: Pick<ItemWriteStore, "findState">,
  connector: { connectorId: string; scopeVersion: number; cursor: unknown },
  { syncId, mode }: { syncId: string; mode: SyncMode },
): Promise<Pass | undefined> {
  if (mode !== "full" && mode !== "incremental") return undefined;
  const unfinished = await findPass(itemWrites, connector);
  return unfinished?.mode === mode ? unfinished : { passId: syncId, mode, runs: 0 };
}

/** Returns the state that stores the pass as unfinished, or that stores no pass. */
export function passState(pass: Pass | undefined, scopeVersion: number): Record<string, string | null> {
  return { [PASS_KEY]: pass ? JSON.stringify({ ...pass, scopeVersion }) : null };
}
