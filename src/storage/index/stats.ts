import type { IndexStats } from "#storage/search-index.ts";
import { keysOf } from "./schema.ts";
import { readManifest } from "./segments.ts";
import { numberOf, type Statements } from "./sqlite.ts";
import { readState } from "./state.ts";

/** Size and shape of a workspace's index. */
export interface EmbeddedIndexStats extends IndexStats {
  segments: number;
  deltaDocuments: number;
  deadDocuments: number;
  generation: number;
}

/** Reads size and shape. `documents` counts an item twice when a delta row replaces its older version. */
export function readStats(sql: Statements, workspaceId: string): EmbeddedIndexStats {
  const state = readState(sql, workspaceId);
  if (state === undefined) {
    return { documents: 0, segments: 0, deltaDocuments: 0, deadDocuments: 0, generation: 0, bytes: 0 };
  }
  const manifest = readManifest(sql, state.no);
  const range = keysOf(state.no, state.compactedSeq);
  const deltaDocuments = numberOf(
    sql("SELECT count(*) FROM index_delta WHERE id > ? AND id <= ? AND document IS NOT NULL"),
    ...range,
  );
  const deltaBytes = numberOf(
    sql("SELECT sum(length(document) + length(terms) + length(weights)) FROM index_delta WHERE id > ? AND id <= ?"),
    ...range,
  );
  const sum = (pick: (row: (typeof manifest)[number]) => number) =>
    manifest.reduce((total, row) => total + pick(row), 0);
  return {
    documents: sum((row) => row.docs - row.deadCount) + deltaDocuments,
    segments: manifest.length,
    deltaDocuments,
    deadDocuments: sum((row) => row.deadCount),
    generation: state.generation,
    bytes: sum((row) => row.bytes) + deltaBytes,
  };
}
