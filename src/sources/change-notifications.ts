/**
 * A change that a source noticed between runs. A notification proves and removes nothing: it only requests a run, which
 * reads the source itself. A lost notification only delays a change until the next scheduled run.
 */
export type ChangeNotification =
  /** Something may have changed; where is unknown. */
  | { t: "anything" }
  /** External ids. `changed`: exists and has content; `gone`: no longer has content, or never had. */
  | { t: "items"; changed: readonly string[]; gone: readonly string[] };

/** Receives the changes that a watch notices. */
export interface ChangeListener {
  notify(notification: ChangeNotification): void;
  /**
   * The watch has ended with this error. The connector's owner sees the message of an ApiError. Called at most once.
   */
  ended(error: unknown): void;
}

/** A running watch on a source. */
export interface Watch {
  /** Releases everything; no notification follows once it resolves. */
  stop(): Promise<void>;
}
