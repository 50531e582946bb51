import { numberOf, type Statements } from "./sqlite.ts";

/** The progress of a workspace's index. Readers update their caches by these numbers. */
export interface IndexState {
  no: number;
  generation: number;
  deltaSeq: number;
  compactedSeq: number;
  deltaEpoch: number;
  aclSeq: number;
  analyzerVersion: number;
}

/** Returns the state of a workspace; undefined when nothing was ever indexed in it. */
export function readState(sql: Statements, workspaceId: string): IndexState | undefined {
  const row: unknown = sql(
    `SELECT no, generation, deltaSeq, foldedSeq AS compactedSeq, deltaEpoch, aclSeq, analyzerVersion
     FROM index_state WHERE workspaceId = ?`,
  ).get(workspaceId);
  // The columns of `index_state` have the types that its DDL declares.
  return row as IndexState | undefined;
}

/** Returns the state of a workspace, and creates it if it doesn't exist. */
export function ensureState(sql: Statements, workspaceId: string, analyzerVersion: number): IndexState {
  const known = readState(sql, workspaceId);
  if (known !== undefined) return known;
  sql("INSERT INTO index_state (workspaceId, analyzerVersion) VALUES (?, ?)").run(workspaceId, analyzerVersion);
  const no = numberOf(sql("SELECT no FROM index_state WHERE workspaceId = ?"), workspaceId);
  return { no, generation: 0, deltaSeq: 0, compactedSeq: 0, deltaEpoch: 0, aclSeq: 0, analyzerVersion };
}
