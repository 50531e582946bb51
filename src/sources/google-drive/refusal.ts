import type { Outcome } from "#sources/outcomes.ts";
import { folderKey, type Tools } from "./report.ts";
import { folderRef } from "./tree.ts";

/**
 * Builds the event for an item that this account can't see. The item may become visible again, but no one can read it
 * until then.
 */
export async function refusal({ ctx }: Tools, id: string): Promise<Outcome> {
  const isFolder = (await ctx.state.get(folderKey(id))) !== undefined;
  return { t: "refused", what: isFolder ? { container: folderRef(id) } : { externalId: id }, code: "source_forbidden" };
}
