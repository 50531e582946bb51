/** Work that is done after the answer, so that the time of the answer says nothing of what was found. */
export interface Afterwards {
  /** Starts `work` when its turn comes. It may be lost when the process ends; a failure is logged under `what`. */
  run(what: string, work: () => Promise<void>): void;
  /** Resolves when nothing is left to do. */
  idle(): Promise<void>;
}
