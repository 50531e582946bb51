import { z } from "zod";
import type { ItemWriteStore } from "#storage/records/item-writes.ts";

/** The key of a connector's state in which its unfinished pass is; no source has such a key. */
export const PASS_KEY = "kb:pass";

const Stored = z.object({ passId: z.string(), scopeVersion: z.number() });

/**
 * The pass that the connector's last listing left unfinished: several runs list everything together, each from where the one
 * before stopped. Undefined = the next run begins one. Another scope begins again.
 */
export async function findPass(
  itemWrites: Pick<ItemWriteStore, "findState">,
  { connectorId, scopeVersion }: { connectorId: string; scopeVersion: number },
): Promise<string | undefined> {
  const text = await itemWrites.findState(connectorId, PASS_KEY);
  if (text === undefined) return undefined;
  const stored = Stored.safeParse(JSON.parse(text)).data;
  return stored?.scopeVersion === scopeVersion ? stored.passId : undefined;
}

/** The state with the pass as unfinished, or without one. */
export function passState(pass: { passId: string; scopeVersion: number } | undefined): Record<string, string | null> {
  return { [PASS_KEY]: pass ? JSON.stringify(pass) : null };
}
