import { AccessCodes } from "#storage/access/access-codes.ts";
import { newAccesses } from "#storage/access/decision-sql.ts";
import { decodeAccesses } from "./access-chunks.ts";
import { keysOf, lowOf } from "#storage/index/schema.ts";
import { numberOf, type Statements, textOf } from "#storage/index/sqlite.ts";

const NEW_ACCESSES = newAccesses(20_000);

/** The lists of every access of a workspace as the open transaction sees them, read from chunks and rows. */
export class AccessTable extends AccessCodes {
  readonly #sql: Statements;
  readonly #workspaceId: string;
  readonly #no: number;
  lastList = 0;

  constructor(sql: Statements, workspaceId: string, no: number) {
    super();
    this.#sql = sql;
    this.#workspaceId = workspaceId;
    this.#no = no;
  }

  /** Reads accesses that are new in the open transaction. */
  refresh(): void {
    this.lastList = numberOf(
      this.#sql("SELECT max(listId) FROM access_lists WHERE workspaceId = ?"),
      this.#workspaceId,
    );
    if (this.lastAcl === 0) this.#readChunks();
    for (;;) {
      const text = textOf(this.#sql(NEW_ACCESSES), this.#workspaceId, this.lastAcl);
      if (text === undefined) return;
      this.addText(text);
    }
  }

  #readChunks(): void {
    const chunks = this.#sql("SELECT id, data FROM index_acl_chunks WHERE id > ? AND id <= ? ORDER BY id");
    for (const row of chunks.iterate(...keysOf(this.#no))) this.addChunk(lowOf(row.id), decodeAccesses(row.data));
  }
}
