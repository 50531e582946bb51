import { type Columns, ColumnsBuilder, KIND_CODES, STATUS_CODES } from "#storage/index/columns.ts";
import { compareKbIds, kbIdAt } from "#storage/index/kb-ids.ts";
import { decodePostings, encodePostings, NO_POSTINGS, type Postings, unitePostings } from "#storage/index/postings.ts";
import { keysOf, lowOf, packKey } from "#storage/index/schema.ts";
import { hasBit, loadColumns, saveColumns } from "#storage/index/segment-files.ts";
import { closeSegment, ROW_OVERHEAD } from "./segment-writer.ts";
import type { SegmentRow } from "#storage/index/segments.ts";
import type { Statements } from "#storage/index/sqlite.ts";

interface Input {
  row: SegmentRow;
  columns: Columns;
  /** The new local id of each document; -1 = the document is dead. */
  target: Int32Array;
}

/** Posting rows that are read at once from each input. */
const BATCH = 64;

/**
 * Writes the living documents of several segments into a new one, in steps of a few milliseconds (a generator, like
 * `writeSegment`). Documents stay in ascending order of kbId. Returns the number of documents, and the terms that no
 * living document of these segments has.
 */
export function* mergeSegments(
  sql: Statements,
  segment: number,
  rows: readonly SegmentRow[],
): Generator<void, { docs: number; vanished: number[] }> {
  const inputs: Input[] = [];
  for (const row of rows) {
    const columns = loadColumns(sql, row.segment, row.docs);
    inputs.push({ row, columns, target: new Int32Array(row.docs).fill(-1) });
    yield;
  }
  const columns = yield* mergeColumns(inputs);
  yield;
  const { bytes, vanished } = yield* mergePostings(sql, segment, inputs);
  closeSegment(sql, segment, columns.docs, bytes + saveColumns(sql, segment, columns));
  return { docs: columns.docs, vanished };
}

function* mergeColumns(inputs: readonly Input[]): Generator<void, Columns> {
  const builder = new ColumnsBuilder(1024);
  const next = inputs.map((input) => nextLive(input, 0));
  for (let count = 1; ; count++) {
    const from = smallest(inputs, next);
    const input = inputs[from];
    const id = next[from];
    if (input === undefined || id === undefined) return builder.columns;
    input.target[id] = copyDocument(builder, input.columns, id);
    next[from] = nextLive(input, id + 1);
    if (count % 256 === 0) yield;
  }
}

function nextLive({ row, columns }: Input, from: number): number {
  let id = from;
  while (id < columns.docs && row.dead !== undefined && hasBit(row.dead, id)) id++;
  return id;
}

/** Returns the input whose next document has the smallest kbId; -1 when all inputs are finished. */
function smallest(inputs: readonly Input[], next: readonly number[]): number {
  let best = -1;
  inputs.forEach(({ columns }, i) => {
    const id = next[i] ?? columns.docs;
    if (id >= columns.docs) return;
    const champion = inputs[best];
    if (champion === undefined || compareKbIds(columns, id, champion.columns, next[best] ?? 0) < 0) best = i;
  });
  return best;
}

function copyDocument(builder: ColumnsBuilder, columns: Columns, id: number): number {
  const { origins, people } = columns;
  const origin = origins.values[origins.codes[id] ?? 0];
  const kind = KIND_CODES[columns.kinds[id] ?? 0];
  if (origin === undefined || kind === undefined) throw new Error(`Document ${id} of a segment has no origin or kind`);
  const persons: string[] = [];
  for (let at = people.starts[id] ?? 0; at < (people.starts[id + 1] ?? 0); at++) {
    persons.push(people.values[people.codes[at] ?? 0] ?? "");
  }
  return builder.add(
    {
      ...origin,
      kbId: kbIdAt(columns, id),
      kind,
      status: STATUS_CODES[columns.statuses[id] ?? 255] ?? null,
      length: columns.lengths[id] ?? 0,
      updatedAt: known(columns.updatedAt[id]),
      createdAt: known(columns.createdAt[id]),
      dueAt: known(columns.dueAt[id]),
      people: persons,
    },
    columns.acl[id] ?? 0,
  );
}

function known(time: number | undefined): number | null {
  return time === undefined || Number.isNaN(time) ? null : time;
}

function* mergePostings(
  sql: Statements,
  segment: number,
  inputs: readonly Input[],
): Generator<void, { bytes: number; vanished: number[] }> {
  const vanished: number[] = [];
  const insert = sql("INSERT INTO index_postings (id, data) VALUES (?, ?)");
  const cursors = inputs.map((input) => ({ input, ...makeCursor(sql, input.row.segment) }));
  let bytes = 0;
  for (let count = 1; ; count++) {
    const termId = Math.min(...cursors.map((cursor) => cursor.peek()));
    if (termId === Infinity) return { bytes, vanished };
    const lists: Postings[] = [];
    for (const cursor of cursors) if (cursor.peek() === termId) lists.push(remap(cursor.take(), cursor.input.target));
    const merged = unitePostings(lists.filter((list) => list.ids.length > 0));
    if (merged.ids.length > 0) {
      const blob = encodePostings(merged);
      insert.run(packKey(segment, termId), blob);
      bytes += blob.length + ROW_OVERHEAD;
    } else vanished.push(termId);
    if (count % 8 === 0) yield;
  }
}

/**
 * Reads the posting rows of a segment in order of termId. Runs a query for each batch, so that no statement stays open.
 */
function makeCursor(sql: Statements, segment: number) {
  const [first, last] = keysOf(segment);
  let after = first;
  let batch: { id: number; data: Uint8Array }[] = [];
  let at = 0;
  const fill = () => {
    if (at < batch.length) return;
    batch = sql("SELECT id, data FROM index_postings WHERE id > ? AND id <= ? ORDER BY id LIMIT ?").all(
      after,
      last,
      BATCH,
    );
    at = 0;
    after = batch.at(-1)?.id ?? last;
  };
  return {
    /** Returns the next termId, or Infinity. */
    peek(): number {
      fill();
      const row = batch[at];
      return row === undefined ? Infinity : lowOf(row.id);
    },
    take(): Postings {
      fill();
      const row = batch[at++];
      return row === undefined ? NO_POSTINGS : decodePostings(row.data);
    },
  };
}

function remap({ ids, weights }: Postings, target: Int32Array): Postings {
  const newIds = new Uint16Array(ids.length);
  const newWeights = new Uint8Array(ids.length);
  let count = 0;
  for (let i = 0; i < ids.length; i++) {
    const id = target[ids[i] ?? 0] ?? -1;
    if (id < 0) continue;
    newIds[count] = id;
    newWeights[count++] = weights[i] ?? 0;
  }
  return { ids: newIds.subarray(0, count), weights: newWeights.subarray(0, count) };
}
