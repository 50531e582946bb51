import type { McpSession } from "#mcp-client/contract.ts";
import type { ToolMapping } from "#mcp-client/mapping.ts";

/** The way of a source to a provider server: by the connection that its connector is built on. */
export interface SourceMcp {
  /**
   * A conversation as the connection's owner; the caller closes it.
   *
   * @throws McpProblem; ApiError `source_unauthorized` when the connection is no longer accepted
   */
  open(options: { signal: AbortSignal; isListening?: boolean }): Promise<McpSession>;
  /** How an admin mapped the server's tools; undefined = not at all. */
  mapping: ToolMapping | undefined;
  /** The connection's owner has to agree to that first. */
  isWaiting: boolean;
}
