import { unavailable } from "#sources/errors.ts";
import robotsParser from "robots-parser";
import { ApiError, isApiError } from "#api/errors.ts";
import type { SourceContext } from "#sources/context.ts";
import { siteOf, type WebConfig } from "./config.ts";
import { plainEscapes } from "./urls.ts";

/** A site's rules for crawlers. */
export interface Robots {
  allows(url: URL): boolean;
  /** The delay between two requests. */
  delayMs: number;
  /** The sitemap addresses as written in robots.txt. */
  sitemaps: readonly string[];
}

/** The most bytes of a robots.txt. Source: RFC 9309 §2.5. */
const MAX_BYTES = 500 * 1_024;
/** The longest delay between two requests. */
const MAX_DELAY_MS = 20_000;
const MAX_LINE_CHARS = 2_048;
/**
 * The most characters with wildcards. A pattern is compared with each address: 20,000 characters with 1,024 take some
 * 30 ms.
 */
const MAX_WILD_CHARS = 20_000;
const MAX_SITEMAPS = 100;

/**
 * Reads the rules of a site. A site without rules allows everything. While the server fails to return the rules,
 * nothing is read.
 *
 * @throws ApiError `source_unavailable`, also for a failing server: a site whose rules can't be read allows nothing
 */
export async function readRobots(ctx: Pick<SourceContext<WebConfig>, "config" | "http">): Promise<Robots> {
  const { config, http } = ctx;
  const url = new URL("/robots.txt", siteOf(config).origin);
  let text = "";
  try {
    const headers = { "user-agent": config.userAgent, accept: "text/plain, */*;q=0.1" };
    const { status, body } = await http.stream({ url, auth: true, redirect: "follow", allow: ABSENT, headers });
    if (status < 300) text = await beginning(body);
    else for await (const _ of body) break;
  } catch (error) {
    if (!isApiError(error, "source_unavailable") || error.details?.["status"] === undefined) throw error;
    throw new ApiError("source_unavailable", {
      message: `${url.host} can't show its robots.txt now (HTTP ${String(error.details["status"])}). kb reads nothing until it can.`,
      details: error.details,
      cause: error,
    });
  }
  return toRobots(text, config);
}

// Its types declare a module with a default export, but Node returns the function itself.
const parseRules = robotsParser as unknown as typeof robotsParser.default;

/** Every 4xx except 429 (Too Many Requests). Source: RFC 9309 §2.3.1.3. */
const ABSENT: readonly number[] = Array.from({ length: 100 }, (_, i) => 400 + i).filter((status) => status !== 429);

/** Parses a robots.txt. @throws ApiError `source_unavailable` if its patterns would take too long */
export function toRobots(text: string, config: WebConfig): Robots {
  const { origin, host } = siteOf(config);
  const lines: string[] = text.slice(0, MAX_BYTES).match(RECORD) ?? [];
  const wild = lines.filter((line) => /^\s*(?:dis)?allow\s*:.*\*./i.test(line));
  const isHostile =
    wild.reduce((sum, { length }) => sum + length, 0) > MAX_WILD_CHARS ||
    lines.some((line) => line.length > MAX_LINE_CHARS && /^\s*disallow\s*:/i.test(line));
  if (isHostile) {
    throw unavailable(`The robots.txt of ${host} has more patterns than kb can follow.`);
  }
  const kept = ownGroups(lines, config.userAgent)
    .filter(({ length }) => length <= MAX_LINE_CHARS)
    .map(plainRule)
    .join("\n");
  const rules = parseRules(`${origin}/robots.txt`, kept);
  const delay = rules.getCrawlDelay(config.userAgent) ?? 0;
  return {
    allows: ({ href }) => rules.isAllowed(plainEscapes(href), config.userAgent) === true,
    delayMs: Math.min(Math.max(delay * 1_000, config.delaySeconds * 1_000, 0), MAX_DELAY_MS),
    sitemaps: rules.getSitemaps().slice(0, MAX_SITEMAPS),
  };
}

/** A supported line. Other lines have no effect, regardless of their number. Source: RFC 9309 §2.2.4. */
const RECORD = /(?<![^\r\n])[^\S\r\n]*(?:user-agent|(?:dis)?allow|crawl-delay|sitemap)[^\S\r\n]*:[^\r\n]*/gi;

/**
 * Returns the lines without all crawlers except kb's, `*`, and one name that represents all others. The parser would
 * otherwise store each rule for each crawler of its group.
 */
function ownGroups(lines: readonly string[], agent: string): string[] {
  const kept: string[] = [];
  const group = new Set<string>();
  for (const line of lines) {
    const name = /^\s*user-agent\s*:([^#/]*)/i.exec(line)?.[1]?.trim().toLowerCase();
    if (name === undefined) {
      if (line.replace(/#.*/, "").includes(":")) group.clear();
      kept.push(line);
      continue;
    }
    const shown = name === "*" || name === agent.toLowerCase() ? name : OTHERS;
    if (!group.has(shown)) kept.push(`User-agent: ${shown}`);
    group.add(shown);
  }
  return kept;
}

/** A crawler name that no config can have. */
const OTHERS = "0";

function plainRule(line: string): string {
  return /^\s*(?:dis)?allow\s*:/i.test(line) ? plainEscapes(line) : line;
}

/** Returns the part of the body that may be read. A truncated last line is dropped. */
async function beginning(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  for await (const piece of body) {
    pieces.push(piece);
    length += piece.length;
    if (length > MAX_BYTES) break;
  }
  const text = new TextDecoder().decode(Buffer.concat(pieces).subarray(0, MAX_BYTES));
  return length > MAX_BYTES ? text.slice(0, text.lastIndexOf("\n") + 1) : text;
}
