import type { GuardedClient } from "#net/guarded-client.ts";
import type { McpCaps } from "./caps.ts";
import type { Pace } from "./pace.ts";
import type { McpProblem } from "./problem.ts";

/** A third-party server, and the headers that sign requests to it. */
export interface McpTarget {
  /** Its endpoint, of streamable HTTP, as a person configured it. */
  url: string;
  /**
   * The headers that sign a request. Called before each one, so that a renewed token is used at once, and sent to the
   * origin of `url` only. Never the token of kb's own caller.
   */
  headers(): Promise<Readonly<Record<string, string>>>;
}

export interface McpSessionOptions {
  client: GuardedClient;
  /** Ends the session and everything it waits for. */
  signal: AbortSignal;
  /** Missing values are those of `MCP_CAPS`. */
  caps?: Partial<McpCaps>;
  clientInfo: { name: string; version: string };
  hop: McpHop;
  /** Opens the stream for messages that the server sends unasked, which `subscribe` needs; false by default. */
  isListening?: boolean;
  /** For the events of all sessions together; each session has its own as well. */
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
  /** As negotiated, such as `2025-11-25`. */
  readonly protocolVersion: string;
  readonly capabilities: McpCapabilities;
  /** All tools, in the server's order. */
  listTools(): Promise<McpList<McpTool>>;
  /** One page. */
  listResources(cursor?: string): Promise<McpPage<McpResource>>;
  /** One page. */
  listResourceTemplates(cursor?: string): Promise<McpPage<McpResourceTemplate>>;
  readResource(uri: string): Promise<McpResourceContent[]>;
  /** A tool's own failure is a result: `isError`. */
  callTool(name: string, args: Readonly<Record<string, unknown>>): Promise<McpToolResult>;
  /** Values for a variable of a resource template; within the time limit of any request, or less. */
  complete(
    uriTemplate: string,
    argument: { name: string; value: string },
    options?: { withinMs: number },
  ): Promise<McpCompletion>;
  ping(): Promise<void>;
  /** Requests notifications of changes of one resource. */
  subscribe(uri: string): Promise<void>;
  onListChanged(listener: (list: "tools" | "resources") => void): void;
  onUpdated(listener: (uri: string) => void): void;
  /** Called when the notification stream has ended; at once if it ended before. Not called by `close`. */
  onEnded(listener: (problem: McpProblem) => void): void;
  /** Ends the session at the server too, if it has one; never rejects. */
  close(): Promise<void>;
}

/** Every text of a server in the following types is cleaned and cut. */
export interface McpServerInfo {
  name: string;
  title?: string;
  version: string;
}

export interface McpCapabilities {
  tools: boolean;
  resources: boolean;
  /** Notifications of changes of single resources. */
  subscribe: boolean;
  /** Notifications that the list of resources changed. */
  listChanged: boolean;
  completions: boolean;
}

export interface McpList<Item> {
  items: Item[];
  /**
   * Number of entries that are malformed or too large, or have a name that can't be distinguished from another one:
   * they aren't in `items`.
   */
  leftOut: number;
}

export interface McpPage<Item> extends McpList<Item> {
  nextCursor?: string;
}

export interface McpTool {
  /** The server's name for it. A name with anything invisible in it is left out, so this is what a person sees too. */
  name: string;
  title?: string;
  description?: string;
  /** As the server sent it, within the caps: neither compiled nor followed. @see readFields */
  inputSchema: Readonly<Record<string, unknown>>;
  /** The server's own claim; a hint. */
  isReadOnly: boolean;
  /** Digest of name, description, schemas and annotations as the server sent them: a mapping is pinned to it. */
  pin: string;
}

export interface McpResource {
  /** As the server sent it: an id, never fetched by kb itself. */
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** Bytes, as the server reports. */
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

/** Content of a resource. Text is as the server sent it, so that its digest stays valid; extraction cleans it. */
export type McpResourceContent = { uri: string; mimeType?: string } & (
  | { type: "text"; text: string }
  | { type: "blob"; bytes: Uint8Array }
);

export interface McpToolResult {
  isError: boolean;
  content: McpBlock[];
  /** JSON, within the caps of bytes and depth. Its texts are as the server sent them: clean one before you show it. */
  structured?: unknown;
}

/** A block of a result. Pictures and sounds aren't read. */
export type McpBlock =
  | { type: "text"; text: string }
  | { type: "link"; resource: McpResource }
  | { type: "resource"; content: McpResourceContent }
  | { type: "other" };

export interface McpCompletion {
  values: string[];
  hasMore: boolean;
}
