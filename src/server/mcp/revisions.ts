import { asRecord } from "#core/json-record.ts";
import { defined } from "#core/defined.ts";
/** Determines the protocol revision of a request, and its rules. Source: docs/mcp.md#versions. */

/** The version of the `seed` revision. Exactly this header requests tools and nothing else. */
export const SEED_VERSION = "2025-03-26";
/** Versions whose clients begin with `initialize`, oldest first. */
export const LEGACY_VERSIONS = ["2024-11-05", SEED_VERSION, "2025-06-18", "2025-11-25"] as const;
export const LATEST_LEGACY_VERSION = "2025-11-25";
/** Versions in which each request carries all its metadata. */
export const MODERN_VERSIONS = ["2026-07-28"] as const;

/** `strict`: the `seed` revision for everyone. `open`: `initialize` and `ping` are allowed for everyone. */
export type Lifecycle = "auto" | "strict" | "open";

export const META = {
  version: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  serverInfo: "io.modelcontextprotocol/serverInfo",
} as const;

/**
 * The kinds of revisions. `seed`: tools only. `legacy`: also `initialize` and `ping`. `modern`: an envelope in every
 * request.
 */
export type Revision = "seed" | "legacy" | "modern";

/** A refusal of a request before its method is read. */
export interface Refusal {
  status: 400;
  code: number;
  message: string;
  data?: Record<string, unknown>;
}

/** Error codes of the protocol itself. */
export const RPC = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  versionUnknown: -32000,
  headerMismatch: -32020,
  versionUnsupported: -32022,
} as const;

/** The parts of a request or notification that depend on the protocol revision. */
export interface Message {
  /** The id as JSON text, with every digit that the client wrote. */
  id?: string;
  /** The token for progress reports, as JSON text. */
  progressToken?: string;
  method: string;
  params?: Record<string, unknown>;
}

/**
 * Returns the revision that the version header names; a refusal if the version is unknown. A message with an envelope
 * is refused with the message of the newest revision, whatever its version.
 */
export function revisionOfHeader(
  version: string | null,
  lifecycle: Lifecycle,
  messages: readonly Message[] = [],
): Revision | Refusal {
  if (version === null) return lifecycle === "strict" ? "seed" : "legacy";
  if (lifecycle !== "strict" && isNewer(version) && agreesOnVersion(messages)) return "legacy";
  if (isOneOf(MODERN_VERSIONS, version)) return lifecycle === "strict" ? "seed" : "modern";
  if (!isOneOf(LEGACY_VERSIONS, version)) {
    const isModern = isLater(version) || messages.some((message) => envelopeOf(message)?.[META.version] !== undefined);
    return unsupported(isModern ? RPC.versionUnsupported : RPC.versionUnknown, version);
  }
  if (lifecycle === "strict") return "seed";
  return version === SEED_VERSION && lifecycle === "auto" ? "seed" : "legacy";
}

/**
 * Whether the messages negotiate the version. Some clients send the newest version that they support with `initialize`,
 * before one was negotiated.
 */
function agreesOnVersion(messages: readonly Message[]): boolean {
  const [message] = messages;
  return messages.length === 1 && message?.method === "initialize" && envelopeOf(message)?.[META.version] === undefined;
}

function isNewer(version: string): boolean {
  return isOneOf(MODERN_VERSIONS, version) || isLater(version);
}

/** Returns the revision for a message. The message's own statements are checked against the headers. */
export function revisionOfMessage(
  message: Message,
  headers: Headers,
  fromHeader: Revision,
  lifecycle: Lifecycle,
): Revision | Refusal {
  const claimed = envelopeOf(message)?.[META.version];
  if (lifecycle === "strict") return "seed";
  if (claimed === undefined && fromHeader !== "modern") return fromHeader;
  if (message.id === undefined) return "modern";
  return modernRefusal(message, headers) ?? "modern";
}

export function isRefusal(value: Revision | Refusal): value is Refusal {
  return typeof value === "object";
}

/** Returns the version to answer an `initialize` with: the requested version if it is known, else the newest. */
export function negotiate(asked: unknown): string {
  return typeof asked === "string" && isOneOf(LEGACY_VERSIONS, asked) ? asked : LATEST_LEGACY_VERSION;
}

/** Checks a request by the rules of the 2026-07-28 revision, in their order: envelope, versions, method, name. */
function modernRefusal(message: Message, headers: Headers): Refusal | undefined {
  const envelope = envelopeOf(message);
  const header = headers.get("mcp-protocol-version")?.trim();
  const missing = [META.version, META.clientCapabilities].filter((key) => envelope?.[key] === undefined);
  if (envelope === undefined || missing.length > 0) return badEnvelope(envelope === undefined ? ["_meta"] : missing);
  const claimed = envelope[META.version];
  if (typeof claimed !== "string" || typeof envelope[META.clientCapabilities] !== "object") {
    return refuse(RPC.invalidParams, "Invalid _meta envelope: a value has the wrong type.");
  }
  if (header !== undefined && header !== claimed)
    return mismatch(`Mcp-Protocol-Version is ${header}, _meta says ${claimed}`);
  if (!isOneOf(MODERN_VERSIONS, claimed)) return unsupported(RPC.versionUnsupported, claimed);
  if (header === undefined) return mismatch("the header Mcp-Protocol-Version is missing");
  const method = headers.get("mcp-method")?.trim();
  if (method === undefined) return mismatch("the header Mcp-Method is missing");
  if (method !== message.method) return mismatch(`Mcp-Method is ${method}, the body's method is ${message.method}`);
  return message.method === "tools/call" ? nameRefusal(message, headers) : undefined;
}

function nameRefusal(message: Message, headers: Headers): Refusal | undefined {
  const inBody = message.params?.["name"];
  if (typeof inBody !== "string") return undefined;
  const header = headers.get("mcp-name")?.trim();
  if (header === undefined) return mismatch("the header Mcp-Name is missing");
  const name = decodeHeader(header);
  if (name === undefined) return mismatch("Mcp-Name is not valid Base64");
  return name === inBody ? undefined : mismatch(`Mcp-Name is ${name}, the body's name is ${inBody}`);
}

/** Decodes a header. Values that aren't plain ASCII are sent as `=?base64?…?=`. */
function decodeHeader(value: string): string | undefined {
  const encoded = /^=\?base64\?(.*)\?=$/.exec(value)?.[1];
  if (encoded === undefined) return value;
  if (!/^[A-Za-z0-9+/]*={0,2}$/.test(encoded) || encoded.length % 4 !== 0) return undefined;
  return Buffer.from(encoded, "base64").toString("utf8");
}

function envelopeOf(message: Message): Record<string, unknown> | undefined {
  return asRecord(message.params?.["_meta"]);
}

function badEnvelope(missing: readonly string[]): Refusal {
  return refuse(RPC.invalidParams, `Invalid params: the request lacks ${missing.join(", ")}.`, {
    envelope: { missing },
  });
}

function mismatch(what: string): Refusal {
  return refuse(RPC.headerMismatch, `Bad Request: headers and body disagree: ${what.slice(0, 300)}.`);
}

function unsupported(code: number, requested: string): Refusal {
  const supported = [...MODERN_VERSIONS, ...LEGACY_VERSIONS.toReversed()];
  const asked = requested.slice(0, 40);
  return refuse(code, `Unsupported protocol version: ${asked}. Supported: ${supported.join(", ")}.`, {
    supported: code === RPC.versionUnsupported ? [...MODERN_VERSIONS] : supported,
    requested: asked,
  });
}

function refuse(code: number, message: string, data?: Record<string, unknown>): Refusal {
  return { status: 400, code, message, ...defined({ data }) };
}

function isLater(version: string): boolean {
  return /^\d{4}-\d{2}-\d{2}$/.test(version) && version > MODERN_VERSIONS[0];
}

function isOneOf(versions: readonly string[], version: string): boolean {
  return versions.includes(version);
}
