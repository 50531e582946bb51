import type { PaceLimits } from "./pace.ts";
import type { McpStep } from "./problem.ts";

/** Limits on the resources of kb that a third-party server can use. */
export interface McpCaps {
  /** From opening a session to the first request. */
  openMs: number;
  /** Time for one request, including the whole response. */
  requestMs: number;
  /** Time for all pages of the list of tools: a sync has no checkpoint to resume from until the list is read. */
  toolsMs: number;
  /** Content of a resource or of a tool's result. The limit applies both as received and after decompression. */
  contentBytes: number;
  /** One page of a list, both as received and after decompression. */
  listBytes: number;
  /** Any other response, both as received and after decompression, and one event of the notification stream. */
  otherBytes: number;
  /** Events of one response. The notification stream has no end; its pace limits it instead. */
  events: number;
  /** Rate limit for the events of all streams of a session: a burst, then so many a second. */
  pace: PaceLimits;
  /** The notification stream is closed if it exceeds the pace for this long. */
  floodMs: number;
  /** Values in one JSON text. */
  values: number;
  /** Nesting levels of any JSON. */
  depth: number;
  tools: number;
  /** Pages of one list. */
  pages: number;
  /** Entries of one page. */
  entries: number;
  /** Limit in bytes for the JSON of one tool's schemas; `schemaDepth` limits their nesting. */
  schemaBytes: number;
  schemaDepth: number;
}

/** Generous for a well-meaning server: a file of 16 MB is 22 MB as base64, and a tool's schema rarely has 10 KB. */
export const MCP_CAPS: Readonly<McpCaps> = {
  openMs: 10_000,
  requestMs: 30_000,
  toolsMs: 60_000,
  contentBytes: 24 * 1024 * 1024,
  listBytes: 4 * 1024 * 1024,
  otherBytes: 256 * 1024,
  events: 1_000,
  pace: { perSecond: 50, burst: 100 },
  floodMs: 60_000,
  values: 250_000,
  depth: 64,
  tools: 500,
  pages: 1_000,
  entries: 5_000,
  schemaBytes: 64 * 1024,
  schemaDepth: 32,
};

/** Rate limit for the events of all sessions together. */
export const MCP_PACE: Readonly<PaceLimits> = { perSecond: 300, burst: 300 };

/** The size limit for the response to a step's request. */
export function bytesOf(step: McpStep, caps: McpCaps): number {
  if (step === "read" || step === "call") return caps.contentBytes;
  return step === "tools" || step === "resources" || step === "templates" ? caps.listBytes : caps.otherBytes;
}
