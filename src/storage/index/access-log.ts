import { growing, push } from "./growing.ts";

/**
 * Limit of a log's length. A longer log is dropped; a reader that hasn't followed it up to there checks every document
 * again.
 */
const LIMIT = 65_536;

/**
 * Records which documents of a segment got another access since they were added. The death of a document is recorded as
 * such a change.
 */
export class AccessLog {
  /** Increases when the log restarts. */
  epoch = 0;
  readonly ids = growing(new Uint32Array(0));

  add(id: number): void {
    if (this.ids.length === LIMIT) {
      this.epoch++;
      this.ids.length = 0;
    }
    push(this.ids, id);
  }
}
