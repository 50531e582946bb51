import type { MetadataFault } from "#api/metadata-fault.ts";
import { describeFault } from "./metadata-fault.ts";

/** The step during which something failed with a server. */
export type McpStep =
  | "resolve"
  | "connect"
  | "initialize"
  | "auth"
  | "tools"
  | "resources"
  | "templates"
  | "read"
  | "call"
  | "complete"
  | "subscribe"
  | "listen"
  | "ping";

/** The possible problems with a server, as a closed list. */
export const MCP_PROBLEMS = {
  /** No address, no connection, or a connection that broke off. */
  unreachable: "The server can't be reached.",
  address_not_allowed: "kb isn't allowed to connect to this address.",
  timeout: "The server took too long.",
  /** 401; `challenge` contains where to sign in. */
  auth_required: "The server asks you to sign in.",
  /** 403; `challenge.scope` contains the missing scopes, if the server reports them. */
  forbidden: "The server refused access.",
  rate_limited: "The server limits the rate of requests.",
  /** The server responds with another protocol. */
  not_mcp: "This isn't an MCP server, or the path is wrong.",
  protocol_unsupported: "The server supports no MCP revision that kb knows.",
  too_large: "The server's response is too large.",
  too_many: "The server sent too many events, entries or pages.",
  redirected: "The server redirects to a different host.",
  /** Two instances of kb call each other. */
  loop: "The server is this instance of kb, or leads back to it.",
  bad_answer: "The server's response doesn't follow the protocol.",
  /** 5xx, or JSON-RPC's internal error. */
  server_error: "The server failed.",
  /** The tool, resource or method isn't there. */
  not_found: "The server doesn't have what kb asked for.",
  /** Arguments that the server refuses. */
  refused: "The server refused the request.",
  /** The server requires a person to open the page in `elicitationUrl` first. */
  elicitation_required: "The server wants you to open a page first.",
  /** Metadata of the authorization server is absent, contradicts itself or lacks what kb requires. */
  authorization_unusable: "kb can't sign in at this server: its OAuth metadata isn't usable.",
} as const satisfies Record<string, string>;

export type McpProblemCode = keyof typeof MCP_PROBLEMS;

/** The well-formed values of a `WWW-Authenticate` header. */
export interface McpChallenge {
  /** The location of the server's metadata. Not checked yet. */
  resourceMetadata?: string;
  /** Scopes, separated by spaces. */
  scope?: string;
  /** `insufficient_scope`, `invalid_token`; absent for anything that OAuth doesn't define. */
  error?: "invalid_request" | "invalid_token" | "insufficient_scope";
}

export interface McpProblemDetails {
  step: McpStep;
  code: McpProblemCode;
  retryAfterMs?: number;
  challenge?: McpChallenge;
  /** The page for `elicitation_required`. It uses https, and is opened by a click on our own page, which shows its host. */
  elicitationUrl?: string;
  /** For `authorization_unusable`: the metadata value that kb can't use. */
  metadata?: MetadataFault;
  /** The requested address, in the form of `shownUrl`, if it isn't the server's. */
  asked?: string;
  /** HTTP status, if there was one. */
  status?: number;
  cause?: unknown;
}

/**
 * A failure with a third-party server. The message comes from the code. If the failure concerns metadata, the message also contains the URLs
 * published there, cleaned and truncated. It contains no other byte of the server's response, so anyone who may see the server may see the message.
 * `cause` is for kb's own log. Source: S31.
 */
export class McpProblem extends Error {
  override readonly name = "McpProblem";
  readonly step: McpStep;
  readonly code: McpProblemCode;
  readonly retryAfterMs: number | undefined;
  readonly challenge: McpChallenge | undefined;
  readonly elicitationUrl: string | undefined;
  readonly metadata: MetadataFault | undefined;
  readonly status: number | undefined;

  constructor(details: McpProblemDetails) {
    const { step, code, retryAfterMs, challenge, elicitationUrl, metadata, status, cause } = details;
    super(messageOf(details), cause === undefined ? undefined : { cause });
    this.step = step;
    this.code = code;
    this.retryAfterMs = retryAfterMs;
    this.challenge = challenge;
    this.elicitationUrl = elicitationUrl;
    this.metadata = metadata;
    this.status = status;
  }
}

function messageOf({ code, metadata, asked }: McpProblemDetails): string {
  const place = asked === undefined ? "" : `kb asked ${asked}.`;
  const more = metadata === undefined ? place : describeFault(metadata);
  const isElsewhere = code === "address_not_allowed" && asked !== undefined;
  return `${MCP_PROBLEMS[code]} ${more} ${isElsewhere ? NAME_IT : ""}`.trimEnd();
}

/** The operator's next step when a server's metadata contains a private address. */
const NAME_IT =
  "If it's the authorization server, the operator can add its host:port to KB_ALLOW_PRIVATE_HOSTS and KB_MCP_AUTHORIZATION_SERVERS.";
