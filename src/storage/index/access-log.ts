import { growing, push } from "./growing.ts";

/** Longer logs are dropped; a reader that hasn't followed the log then checks every document again. */
const LIMIT = 65_536;

/** Records which documents of a segment got another access since they were added. Their death counts as one. */
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
