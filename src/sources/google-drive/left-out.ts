import { isApiError } from "#api/errors.ts";
import { lookAgain } from "#sources/left-out.ts";
import { refusal } from "./refusal.ts";
import type { DriveFile } from "./records.ts";
import { type Event, tellFiles, type Tools } from "./tell.ts";
import { folderRef } from "./tree.ts";

/** Files that are stored in these folders, and that a listing of them did not name: those that are there are told. */
export async function* tellLeftOut(
  tools: Tools,
  folders: readonly string[],
  named: ReadonlySet<string>,
): AsyncGenerator<Event, void> {
  const missing = new Set<string>();
  for (const id of folders) {
    for await (const { externalId } of tools.ctx.stored.list(folderRef(id)))
      if (!named.has(externalId)) missing.add(externalId);
  }
  for await (const { events } of lookAgain([...missing], (ids) => askFor(tools, ids))) yield* events;
}

async function askFor(tools: Tools, ids: readonly string[]): Promise<{ events: Event[]; count: number }> {
  const events: Event[] = [];
  const found: DriveFile[] = [];
  for (const id of ids) {
    tools.ctx.signal.throwIfAborted();
    try {
      const file = await tools.client.find(id);
      if (file && file.trashed !== true) found.push(file);
    } catch (error) {
      if (!isApiError(error, "source_forbidden")) throw error;
      events.push(await refusal(tools, id));
    }
  }
  for await (const event of tellFiles(tools, found)) events.push(event);
  return { events, count: found.length };
}
