/**
 * A change that a source noticed between runs. A notification isn't trusted and removes nothing: it only requests a
 * run, which reads the source itself. A lost notification only delays the change until the next scheduled run.
 */
export type ChangeNotification =
  /** Something may have changed at an unknown place. */
  | { t: "anything" }
  /** External ids. A `changed` item exists and has content. A `gone` item has no content now, or never had any. */
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
  /** Stops the watch and releases its resources. No notification follows once the promise resolves. */
  stop(): Promise<void>;
}
