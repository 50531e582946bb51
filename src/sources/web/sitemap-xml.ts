import { unavailable } from "#sources/errors.ts";
import { Parser } from "htmlparser2";
import type { ApiError } from "#api/errors.ts";
import { decoded, unpacked } from "./sitemap-text.ts";

/** An entry of a sitemap: a page, or another sitemap. */
export interface SitemapEntry {
  type: "page" | "sitemap";
  /** The address as written in the sitemap. */
  loc: string;
  /** Epoch milliseconds. */
  lastmod?: number;
}

/** The remaining budget for reading sitemaps: decompressed bytes, and time by `performance.now()`. */
export interface Budget {
  left: number;
  until: number;
}

const MAX_DEPTH = 16;
const MAX_TEXT = 4_096;
/** The most bytes that the parser buffers. It buffers a comment, a tag or an instruction until its end. */
const MAX_HELD = 512 * 1_024;
/** The most entries of one file, according to the protocol. */
const MAX_ENTRIES = 50_000;

/**
 * Reads one sitemap as it arrives, compressed or not. Only the five entities of XML are known and a document type that
 * defines anything is refused, so nothing in the sitemap can expand or refer to other documents.
 *
 * @param charset  the encoding that the server reports, if any
 * @throws ApiError `source_unavailable` if the response isn't a sitemap, ends early, or exceeds the budget
 */
export async function* readSitemap(
  body: AsyncIterable<Uint8Array>,
  host: string,
  budget: Budget,
  charset?: string,
): AsyncGenerator<SitemapEntry, void> {
  const reader = makeReader(host);
  try {
    for await (const text of decoded(bounded(unpacked(body), host, budget), charset)) yield* reader.write(text);
  } catch (error) {
    if (error instanceof Error && "code" in error && String(error.code).startsWith("Z_")) {
      throw bad(host, "sends a sitemap that can't be unpacked");
    }
    throw error;
  }
  yield* reader.end();
}

async function* bounded(body: AsyncIterable<Uint8Array>, host: string, budget: Budget): AsyncGenerator<Uint8Array> {
  for await (const piece of body) {
    budget.left -= piece.length;
    if (performance.now() > budget.until) throw bad(host, "takes too long to send its sitemaps");
    if (budget.left < 0) throw bad(host, "has sitemaps that are larger than kb reads");
    yield piece;
  }
}

function makeReader(host: string) {
  const open: string[] = [];
  let found: SitemapEntry[] = [];
  let entry: { loc?: string; lastmod?: string } = {};
  let text = "";
  let count = 0;
  const names = makeNames();
  let isWhole = false;
  let isEnding = false;
  /** The text of a sitemap that is a list of addresses, one per line. */
  let lines: string | undefined;

  function close(): void {
    // In some sitemaps, a set is nested in another set.
    const path = open.slice(open.at(-1) === "url" || open.at(-1) === "sitemap" ? -2 : -3).join(">");
    const value = text.trim();
    text = "";
    if (path === "urlset>url>loc" || path === "sitemapindex>sitemap>loc") entry.loc = value;
    else if (path === "urlset>url>lastmod" || path === "sitemapindex>sitemap>lastmod") entry.lastmod = value;
    else if (path === "urlset>url" || path === "sitemapindex>sitemap") {
      take(path === "urlset>url" ? "page" : "sitemap", entry.loc, entry.lastmod);
      entry = {};
    }
    open.pop();
  }

  function take(type: SitemapEntry["type"], loc: string | undefined, lastmod?: string): void {
    if (loc === undefined || loc === "") return;
    if (++count > MAX_ENTRIES) throw bad(host, `has a sitemap with more than ${MAX_ENTRIES} addresses`);
    const at = Date.parse(lastmod ?? "");
    found.push({ type, loc, ...(!Number.isNaN(at) && { lastmod: at }) });
  }

  /** The number of characters since the parser last returned something. */
  let held = 0;
  const parser = new Parser(
    {
      oncomment() {
        held = 0;
      },
      onopentag(name, attributes) {
        held = 0;
        text = "";
        open.push(names.read(name, attributes));
        if (open[0] !== "urlset" && open[0] !== "sitemapindex") throw bad(host, NONE);
        if (open.length > MAX_DEPTH) throw bad(host, "sends a sitemap that is nested too deeply");
      },
      ontext(more) {
        held = 0;
        if (text.length < MAX_TEXT) text += more.slice(0, MAX_TEXT - text.length);
      },
      onclosetag() {
        held = 0;
        // This element was never closed: only the end of the text closes it.
        if (isEnding) return;
        isWhole ||= open.length === 1;
        close();
      },
      onprocessinginstruction(name, data) {
        if (name.toLowerCase() === "!doctype" && data.includes("[")) throw bad(host, NONE);
      },
    },
    { xmlMode: true, decodeEntities: true },
  );

  function drain(): SitemapEntry[] {
    const taken = found;
    found = [];
    return taken;
  }

  return {
    write(piece: string): SitemapEntry[] {
      if (lines === undefined && open.length === 0 && !isWhole && /^\uFEFF?\s*https?:\/\//.test(piece)) lines = "";
      if (lines === undefined) {
        held += piece.length;
        parser.write(piece);
        if (held > MAX_HELD) throw bad(host, "sends a sitemap with an unclosed comment or tag");
        return drain();
      }
      const all = (lines + piece).split(/\r\n|\r|\n/);
      lines = (all.pop() ?? "").slice(0, MAX_TEXT);
      for (const line of all) take("page", line.trim());
      return drain();
    },
    end(): SitemapEntry[] {
      if (lines !== undefined) {
        take("page", lines.trim());
        return drain();
      }
      isEnding = true;
      parser.end();
      if (!isWhole) throw bad(host, open.length > 0 || count > 0 ? "ended its sitemap early" : NONE);
      return drain();
    },
  };
}

/**
 * Returns elements by their plain names. A prefix is ignored if it is the root's, or has the same meaning as no prefix.
 */
function makeNames() {
  const meanings = new Map<string, string>();
  let root: string | undefined;
  const meaningOf = (prefix: string) => meanings.get(prefix) ?? (prefix === root ? "" : undefined);
  return {
    read(name: string, attributes: Record<string, string>): string {
      for (const [key, value] of Object.entries(attributes))
        if (/^xmlns(?::|$)/.test(key) && meanings.size < MAX_PREFIXES) meanings.set(key.slice("xmlns:".length), value);
      const colon = name.indexOf(":");
      const prefix = colon === -1 ? "" : name.slice(0, colon);
      root ??= prefix;
      const isOwn = prefix === root || meaningOf(prefix) === meaningOf(root);
      return isOwn ? name.slice(colon + 1).toLowerCase() : name;
    },
  };
}

const MAX_PREFIXES = 100;
const NONE = "sends something that is not a sitemap";

function bad(host: string, what: string): ApiError {
  // The server answered, so the failure concerns only this file.
  return unavailable(`${host} ${what}.`, 200);
}
