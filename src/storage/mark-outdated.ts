import type { WriterClient } from "./handles.ts";
import type { SqlResult } from "./sqlite.ts";

/** A version that no analyzer has. */
const NONE = 0;

/**
 * Marks the index of every workspace for a rebuild from the records. The server's writer does the rebuild; see
 * `makeReindex`. A workspace without an index gets one.
 *
 * @returns the number of workspaces
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
