import type { GuardedClient } from "#net/guarded-client.ts";
import type { McpCaps } from "./caps.ts";
import type { Pace } from "./pace.ts";
import type { McpProblem } from "./problem.ts";

/** A third-party server, and the headers that sign requests to it. */
export interface McpTarget {
  /** The server's endpoint for streamable HTTP, as a person configured it. */
  url: string;
  /**
   * The headers that sign a request. Called before each one, so that a renewed token is used at once, and sent to the
   * origin of `url` only. Never the token of kb's own caller.
   */
  headers(): Promise<Readonly<Record<string, string>>>;
}

export interface McpSessionOptions {
  client: GuardedClient;
  /** Ends the session and everything that it waits for. */
  signal: AbortSignal;
  /** Limits that differ from `MCP_CAPS`. */
  caps?: Partial<McpCaps>;
  clientInfo: { name: string; version: string };
  hop: McpHop;
  /** Whether to open the stream for unsolicited messages from the server, which `subscribe` needs; false by default. */
  isListening?: boolean;
  /** The shared rate limit for events of all sessions; each session also has its own. */
  pace?: Pace;
}

/** The path of a request between instances of kb. */
export interface McpHop {
  /** This instance's id. */
  instanceId: string;
  /** The instances that this request has passed through, from its header; empty for kb's own requests. */
  before: readonly string[];
}

/**
 * A session with a server. Each method rejects with `McpProblem`, and with the signal's reason once that is aborted.
 */
export interface McpSession {
  readonly serverInfo: McpServerInfo;
  /** The negotiated version, such as `2025-11-25`. */
  readonly protocolVersion: string;
  readonly capabilities: McpCapabilities;
  /** All tools, in the server's order. */
  listTools(): Promise<McpList<McpTool>>;
  /** Returns one page. */
  listResources(cursor?: string): Promise<McpPage<McpResource>>;
  /** Returns one page. */
  listResourceTemplates(cursor?: string): Promise<McpPage<McpResourceTemplate>>;
  readResource(uri: string): Promise<McpResourceContent[]>;
  /** Calls a tool. A failure of the tool itself is a result with `isError`. */
  callTool(name: string, args: Readonly<Record<string, unknown>>): Promise<McpToolResult>;
  /** Returns suggested values for a variable of a resource template; within the time limit of any request, or a shorter one. */
  complete(
    uriTemplate: string,
    argument: { name: string; value: string },
    options?: { withinMs: number },
  ): Promise<McpCompletion>;
  ping(): Promise<void>;
  /** Requests notifications about changes of one resource. */
  subscribe(uri: string): Promise<void>;
  onListChanged(listener: (list: "tools" | "resources") => void): void;
  onUpdated(listener: (uri: string) => void): void;
  /** Registers a listener that is called when the notification stream has ended; immediately if it has already ended. `close` doesn't call it. */
  onEnded(listener: (problem: McpProblem) => void): void;
  /** Ends the session, also at the server if it has one there; never rejects. */
  close(): Promise<void>;
}

/** Every text from a server in the following types is cleaned and truncated. */
export interface McpServerInfo {
  name: string;
  title?: string;
  version: string;
}

export interface McpCapabilities {
  tools: boolean;
  resources: boolean;
  /** Whether the server sends notifications about changes of single resources. */
  subscribe: boolean;
  /** Whether the server sends a notification when the list of resources changed. */
  listChanged: boolean;
  completions: boolean;
}

export interface McpList<Item> {
  items: Item[];
  /** Number of entries that aren't in `items`, because they are malformed, too large, or have a name that can't be distinguished from another one. */
  leftOut: number;
}

export interface McpPage<Item> extends McpList<Item> {
  nextCursor?: string;
}

export interface McpTool {
  /** The server's name for the tool. Tools whose names contain an invisible character are left out, so this is also what a person sees. */
  name: string;
  title?: string;
  description?: string;
  /** The schema as the server sent it, within the caps. It isn't compiled, and its references aren't followed. @see readFields */
  inputSchema: Readonly<Record<string, unknown>>;
  /** Whether the tool is read-only according to the server; only a hint. */
  isReadOnly: boolean;
  /** Digest of name, description, schemas and annotations as the server sent them. A mapping is pinned to it. */
  pin: string;
}

export interface McpResource {
  /** The URI as the server sent it. It is an id; kb itself never fetches it. */
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** Size in bytes, as the server reports it. */
  size?: number;
  /** Epoch milliseconds. */
  lastModified?: number;
}

export interface McpResourceTemplate {
  uriTemplate: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
}

/** Content of a resource. Its text is as the server sent it, so that its digest stays valid; extraction cleans the text. */
export type McpResourceContent = { uri: string; mimeType?: string } & (
  | { type: "text"; text: string }
  | { type: "blob"; bytes: Uint8Array }
);

export interface McpToolResult {
  isError: boolean;
  content: McpBlock[];
  /** JSON, within the caps for bytes and depth. Its texts are as the server sent them: clean a text before you show it. */
  structured?: unknown;
}

/** A block of a result. Images and audio aren't read. */
export type McpBlock =
  | { type: "text"; text: string }
  | { type: "link"; resource: McpResource }
  | { type: "resource"; content: McpResourceContent }
  | { type: "other" };

export interface McpCompletion {
  values: string[];
  hasMore: boolean;
}
