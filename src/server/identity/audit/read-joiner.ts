import type { Parts } from "#storage/records/parts.ts";
import type { Schedule } from "./batcher.ts";

/**
 * Milliseconds before reads are joined. A row takes 600 bytes in addition to its IDs. If ten credentials get a row
 * every second, the rows take 104 MB a day; with a row every minute, 42 MB.
 */
const WAIT_MS = 60_000;

/** Makes the joiner for the read rows of all workspaces. Waiting rows are on disk, so a killed process loses none. */
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
    /** Reports that reads of this workspace were written. They are joined within a minute. */
    note(workspaceId: string): void {
      noted.add(workspaceId);
      later();
    },
    /**
     * Joins the rows of the reported workspaces, and of these ones, where an earlier process may have left rows. Never
     * throws.
     */
    join,
  };
}
