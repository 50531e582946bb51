import { isApiError } from "#api/errors.ts";
import type { Failures } from "#sources/failures.ts";
import { NOT_UNDERSTOOD } from "#sources/listed.ts";
import type { DriveClient } from "./client.ts";
import type { SharedDrive } from "./records.ts";

interface DriveList {
  found: SharedDrive[];
  ids: readonly string[];
  nameless: number;
  error?: string;
}

/** Lists the shared drives. If Google fails to return the list, My Drive is still read. */
export async function listDrives(client: DriveClient, failures: Failures): Promise<DriveList> {
  try {
    return await client.odd.of(() => client.drives());
  } catch (error) {
    await failures.requireOfOne(error);
    return { found: [], ids: [], nameless: 1, error: isApiError(error) ? error.message : NOT_UNDERSTOOD };
  }
}
