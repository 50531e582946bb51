import type { Parts } from "#storage/records/parts.ts";
import type { Schedule } from "./batcher.ts";

/**
 * A row costs 600 bytes besides its IDs: ten credentials with one row each second take 104 MB a day, each minute 42.
 */
const WAIT_MS = 60_000;

/** Makes the joiner of every workspace's reads. Waiting rows are on disk: a kill loses none. */
export function makeReadJoiner({
  store,
  log,
  schedule,
}: Pick<Parts, "store" | "log"> & {
  schedule: Schedule;
}) {
  const noted = new Set<string>();
  let isScheduled = false;
  let joining: Promise<void> = Promise.resolve();

  function later(): void {
    if (isScheduled) return;
    isScheduled = true;
    schedule(() => {
      isScheduled = false;
      void join();
    }, WAIT_MS);
  }

  async function joinAll(workspaceIds: readonly string[]): Promise<void> {
    for (const workspaceId of new Set([...noted, ...workspaceIds])) {
      noted.delete(workspaceId);
      try {
        await store.in(workspaceId).audit.joinReads();
      } catch (error) {
        log.error({ workspaceId, err: error }, "reads can't be joined into the audit");
        noted.add(workspaceId);
        later();
      }
    }
  }

  function join(workspaceIds: readonly string[] = []): Promise<void> {
    joining = joining.then(() => joinAll(workspaceIds));
    return joining;
  }

  return {
    /** Reports that reads of this workspace were written: they are joined within a minute. */
    note(workspaceId: string): void {
      noted.add(workspaceId);
      later();
    },
    /** Joins the workspaces noted, and these ones, where an earlier process may have left rows. Never throws. */
    join,
  };
}
