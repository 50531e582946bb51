import { type Event, folderKey, type Tools } from "./tell.ts";
import { folderRef } from "./tree.ts";

/** What is closed to this account may be open again: nobody reads it until then. */
export async function refusal({ ctx }: Tools, id: string): Promise<Event> {
  const isFolder = (await ctx.state.get(folderKey(id))) !== undefined;
  return { t: "refused", what: isFolder ? { container: folderRef(id) } : { externalId: id }, code: "source_forbidden" };
}
