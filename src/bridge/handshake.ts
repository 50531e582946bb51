/**
 * The requests that the bridge answers itself, at once and without the server: its identity, pings, its protocol
 * revisions, and the empty lists of resources and prompts. Hosts wait for `initialize` at start; a slow or unreachable
 * server must not look like a broken bridge.
 */
import { asRecord } from "#core/json-record.ts";
import {
  emptyList,
  LATEST_LEGACY_PROTOCOL_VERSION,
  LEGACY_PROTOCOL_VERSIONS,
  MODERN_PROTOCOL_VERSIONS,
} from "#api/protocol.ts";
import { INSTRUCTIONS } from "#api/tools.ts";
import { VERSION } from "#api/version.ts";

/** A local answer: the result, or the error for an unsupported revision. */
export type LocalAnswer =
  | { result: Record<string, unknown> }
  | { error: { code: number; message: string; data?: Record<string, unknown> } };

export type Handshake = ReturnType<typeof makeHandshake>;

/** A handshake that remembers the revision its host negotiated. */
export function makeHandshake() {
  let negotiated: string | undefined;
  let client = "";
  return {
    /** Returns the answer to a method that needs no server; undefined for every other method. */
    answer(method: string, params: Record<string, unknown>): LocalAnswer | undefined {
      const modern = modernVersion(params);
      if (method === "initialize") {
        negotiated = negotiate(params["protocolVersion"]);
        client = productOf(params["clientInfo"]);
        return { result: initializeResult(negotiated) };
      }
      if (method === "ping") return { result: modern === undefined ? {} : { resultType: "complete" } };
      if (method !== "server/discover") {
        const none = modern === undefined ? emptyList(method) : undefined;
        return none === undefined ? undefined : { result: none };
      }
      return modern === undefined || isSpokenModern(modern) ? { result: discoverResult() } : unsupported(modern);
    },
    /** True once the host has sent `initialize`. Its answer promises notifications when the tool list changes. */
    hasBegun: (): boolean => negotiated !== undefined,
    /** Returns the headers with the request's protocol revision, and with its client as `User-Agent`. */
    headers(method: string, params: Record<string, unknown>): Record<string, string> {
      const modern = modernVersion(params);
      const agent = { "user-agent": [client, `kb/${VERSION}`].join(" ").trimStart() };
      if (modern !== undefined) return { ...agent, ...modernHeaders(modern, method, params) };
      if (negotiated === undefined || !hasVersionHeader(negotiated)) return agent;
      return { ...agent, "mcp-protocol-version": negotiated };
    },
  };
}

/** Returns the revision for `initialize`: the requested one if it is known, else the newest of that kind. */
export function negotiate(asked: unknown): string {
  return LEGACY_PROTOCOL_VERSIONS.find((version) => version === asked) ?? LATEST_LEGACY_PROTOCOL_VERSION;
}

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo";
const SERVER_INFO = { name: "kb", title: "kb connector search", version: VERSION } as const;

/**
 * Returns the fields that results require from revision 2026-07-28 on. They say that the result is complete, and that it must be requested again next
 * time.
 */
export function modernFields(): Record<string, unknown> {
  return { resultType: "complete", ttlMs: 0, cacheScope: "private", _meta: { [SERVER_INFO_KEY]: SERVER_INFO } };
}

function initializeResult(protocolVersion: string): Record<string, unknown> {
  return {
    protocolVersion,
    capabilities: { tools: { listChanged: true } },
    serverInfo: SERVER_INFO,
    instructions: INSTRUCTIONS,
  };
}

function discoverResult(): Record<string, unknown> {
  return {
    supportedVersions: MODERN_PROTOCOL_VERSIONS,
    capabilities: { tools: {} },
    instructions: INSTRUCTIONS,
    ...modernFields(),
  };
}

function unsupported(requested: string): LocalAnswer {
  return {
    error: {
      code: -32022,
      message: `Unsupported protocol version: ${requested}`,
      data: { supported: [...MODERN_PROTOCOL_VERSIONS], requested },
    },
  };
}

/**
 * Returns `claude-code/2.0.14`, the host's name from `initialize`; empty when it has none that fits in a header. From
 * 2026-07-28 on each request has it in its envelope, where the server reads it.
 */
function productOf(clientInfo: unknown): string {
  const { name, version } = asRecord(clientInfo) ?? {};
  const [product, release] = [headerWord(name), headerWord(version)];
  return product === "" || release === "" ? product : `${product}/${release}`;
}

/** Removes characters that a header can't contain, and those that would end a product name. */
function headerWord(text: unknown): string {
  if (typeof text !== "string") return "";
  return text
    .replaceAll(/[^\x20-\x7e]|\//g, "")
    .trim()
    .slice(0, MAX_PRODUCT_CHARS);
}

const MAX_PRODUCT_CHARS = 60;

/** Returns the revision in a request's envelope; undefined for the revisions that start with `initialize`. */
export function modernVersion(params: Record<string, unknown>): string | undefined {
  const version = asRecord(params["_meta"])?.[VERSION_KEY];
  return typeof version === "string" ? version : undefined;
}

function isSpokenModern(version: string): boolean {
  return MODERN_PROTOCOL_VERSIONS.some((known) => known === version);
}

/**
 * The header was added in 2025-06-18. To this server, `2025-03-26` in it means its strict two-method dialogue, so
 * requests of hosts with that revision and earlier are forwarded without one, as their own HTTP clients would do.
 */
function hasVersionHeader(version: string): boolean {
  return version >= "2025-06-18";
}

/**
 * Returns the standard headers: version, method and name. The server checks them against the body. Source: MCP specification, revision 2026-07-28,
 * standard headers (SEP-2243).
 */
function modernHeaders(version: string, method: string, params: Record<string, unknown>): Record<string, string> {
  const name = params["name"];
  return {
    "mcp-protocol-version": headerValue(version),
    "mcp-method": headerValue(method),
    ...(method === "tools/call" && typeof name === "string" ? { "mcp-name": headerValue(name) } : {}),
  };
}

function headerValue(text: string): string {
  const isPlain = /^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text, "utf8").toString("base64")}?=`;
}
