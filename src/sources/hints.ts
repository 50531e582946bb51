/**
 * What a source heard between runs. A hint proves nothing and removes nothing: it only asks for a run, which looks for
 * itself. One that is lost costs time until the next run by the schedule, never truth.
 */
export type Hint =
  /** Something may have changed, nobody knows where. */
  | { t: "anything" }
  /** `changed`: there now, and content; `gone`: no content any more, or never was. External ids. */
  | { t: "items"; changed: readonly string[]; gone: readonly string[] };

/** Who listens to a watch. */
export interface HintListener {
  hint(hint: Hint): void;
  /** Nothing is heard from now on, and why, in a sentence for the operator's log. Said once at most. */
  ended(reason: string): void;
}

/** A source that is being listened to. */
export interface Watch {
  /** Lets go of everything; no hint comes after it has returned. */
  stop(): Promise<void>;
}
