import type { GuardedClient } from "#net/guarded-client.ts";
import type { McpCaps } from "./caps.ts";
import type { Pace } from "./pace.ts";
import type { McpProblem } from "./problem.ts";

/** A server of others, and what signs requests to it. */
export interface McpTarget {
  /** Its endpoint, of streamable HTTP, as a person configured it. */
  url: string;
  /**
   * What signs a request. Asked before each one, so that a renewed token is used at once, and sent to the origin of `url`
   * only. Never the token of somebody who calls kb.
   */
  headers(): Promise<Readonly<Record<string, string>>>;
}

export interface McpSessionOptions {
  client: GuardedClient;
  /** Ends the session and whatever it waits for. */
  signal: AbortSignal;
  /** Whatever is not given is as in `MCP_CAPS`. */
  caps?: Partial<McpCaps>;
  clientInfo: { name: string; version: string };
  hop: McpHop;
  /** Opens the stream for messages that the server sends unasked, as `subscribe` needs it; false unless told. */
  isListening?: boolean;
  /** Of the events of all sessions together; each has its own besides. */
  pace?: Pace;
}

/** The way of a request between instances of kb. */
export interface McpHop {
  /** This instance's id. */
  instanceId: string;
  /** The instances behind which this request comes, as its own header said; empty for kb's own requests. */
  before: readonly string[];
}

/** A conversation with a server. Each method rejects with `McpProblem`, and with the signal's reason once that is aborted. */
export interface McpSession {
  readonly serverInfo: McpServerInfo;
  /** As agreed, such as `2025-11-25`. */
  readonly protocolVersion: string;
  readonly capabilities: McpCapabilities;
  /** All tools, in the server's order. */
  listTools(): Promise<McpList<McpTool>>;
  /** One page. */
  listResources(cursor?: string): Promise<McpPage<McpResource>>;
  /** One page. */
  listResourceTemplates(cursor?: string): Promise<McpPage<McpResourceTemplate>>;
  readResource(uri: string): Promise<McpResourceContent[]>;
  /** A tool's own failure is an answer: `isError`. */
  callTool(name: string, args: Readonly<Record<string, unknown>>): Promise<McpToolResult>;
  /** Values for a variable of a resource template; within the time of any question, or less. */
  complete(
    uriTemplate: string,
    argument: { name: string; value: string },
    options?: { withinMs: number },
  ): Promise<McpCompletion>;
  ping(): Promise<void>;
  /** Asks for notices of changes of one resource. */
  subscribe(uri: string): Promise<void>;
  onListChanged(listener: (list: "tools" | "resources") => void): void;
  onUpdated(listener: (uri: string) => void): void;
  /** What is heard has ended, and nothing is heard any more; told at once when it has ended before. Not by `close`. */
  onEnded(listener: (problem: McpProblem) => void): void;
  /** Ends the session at the server too, where it has one; never rejects. */
  close(): Promise<void>;
}

/** Every text of a server is cleaned and cut before it is in one of the following. */
export interface McpServerInfo {
  name: string;
  title?: string;
  version: string;
}

export interface McpCapabilities {
  tools: boolean;
  resources: boolean;
  /** Notices of changes of single resources. */
  subscribe: boolean;
  /** Notices that the list of resources changed. */
  listChanged: boolean;
  completions: boolean;
}

export interface McpList<Item> {
  items: Item[];
  /** Entries that are malformed or too large, or have a name that nobody could tell from another one: they are not in `items`. */
  leftOut: number;
}

export interface McpPage<Item> extends McpList<Item> {
  nextCursor?: string;
}

export interface McpTool {
  /** As the server calls it. A name with anything invisible in it is left out, so this is what a person sees too. */
  name: string;
  title?: string;
  description?: string;
  /** As the server gave it, within the caps: neither compiled nor followed. @see readFields */
  inputSchema: Readonly<Record<string, unknown>>;
  /** What the server says of it; a hint. */
  isReadOnly: boolean;
  /** Digest of name, description, schemas and annotations as the server sent them: what a mapping is pinned by. */
  pin: string;
}

export interface McpResource {
  /** As the server gave it: an id, never fetched by kb itself. */
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  /** Bytes, as the server says. */
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

/** Content of a resource. Text is as the server sent it, so that its digest stands; extraction cleans it. */
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

/** A block of a result. Pictures and sounds are not read. */
export type McpBlock =
  | { type: "text"; text: string }
  | { type: "link"; resource: McpResource }
  | { type: "resource"; content: McpResourceContent }
  | { type: "other" };

export interface McpCompletion {
  values: string[];
  hasMore: boolean;
}
