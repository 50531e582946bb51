import { numberOf, type Statements } from "./sqlite.ts";

/** Progress of a workspace's index. Readers update their caches by these numbers. */
export interface IndexState {
  no: number;
  generation: number;
  deltaSeq: number;
  compactedSeq: number;
  deltaEpoch: number;
  aclSeq: number;
  analyzerVersion: number;
}

/** Returns the state of a workspace, or undefined when nothing was ever indexed in it. */
export function readState(sql: Statements, workspaceId: string): IndexState | undefined {
  const row: unknown = sql(
    `SELECT no, generation, deltaSeq, foldedSeq AS compactedSeq, deltaEpoch, aclSeq, analyzerVersion
     FROM index_state WHERE workspaceId = ?`,
  ).get(workspaceId);
  // Columns of `index_state` as its DDL declares them.
  return row as IndexState | undefined;
}

/** Returns the state of a workspace, and creates it if there is none. */
export function ensureState(sql: Statements, workspaceId: string, analyzerVersion: number): IndexState {
  const known = readState(sql, workspaceId);
  if (known !== undefined) return known;
  sql("INSERT INTO index_state (workspaceId, analyzerVersion) VALUES (?, ?)").run(workspaceId, analyzerVersion);
  const no = numberOf(sql("SELECT no FROM index_state WHERE workspaceId = ?"), workspaceId);
  return { no, generation: 0, deltaSeq: 0, compactedSeq: 0, deltaEpoch: 0, aclSeq: 0, analyzerVersion };
}
