import { pino, type DestinationStream, type Logger } from "pino";
import { maskSecrets } from "#text/secrets/mask.ts";
import { beforeOpenToken } from "#text/secrets/tokens.ts";
import type { Log } from "#core/log.ts";

/**
 * Makes a logger that writes structured lines (JSON, one per line) to `destination`, with secrets removed from fields,
 * errors and messages.
 */
export function makeLog(level: string, destination: DestinationStream): Log {
  const logger = pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destination,
  );
  return {
    debug: writer(logger, "debug"),
    info: writer(logger, "info"),
    warn: writer(logger, "warn"),
    error: writer(logger, "error"),
  };
}

/** Prepares any value for a log: limits its size, removes secrets, and adds the causes of errors. */
function scrub(value: unknown, depth = 0): unknown {
  if (typeof value === "string") return scrubText(value);
  if (typeof value === "bigint") return String(value);
  if (typeof value !== "object" || value === null) return value;
  if (depth >= MAX_DEPTH) return "[deeper]";
  if (value instanceof Error) return scrubError(value, depth);
  if (value instanceof Date) return value;
  if (value instanceof Uint8Array) return `[${value.byteLength} bytes]`;
  if (value instanceof URL) return scrubText(value.href);
  if (Array.isArray(value)) return value.slice(0, MAX_MEMBERS).map((each) => scrub(each, depth + 1));
  const entries = value instanceof Headers || value instanceof Map ? [...value] : Object.entries(value);
  return Object.fromEntries(
    entries
      .slice(0, MAX_MEMBERS)
      .map(([key, member]) => [
        String(key),
        SECRET_KEY.test(String(key)) && member !== null && member !== undefined ? REMOVED : scrub(member, depth + 1),
      ]),
  );
}

const REMOVED = "[removed]";
const MAX_DEPTH = 8;
const MAX_MEMBERS = 100;
const MAX_CHARS = 8_000;

/** Names whose values are never logged. `code` isn't one of them, because our errors use it. */
const SECRET_KEY =
  /^(?:(?:proxy-)?authorization|(?:set-)?cookies?|x-api-key|key|plaintext|credentials?|setup[-_ ]?code|assertion|.*(?:password|passwd|secret|token|api-?key|verifier|user_?code|device_?code))$/i;

/** Applied in this order: named secrets, then values that only look random. */
const PATTERNS: readonly [RegExp, string][] = [
  [/\bkb_(?:pat|con)_[0-9A-Za-z]+/g, REMOVED],
  [/\b(bearer|basic|dpop)\s+[\w.~+/=-]{6,}/gi, `$1 ${REMOVED}`],
  [/\b((?:proxy-)?authorization|(?:set-)?cookie|x-api-key)["']?\s*[:=]\s*[^\r\n]+/gi, `$1: ${REMOVED}`],
  [/\b(__Host-kb[\w-]*|kb_s[\w]+)=[^\s;,"']+/g, `$1=${REMOVED}`],
  [/([a-z][a-z0-9+.-]*:\/\/)[^\s/@"']*@/gi, `$1${REMOVED}@`],
  [
    /((?:^|[?&#;\s{,"'])[\w-]*(?:password|passwd|secret|token|verifier|signature|assertion|code)["']?\s*[=:]\s*["']?)(?!\[removed\])[^\s&"',;}]{6,}/gi,
    `$1${REMOVED}`,
  ],
];

function scrubText(text: string): string {
  const cut = text.length > MAX_CHARS ? `${beforeOpenToken(text.slice(0, MAX_CHARS))}…` : text;
  let safe = maskSecrets(cut).text;
  for (const [pattern, replacement] of PATTERNS) safe = safe.replace(pattern, replacement);
  // 32 random bytes in base64url have 43 characters. Words and hashes don't mix characters in that way.
  return safe.replace(/[\w-]{40,}/g, (run) => (isMixed(run) ? REMOVED : run));
}

function isMixed(run: string): boolean {
  return /[0-9]/.test(run) && /[a-z]/.test(run) && /[A-Z]/.test(run);
}

function scrubError(error: Error, depth: number): Record<string, unknown> {
  const own = Object.fromEntries(Object.entries(error).filter(([key]) => key !== "cause" && key !== "stack"));
  return {
    type: error.name,
    message: scrubText(error.message),
    // The first line of the stack contains the message.
    ...(error.stack !== undefined && { stack: scrubText(error.stack) }),
    ...(scrub(own, depth + 1) as Record<string, unknown>), // a record in, a record out
    ...(error.cause !== undefined && { cause: scrub(error.cause, depth + 1) }),
  };
}

function writer(logger: Logger, level: "debug" | "info" | "warn" | "error") {
  return (fields: Record<string, unknown>, message: string): void => {
    if (logger.isLevelEnabled(level)) logger[level](scrub(fields), scrubText(message));
  };
}
