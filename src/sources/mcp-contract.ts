import type { McpSession } from "#mcp-client/contract.ts";
import type { ToolMapping } from "#mcp-client/mapping.ts";

/** A source's access to a provider server, through the connection that its connector is built on. */
export interface SourceMcp {
  /**
   * Opens a session as the connection's owner; the caller closes it.
   *
   * @throws McpProblem; ApiError `source_unauthorized` when the connection is no longer accepted
   */
  open(options: { signal: AbortSignal; isListening?: boolean }): Promise<McpSession>;
  /** How an admin mapped the server's tools; undefined = not mapped. */
  mapping: ToolMapping | undefined;
  /** The connection's owner has to agree to that first. */
  isWaiting: boolean;
}
