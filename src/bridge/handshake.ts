/**
 * What the bridge answers itself, at once and without the server: who it is, that it lives, which revisions it speaks, and
 * that there are no resources and prompts.
 * Hosts wait for `initialize` at start; a slow or absent server must not look like a broken bridge.
 */
import {
  emptyList,
  LATEST_LEGACY_PROTOCOL_VERSION,
  LEGACY_PROTOCOL_VERSIONS,
  MODERN_PROTOCOL_VERSIONS,
} from "#api/protocol.ts";
import { INSTRUCTIONS } from "#api/tools.ts";
import { VERSION } from "#api/version.ts";
import { asObject } from "./frames.ts";

/** A local answer: the result, or the error of a revision that nobody here speaks. */
export type LocalAnswer =
  | { result: Record<string, unknown> }
  | { error: { code: number; message: string; data?: Record<string, unknown> } };

export interface Handshake {
  /** The answer to a method that needs no server; undefined for every other method. */
  answer(method: string, params: Record<string, unknown>): LocalAnswer | undefined;
  /** Headers that tell the server in which revision this request speaks, and for which client: its `User-Agent`. */
  headers(method: string, params: Record<string, unknown>): Record<string, string>;
  /** True once the host began with `initialize`, which promises it notices of a changed list. */
  hasBegun(): boolean;
}

/** A handshake that remembers the revision its host negotiated. */
export function makeHandshake(): Handshake {
  let negotiated: string | undefined;
  let client = "";
  return {
    answer(method, params) {
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
    hasBegun: () => negotiated !== undefined,
    headers(method, params) {
      const modern = modernVersion(params);
      const agent = { "user-agent": [client, `kb/${VERSION}`].join(" ").trimStart() };
      if (modern !== undefined) return { ...agent, ...modernHeaders(modern, method, params) };
      if (negotiated === undefined || !hasVersionHeader(negotiated)) return agent;
      return { ...agent, "mcp-protocol-version": negotiated };
    },
  };
}

/** The revision that `initialize` settles on: the one asked for when it is known, else the newest of that kind. */
export function negotiate(asked: unknown): string {
  return LEGACY_PROTOCOL_VERSIONS.find((version) => version === asked) ?? LATEST_LEGACY_PROTOCOL_VERSION;
}

const VERSION_KEY = "io.modelcontextprotocol/protocolVersion";
const SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo";
const SERVER_INFO = { name: "kb", title: "kb connector search", version: VERSION } as const;

/** What a result says about itself from 2026-07-28 on: complete, and to be asked for again the next time. */
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
 * `claude-code/2.0.14`, as `initialize` names the host; empty when it names none that a header can carry. From 2026-07-28 on
 * each request says it in its envelope, where the server reads it.
 */
function productOf(clientInfo: unknown): string {
  const { name, version } = asObject(clientInfo) ?? {};
  const [product, release] = [headerWord(name), headerWord(version)];
  return product === "" || release === "" ? product : `${product}/${release}`;
}

/** What is left of a text without all that a header can't carry, and without what would end a product's name. */
function headerWord(text: unknown): string {
  if (typeof text !== "string") return "";
  return text
    .replaceAll(/[^\x20-\x7e]|\//g, "")
    .trim()
    .slice(0, MAX_PRODUCT_CHARS);
}

const MAX_PRODUCT_CHARS = 60;

/** The revision that a request's envelope names; undefined for one of the revisions that open with `initialize`. */
export function modernVersion(params: Record<string, unknown>): string | undefined {
  const version = asObject(params["_meta"])?.[VERSION_KEY];
  return typeof version === "string" ? version : undefined;
}

function isSpokenModern(version: string): boolean {
  return MODERN_PROTOCOL_VERSIONS.some((known) => known === version);
}

/**
 * The header came with 2025-06-18. To this server `2025-03-26` in it means its strict two-method dialogue, so hosts of
 * that revision and before are forwarded without one, as their own HTTP clients would do.
 */
function hasVersionHeader(version: string): boolean {
  return version >= "2025-06-18";
}

/** Source: MCP specification, revision 2026-07-28, standard headers (SEP-2243): version, method and name, checked against the body. */
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
