import type { OpOutcome } from "./item-writes.ts";

/** What became of a line, as its answer says it. */
export const PUSH_RESULTS = [
  "upserted",
  "unchanged",
  "removed",
  "held",
  "absent",
  "failed",
  "acl_unknown",
  "error",
] as const;
export type PushResultName = (typeof PUSH_RESULTS)[number];

export type PushCounts = Record<PushResultName, number>;

/** A line that was not taken as it was meant. */
export interface PushTrouble {
  line: number | null;
  externalId: string | null;
  result: PushResultName;
  code: string;
  message: string;
}

export type PushUploadState = "open" | "ending" | "done" | "superseded" | "expired";

/** Several pushes that belong together. Times are epoch milliseconds. */
export interface PushUploadRecord {
  uploadId: string;
  connectorId: string;
  mode: "add" | "set";
  name: string | null;
  /** As of `now` of the look-up: what nobody touched for `UPLOAD_TTL_MS` is expired. */
  state: PushUploadState;
  /** The lines 1 to this one are stored. */
  lines: number;
  counts: PushCounts;
  troubles: PushTrouble[];
  /** Lines that were refused and named no item that could be told: what they meant is not known. */
  unnamed: number;
  /** While a set ends and after: whether what was not sent is held, and how much went. */
  isHeld: boolean;
  sweptItems: number;
  createdAt: number;
  touchedAt: number;
  finishedAt: number | null;
}

/** Lines or a document of an upload, stored in the transaction of what they did. */
export interface PushAcknowledgement {
  /** The last line; null for a document. */
  lines: number | null;
  counts: Partial<PushCounts>;
  troubles: readonly PushTrouble[];
  unnamed: number;
}

/** What a line's answer calls the outcome of its op. */
export function pushResultOf(outcome: OpOutcome): PushResultName {
  return outcome === "skipped" || outcome === "done" ? "unchanged" : outcome;
}

/** How long an upload waits for its next line. */
export const UPLOAD_TTL_MS = 24 * 3_600_000;
export const TROUBLES_KEPT = 100;
/** Uploads that are over stay this long, for a lost answer to be asked again; at most as many as `UPLOADS_KEPT`. */
export const KEEP_UPLOADS_MS = 7 * 24 * 3_600_000;
export const UPLOADS_KEPT = 200;

export interface PushUploadStore {
  find(uploadId: string, now: number): Promise<PushUploadRecord | undefined>;
  /** The newest open upload of this name and mode. */
  findOpen(
    connectorId: string,
    wanted: { mode: "add" | "set"; name: string },
    now: number,
  ): Promise<PushUploadRecord | undefined>;
  /**
   * Begins an upload. A set supersedes every other set of the connector, a named one also its namesakes; what is long
   * over is forgotten. Call it in a transaction.
   */
  begin(upload: {
    uploadId: string;
    connectorId: string;
    mode: "add" | "set";
    name: string | null;
    now: number;
  }): Promise<void>;
  /** Adds what was stored. @returns false, and nothing was added, when the upload is not open */
  acknowledge(uploadId: string, ack: PushAcknowledgement, now: number): Promise<boolean>;
  /** From open to `ending` (a set whose rest goes) or `done`. @returns false when it is not open */
  close(uploadId: string, to: { state: "ending"; isHeld: boolean } | { state: "done" }, now: number): Promise<boolean>;
  /** Counts what the end of a set removed or held. */
  addSwept(uploadId: string, items: number): Promise<void>;
  /** From `ending` to `done`. @returns false when it was superseded meanwhile */
  finish(uploadId: string, now: number): Promise<boolean>;
}
