import { type Growing, push } from "./growing.ts";

/** Longer logs are forgotten; who has not followed looks at every document again. */
const LIMIT = 65_536;

/** Which documents of a segment got another access (death included) since they were first there. */
export class AccessLog {
  /** Rises when the log starts afresh. */
  epoch = 0;
  readonly ids: Growing<Uint32Array> = { array: new Uint32Array(0), length: 0 };

  add(id: number): void {
    if (this.ids.length === LIMIT) {
      this.epoch++;
      this.ids.length = 0;
    }
    push(this.ids, id);
  }
}
