import { AccessLog } from "./access-log.ts";
import type { Columns } from "./columns.ts";
import { findKbId, findKbIds, type KbIdHeads, makeKbIdHeads, type SortedKbIds } from "./kb-ids.ts";
import type { PostingCache } from "./posting-cache.ts";
import type { PostingList } from "./posting-list.ts";
import { decodePostings } from "./postings.ts";
import { packKey } from "./schema.ts";
import { hasBit, openColumns, setBit } from "./segment-files.ts";
import type { SegmentRow } from "./segments.ts";
import { blobOf, type Statements } from "./sqlite.ts";

/** A range of at most 65,536 documents as an evaluation sees it, on disk or in memory. */
export interface SegmentView {
  /** `columns.acl` is 0 for dead documents and for documents that are open to no one: neither is ever visible. */
  readonly columns: Columns;
  /** The changes of `columns.acl` since the documents were added. */
  readonly accessLog: AccessLog;
  /** Returns the posting list of a term; `termId` is its number in the workspace, if it has one. */
  postings(term: string, termId: number | undefined): PostingList | undefined;
}

/** A segment on disk. Columns and postings are read on first use; columns stay in memory. */
export class BaseSegment implements SegmentView {
  readonly number: number;
  readonly columns: Columns;
  readonly accessLog = new AccessLog();
  readonly #dead: Uint8Array;
  readonly #sql: Statements;
  readonly #cache: PostingCache;
  #heads: KbIdHeads | undefined;

  constructor(sql: Statements, row: SegmentRow, cache: PostingCache) {
    this.#sql = sql;
    this.#cache = cache;
    this.number = row.segment;
    this.columns = openColumns(sql, row.segment, row.docs);
    this.#dead = new Uint8Array(Math.ceil(row.docs / 8));
  }

  postings(_term: string, termId: number | undefined): PostingList | undefined {
    if (termId === undefined) return undefined;
    const key = packKey(this.number, termId);
    return this.#cache.get(key, () => {
      const data = blobOf(this.#sql("SELECT data FROM index_postings WHERE id = ?"), key);
      return data && decodePostings(data);
    });
  }

  /** Returns the local id of the living document with this kbId (as UTF-8), or -1. */
  find(key: Uint8Array): number {
    const id = findKbId(this.columns, key, this.heads);
    return id < 0 || hasBit(this.#dead, id) ? -1 : id;
  }

  /**
   * Like `find`, for many kbIds: `visit` gets the position of each that exists. `sorted` must have the `skip` of the
   * heads.
   */
  findAll(sorted: SortedKbIds, visit: (place: number, id: number) => void): void {
    findKbIds(this.columns, this.heads, sorted, (place, id) => {
      if (!hasBit(this.#dead, id)) visit(place, id);
    });
  }

  get heads(): KbIdHeads {
    return (this.#heads ??= makeKbIdHeads(this.columns));
  }

  /** Marks a document dead permanently. */
  kill(id: number): void {
    setBit(this.#dead, id);
    this.setAcl(id, 0);
  }

  /** Marks the dead documents of the manifest. A dead document stays dead. */
  killAll(dead: Uint8Array): void {
    for (let byte = 0; byte < dead.length; byte++) {
      if (dead[byte] === this.#dead[byte]) continue;
      for (let id = byte * 8; id < byte * 8 + 8; id++) {
        if (hasBit(dead, id) && !hasBit(this.#dead, id)) this.kill(id);
      }
    }
  }

  setAcl(id: number, aclId: number): void {
    if ((this.columns.acl[id] ?? 0) === aclId) return;
    this.accessLog.add(id);
    this.columns.acl[id] = aclId;
  }
}
