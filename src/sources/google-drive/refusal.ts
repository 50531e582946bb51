import type { Outcome } from "#sources/outcomes.ts";
import { folderKey, type Tools } from "./report.ts";
import { folderRef } from "./tree.ts";

/** An item that this account can't see may become visible again: no one reads it until then. */
export async function refusal({ ctx }: Tools, id: string): Promise<Outcome> {
  const isFolder = (await ctx.state.get(folderKey(id))) !== undefined;
  return { t: "refused", what: isFolder ? { container: folderRef(id) } : { externalId: id }, code: "source_forbidden" };
}
