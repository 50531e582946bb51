import { createGunzip } from "node:zlib";
import { Parser } from "htmlparser2";
import { ApiError } from "#api/errors.ts";

/** What a sitemap names: pages, or other sitemaps. */
export interface SitemapEntry {
  type: "page" | "sitemap";
  /** As it is written there. */
  loc: string;
  /** Epoch milliseconds. */
  lastmod?: number;
}

/** What a reading of sitemaps may still take: bytes, unpacked, and time as `performance.now()` tells it. */
export interface Budget {
  left: number;
  until: number;
}

const MAX_DEPTH = 16;
const MAX_TEXT = 4_096;
/** The parser keeps a comment, a tag or an instruction until its end. */
const MAX_HELD = 512 * 1_024;
/** What the protocol allows in one file. */
const MAX_ENTRIES = 50_000;

/**
 * Reads one sitemap as it comes, packed or not. Only the five entities of XML are known and a document type is refused, so
 * nothing in it can grow or lead elsewhere.
 *
 * @throws ApiError `source_unavailable` when it is no sitemap, ends early, or takes more than the budget
 */
export async function* readSitemap(
  body: AsyncIterable<Uint8Array>,
  host: string,
  budget: Budget,
): AsyncGenerator<SitemapEntry, void> {
  const reader = makeReader(host);
  let decoder: ReturnType<typeof decoderOf> | undefined;
  try {
    for await (const piece of unpacked(body)) {
      decoder ??= decoderOf(piece);
      budget.left -= piece.length;
      if (performance.now() > budget.until) throw bad(host, "takes too long to send its sitemaps");
      if (budget.left < 0) throw bad(host, "has sitemaps that are larger than kb reads");
      yield* reader.write(decoder.decode(piece, { stream: true }));
    }
  } catch (error) {
    if (error instanceof Error && "code" in error && String(error.code).startsWith("Z_")) {
      throw bad(host, "sends a sitemap that can't be unpacked");
    }
    throw error;
  }
  yield* reader.write(decoder?.decode() ?? "");
  yield* reader.end();
}

/** By the byte order mark, the pattern of the first letter, or the declaration. Source: https://www.w3.org/TR/xml/#sec-guessing */
function decoderOf(start: Uint8Array) {
  const [a = 1, b = 1] = start;
  if ((a === 0xff && b === 0xfe) || (a !== 0 && b === 0)) return new TextDecoder("utf-16le");
  if ((a === 0xfe && b === 0xff) || (a === 0 && b !== 0)) return new TextDecoder("utf-16be");
  const declaration = Buffer.from(start.subarray(0, 200)).toString("latin1");
  const said = /^\s*<\?xml[^>]{0,100}encoding\s*=\s*["']([\w.:-]{2,40})/i.exec(declaration)?.[1] ?? "utf-8";
  try {
    // What says UTF-16 in one byte a letter isn't.
    return new TextDecoder(/^utf-?16/i.test(said) ? "utf-8" : said);
  } catch {
    return new TextDecoder();
  }
}

/** What is packed says so in its first bytes, whatever its name and type are. */
async function* unpacked(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  const pieces = body[Symbol.asyncIterator]();
  const { value: first, done } = await pieces.next();
  if (done === true) return;
  const all = again(first, pieces);
  if (first[0] !== 0x1f || first[1] !== 0x8b) return yield* all;
  const gunzip = createGunzip();
  const written = (async () => {
    for await (const piece of all) {
      if (gunzip.destroyed) return;
      if (!gunzip.write(piece)) await new Promise((resolve) => gunzip.once("drain", resolve).once("close", resolve));
    }
    gunzip.end();
  })().catch((error: unknown) => void gunzip.destroy(error instanceof Error ? error : new Error(String(error))));
  try {
    // Without an encoding set, a stream gives Buffers.
    yield* gunzip as AsyncIterable<Uint8Array>;
  } finally {
    gunzip.destroy();
    await written;
  }
}

async function* again(first: Uint8Array, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  try {
    yield first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

function makeReader(host: string) {
  const open: string[] = [];
  /** How names of sitemaps begin here: the prefix of the root, whatever it is; those of images and videos have others. */
  let prefix = "";
  let found: SitemapEntry[] = [];
  let entry: { loc?: string; lastmod?: string } = {};
  let text = "";
  let count = 0;
  let isWhole = false;
  let isEnding = false;
  /** A list of addresses line by line is a sitemap too. */
  let lines: string | undefined;

  function close(): void {
    const path = open.join(">");
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

  /** Characters since the parser last gave something. */
  let held = 0;
  const parser = new Parser(
    {
      oncomment() {
        held = 0;
      },
      onopentag(name) {
        held = 0;
        text = "";
        if (open.length === 0) prefix = name.slice(0, name.lastIndexOf(":") + 1);
        open.push(name.startsWith(prefix) ? name.slice(prefix.length) : name);
        if (open[0] !== "urlset" && open[0] !== "sitemapindex") throw bad(host, NONE);
        if (open.length > MAX_DEPTH) throw bad(host, "sends a sitemap that is nested too deeply");
      },
      ontext(more) {
        held = 0;
        if (text.length < MAX_TEXT) text += more.slice(0, MAX_TEXT - text.length);
      },
      onclosetag() {
        held = 0;
        // What closes at the end of the text was never closed.
        if (isEnding) return;
        isWhole ||= open.length === 1;
        close();
      },
      onprocessinginstruction(name) {
        if (name.toLowerCase() === "!doctype") throw bad(host, NONE);
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
        if (held > MAX_HELD) throw bad(host, "sends a sitemap with a comment or tag without end");
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

const NONE = "sends something that is not a sitemap";

function bad(host: string, what: string): ApiError {
  // The server answers: what is wrong is wrong with this one file.
  return new ApiError("source_unavailable", { message: `${host} ${what}.`, details: { status: 200 } });
}
