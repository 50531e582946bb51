import { canParseUrl } from "#api/parse-url.ts";
import type { McpChallenge } from "./problem.ts";

const ERRORS = ["invalid_request", "invalid_token", "insufficient_scope"] as const;
const MAX_HEADER_CHARS = 4_000;
const MAX_SCOPE_CHARS = 1_000;
const MAX_URL_CHARS = 2_000;

/**
 * Parses the bearer challenge of a `WWW-Authenticate` header; leaves out values that are malformed or too long. Source: RFC 6750 §3, RFC 9728 §5.1.
 */
export function parseChallenge(header: string | undefined): McpChallenge {
  const text = (header ?? "").slice(0, MAX_HEADER_CHARS);
  const start = /(?:^|,)\s*bearer(?:\s|$)/i.exec(text);
  if (start === null) return {};
  const values = new Map<string, string>();
  const rest = text.slice(start.index + start[0].length);
  for (const [, name = "", quoted, bare] of rest.matchAll(/([a-z_]+)\s*=\s*(?:"([^"\\]*)"|([^\s",]+))/gi)) {
    if (!values.has(name.toLowerCase())) values.set(name.toLowerCase(), quoted ?? bare ?? "");
  }
  const metadata = values.get("resource_metadata");
  const scope = values.get("scope");
  const error = ERRORS.find((known) => known === values.get("error"));
  return {
    ...(metadata !== undefined && isUrl(metadata) && { resourceMetadata: metadata }),
    ...(scope !== undefined && isScope(scope) && { scope }),
    ...(error && { error }),
  };
}

/** Whether the text consists of scope tokens with one space between two tokens. Source: RFC 6749 §3.3. */
export function isScope(text: string): boolean {
  return text.length <= MAX_SCOPE_CHARS && /^[\x21\x23-\x5b\x5d-\x7e]+(?: [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text);
}

function isUrl(text: string): boolean {
  return text.length <= MAX_URL_CHARS && /^https?:\/\/[\x21-\x7e]+$/.test(text) && canParseUrl(text);
}
