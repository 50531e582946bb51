/**
 * A change that a source noticed between runs. A notification proves nothing and removes nothing: it only requests a run,
 * which reads the source itself. A lost notification delays a change until the next scheduled run; nothing else is lost.
 */
export type ChangeNotification =
  /** Something may have changed; it is unknown where. */
  | { t: "anything" }
  /** `changed`: there now, and content; `gone`: no content any more, or never was. External ids. */
  | { t: "items"; changed: readonly string[]; gone: readonly string[] };

/** Receives what a watch notices. */
export interface ChangeListener {
  notify(notification: ChangeNotification): void;
  /** The watch has ended, with what it failed with: an ApiError's message is told to the connector's owner. Called at most once. */
  ended(error: unknown): void;
}

/** A running watch on a source. */
export interface Watch {
  /** Releases everything; no notification follows after it has returned. */
  stop(): Promise<void>;
}
