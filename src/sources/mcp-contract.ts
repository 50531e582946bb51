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
  /** The admin's mapping of the server's tools. Undefined = the tools aren't mapped. */
  mapping: ToolMapping | undefined;
  /** True = the connection's owner has not yet agreed to the mapping. */
  isWaiting: boolean;
}
