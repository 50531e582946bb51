import { storedIds } from "#sources/collect.ts";
import { isApiError } from "#api/errors.ts";
import type { ContainerPage } from "#sources/containers.ts";
import { askAgain } from "#sources/left-out.ts";
import { namelessSkip, type OddRecords } from "#sources/listed.ts";
import { refusal } from "./refusal.ts";
import type { DriveFile } from "./records.ts";
import type { Outcome } from "#sources/outcomes.ts";
import type { PageEntry } from "#sources/session.ts";
import { notUnderstood } from "#sources/unread.ts";
import { entriesOf, unreported, reportNamed, type Tools } from "./report.ts";
import { folderRef } from "./tree.ts";

/** Reports stored files in these folders that a listing did not name, if they still exist. */
export async function* reportLeftOut(
  tools: Tools,
  folders: readonly string[],
  named: ReadonlySet<string>,
): AsyncGenerator<ContainerPage<never>, void> {
  const missing = new Set<string>();
  for (const id of folders) {
    for (const missed of await storedIds(tools.ctx, folderRef(id), (each) => !named.has(each))) missing.add(missed);
  }
  for await (const { events } of askAgain([...missing], (ids) => askFor(tools, ids)))
    yield { t: "page", entries: [...events, ...(await reportNamed(tools))] };
}

async function askFor(tools: Tools, ids: readonly string[]): Promise<{ events: PageEntry[]; count: number }> {
  const events: PageEntry[] = [];
  const found: DriveFile[] = [];
  let failed = 0;
  for (const id of ids) {
    tools.ctx.signal.throwIfAborted();
    try {
      const file = await tools.client.find(id);
      if (file && file.trashed !== true) found.push(file);
    } catch (error) {
      if (isApiError(error, "source_forbidden")) events.push(await refusal(tools, id));
      else {
        events.push(await unreported(tools, id, error));
        failed++;
      }
    }
  }
  events.push(...(await entriesOf(tools, found)));
  return { events, count: found.length + failed };
}

/** Reports listed records that could not be parsed. Those that are stored are requested individually. */
export async function* reportOdd(
  tools: Tools,
  key: string,
  { ids, nameless }: ReturnType<OddRecords["take"]>,
): AsyncGenerator<Outcome, void> {
  for (const id of ids) {
    if ((await tools.ctx.stored.version(id)) === undefined) yield await notUnderstood(tools, id);
  }
  if (nameless > 0) yield namelessSkip(`files of ${key === "" ? "the account" : key}`, nameless, "files");
}
