import type { WriterClient } from "./handles.ts";
import type { SqlResult } from "./sqlite.ts";

/** A version that no analyzer has. */
const NONE = 0;

/**
 * Marks the index of every workspace as one to be made again from the records: the writer of the server does it, see
 * `makeReindex`. A workspace whose index is not there gets one.
 *
 * @returns how many workspaces that is
 */
export async function markOutdated(writer: WriterClient): Promise<number> {
  const done = await writer.request({
    type: "execute",
    sql: `insert into index_state (workspaceId, analyzerVersion) select "workspaceId", ${NONE} from workspaces where true
      on conflict (workspaceId) do update set analyzerVersion = ${NONE}`,
    parameters: [],
  });
  // The writer answers `execute` with a SqlResult.
  return (done as SqlResult).changes;
}
