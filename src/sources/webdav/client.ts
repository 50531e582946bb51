import { clockOf, timeOf } from "#sources/times.ts";
import { defined } from "#core/defined.ts";
import { notFound, unavailable } from "#sources/errors.ts";
import { canParseUrl } from "#api/parse-url.ts";
import type { ApiError } from "#api/errors.ts";
import { isApiError } from "#api/errors.ts";
import type { SourceContext } from "#sources/context.ts";
import { failedStatus, refusalOf } from "#sources/failures.ts";
import { inUrl, segmentOf, segmentsOf } from "#sources/file-scope/paths.ts";
import type { SourceStream } from "#sources/http-contract.ts";
import { baseOf, type WebdavConfig } from "./config.ts";
import { type DavResponse, MAX_RESPONSES, readMultistatus } from "./multistatus.ts";

/** A file or folder in the server's response. */
export interface DavEntry {
  /** The decoded path below the collection, with `/` between names; "" for the collection itself. */
  rel: string;
  isFolder: boolean;
  /** The unchanged ETag, including quotes. Absent if the server has none. */
  etag?: string;
  size?: number;
  /** Epoch milliseconds. */
  modifiedAt?: number;
  createdAt?: number;
  mimeType?: string;
  /** An id that stays the same when the file is renamed, if the server has one. */
  stableId?: string;
  /** Nextcloud's number of the file, which is part of its web address. */
  fileId?: string;
}

/** The entry of a folder itself, and its direct contents, each once. */
export interface DavListing {
  self: DavEntry;
  entries: DavEntry[];
  /** Paths that exist but that the server failed to report. */
  failed: string[];
  /** The server's clock, or our clock if the server doesn't report its time. */
  now: number;
}

/** Makes every request to the server. Response formats are known only in this file. */
export type DavClient = ReturnType<typeof makeClient>;

const OC = "http://owncloud.org/ns";
const ASKED = `<?xml version="1.0" encoding="utf-8"?>
<propfind xmlns="DAV:" xmlns:oc="${OC}"><prop><resourcetype/><getetag/><getcontentlength/><getlastmodified/>\
<creationdate/><getcontenttype/><resource-id/><oc:fileid/></prop></propfind>`;

/** The most bytes of a listing: about 600 bytes for each of `MAX_RESPONSES`. */
const MAX_LISTING_BYTES = MAX_RESPONSES * 640;
/** The most characters of a path. A longer path isn't a person's file, but a folder that contains itself. */
const MAX_PATH_CHARS = 4_096;

export function makeClient(ctx: Pick<SourceContext<WebdavConfig>, "config" | "http" | "now">) {
  const base = baseOf(ctx.config);

  function urlOf(rel: string, isFolder = false): URL {
    const path = inUrl(rel);
    return new URL(`${base.href}${path}${isFolder && path !== "" ? "/" : ""}`);
  }

  async function ask(url: URL, depth: "0" | "1"): Promise<{ responses: DavResponse[]; now: number; url: string }> {
    const { status, headers, ...answer } = await ctx.http.stream({
      method: "PROPFIND",
      url,
      headers: { depth, "content-type": "application/xml; charset=utf-8" },
      body: ASKED,
      auth: true,
      maxBytes: MAX_LISTING_BYTES,
    });
    // A web page has status 200, so this response isn't a listing.
    const responses = status === 207 ? await readMultistatus(answer.body, url.host) : await noDav(answer, url.host);
    return { responses, now: clockOf({ headers }, ctx.now), url: answer.url };
  }

  return {
    /** Returns the URL of a path. */
    urlOf,
    /** Returns the direct contents of a folder. */
    async list(rel: string): Promise<DavListing> {
      const asked = urlOf(rel, true);
      const { responses, now, url } = await ask(asked, "1");
      const found = new Map<string, DavEntry>();
      const failed = new Set<string>();
      for (const response of responses) {
        const path = pathOf(response.href, base, url);
        if (path === undefined || !isAtOrIn(path, rel)) continue;
        if (response.isUnsure && path !== rel) failed.add(path);
        else if (response.status === undefined || isFine(response.status)) found.set(path, toEntry(path, response));
        else if (path === rel || !isAbsence(response.status)) failed.add(path);
      }
      const self = found.get(rel);
      found.delete(rel);
      // A response about another folder, or a truncated one, must not be treated as an empty folder.
      if (failed.has(rel) || self === undefined) throw incomplete(asked);
      return { self, entries: [...found.values()], failed: [...failed].filter((path) => !found.has(path)), now };
    },
    /** Returns the entry of one file or folder. @throws ApiError `source_not_found` */
    async stat(rel: string): Promise<DavEntry & { now: number }> {
      const asked = urlOf(rel);
      const { responses, now, url } = await ask(asked, "0");
      const own = responses.find(({ href }) => pathOf(href, base, url) === rel);
      if (own === undefined || own.isUnsure) throw incomplete(asked);
      if (own.status === undefined || isFine(own.status)) return { ...toEntry(rel, own), now };
      if (!isAbsence(own.status)) throw incomplete(asked);
      throw notFound(`${asked.host} has nothing at this address.`);
    },
    read: (rel: string, maxBytes: number): Promise<SourceStream> =>
      // A compressed file would have another ETag than the listed one.
      ctx.http.stream({ url: urlOf(rel), headers: { "accept-encoding": "identity" }, auth: true, maxBytes }),
  };
}

/** Returns true if a failure concerns only the requested file or folder, since the server itself answers. */
export function isOfOneThing(error: unknown): error is ApiError {
  const isRefused = refusalOf(error) !== undefined || isApiError(error, "payload_too_large");
  return isRefused || failedStatus(error) !== undefined;
}

/**
 * Builds the error for a response that isn't a listing. From its `status`, `check` and the walk know what the error
 * concerns.
 */
async function noDav({ body }: Pick<SourceStream, "body">, host: string): Promise<never> {
  // Reading stops early, which releases the connection.
  for await (const _ of body) break;
  throw unavailable(`${host} doesn't answer as a WebDAV server.`);
}

function incomplete({ host }: URL): ApiError {
  return unavailable(`${host} answered for another folder, or only in part.`, 207);
}

function isFine(status: number): boolean {
  return status >= 200 && status < 300;
}

function isAbsence(status: number): boolean {
  return status === 404 || status === 410;
}

/** Whether a path is the folder's own path, or directly below it. */
function isAtOrIn(path: string, folder: string): boolean {
  if (path === folder) return true;
  const name = folder === "" ? path : path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : "";
  return name !== "" && segmentsOf(name).length === 1;
}

/** Whether a path can be one of the collection's. */
export function isPath(rel: string): boolean {
  if (rel.length > MAX_PATH_CHARS || /[\0\p{Surrogate}]/u.test(rel)) return false;
  return segmentsOf(rel).every((name) => name !== "" && name !== "." && name !== "..");
}

/**
 * Returns the path below the collection for an address of the server; undefined if the address is outside the
 * collection.
 */
export function pathOf(href: string, base: URL, page: string): string | undefined {
  // Servers that don't escape names write them unchanged. No resource has a query or a fragment.
  const whole = href.replace(/[#?]/g, encodeURIComponent);
  if (!canParseUrl(whole, page)) return undefined;
  const url = new URL(whole, page);
  if (url.origin !== base.origin) return undefined;
  const [below, own] = [namesOf(url), namesOf(base)];
  if (below === undefined || own === undefined) return undefined;
  if (own.some((name, i) => below[i] !== name)) return undefined;
  const rel = below.slice(own.length).join("/");
  return rel === "" || isPath(rel) ? rel : undefined;
}

/**
 * Returns the names of the path as segments of ids, decoded one by one; undefined if one of them contains an encoded
 * slash.
 */
function namesOf({ pathname }: URL): string[] | undefined {
  const names = pathname
    .replace(/^\/|\/$/g, "")
    .split("/")
    .map((name) => unescaped(name));
  if (names.some((name) => name.includes("/"))) return undefined;
  return names.length === 1 && names[0]?.length === 0 ? [] : names.map(segmentOf);
}

/** Returns the bytes of a name in a URL. A `%` without two digits is literal. */
function unescaped(name: string): Buffer {
  const pieces = name.split(/%([0-9A-Fa-f]{2})/);
  return Buffer.concat(pieces.map((piece, i) => Buffer.from(piece, i % 2 === 1 ? "hex" : "utf8")));
}

function toEntry(rel: string, { isFolder, properties }: DavResponse): DavEntry {
  const text = (name: string, namespace = "DAV:") => properties.get(`${namespace} ${name}`) || undefined;
  const fileId = /^\d{1,20}$/.exec(text("fileid", OC) ?? "")?.[0];
  const stableId = fileId ?? text("resource-id");
  const size = /^\d{1,15}$/.exec(text("getcontentlength") ?? "")?.[0];
  const modifiedAt = timeOf(text("getlastmodified"));
  const createdAt = timeOf(text("creationdate"));
  const etag = text("getetag");
  const mimeType = text("getcontenttype");
  return {
    rel,
    isFolder,
    ...(etag !== undefined && { etag: etag.slice(0, 256) }),
    ...(size !== undefined && { size: Number(size) }),
    ...defined({ modifiedAt, createdAt, mimeType }),
    ...(stableId !== undefined && { stableId: stableId.slice(0, 256) }),
    ...defined({ fileId }),
  };
}
